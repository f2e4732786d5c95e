"""Arrays of other packages as pointers: what CuPy, PyTorch, Numba, JAX and others say about an array on a GPU.

An array is understood if it has `__cuda_array_interface__` (the CUDA Array Interface, versions 2 and 3) or `__dlpack__`
(DLPack). Nothing is copied.
"""

from __future__ import annotations

import ctypes
import sys
from ctypes import POINTER, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p
from dataclasses import dataclass
from typing import Any, Sequence

from . import _cuda
from ._errors import ArgumentError

_DLPACK_DEVICE_CUDA = 2
_DLPACK_DEVICE_CUDA_MANAGED = 13
_DLPACK_UNSIGNED = 1
_DLPACK_FLOAT = 2
_DLPACK_BOOL = 6


@dataclass
class View:
    """An array on a GPU."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None  # in elements; None: C order, without gaps
    dtype: str  # "f32", "f64", "u8" (also truth values), or what else the array holds, such as "<i4"
    device: int | None  # None: not known
    read_only: bool
    stream: int | None  # the stream on which the array's contents become ready; None: the package does not say
    owner: object  # keeps the memory alive

    @property
    def elements(self) -> int:
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie in C order, without gaps."""
        if self.strides is None:
            return True
        expected = 1
        for extent, stride in zip(reversed(self.shape), reversed(self.strides)):
            if extent != 1 and stride != expected:
                return False
            expected *= extent
        return True


class _DLDevice(ctypes.Structure):
    _fields_ = [("device_type", c_int32), ("device_id", c_int32)]


class _DLDataType(ctypes.Structure):
    _fields_ = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device", _DLDevice),
        ("ndim", c_int32),
        ("dtype", _DLDataType),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype = c_void_p
_get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]

_TYPES = {"<f4": "f32", "<f8": "f64", "|u1": "u8", "|b1": "u8"}


def _kind(array: object) -> str:
    return type(array).__module__.partition(".")[0] + "." + type(array).__name__


def _view_of_interface(array: Any, interface: dict[str, Any]) -> View:
    shape = tuple(int(extent) for extent in interface["shape"])
    dtype = _TYPES.get(interface["typestr"], interface["typestr"])
    size = int(interface["typestr"][2:])
    strides = interface.get("strides")
    if strides is not None and any(stride % size for stride in strides):
        raise ArgumentError(f"the strides {tuple(strides)} of a {_kind(array)} are not multiples of the {size} bytes of an element")
    pointer, read_only = interface["data"]
    if interface.get("mask") is not None:
        raise ArgumentError(f"a {_kind(array)} has a mask, which a kernel cannot obey")
    return View(
        pointer=int(pointer or 0),
        shape=shape,
        strides=None if strides is None else tuple(int(stride) // size for stride in strides),
        dtype=dtype,
        device=_cuda.pointer_device(int(pointer or 0)),
        read_only=bool(read_only),
        stream=interface.get("stream"),
        owner=array,
    )


def _view_of_dlpack(array: Any, stream: int) -> View:
    """Read the tensor in a DLPack capsule. The capsule stays unused, so its own destructor frees the tensor."""
    device_type, device = array.__dlpack_device__()
    if device_type not in (_DLPACK_DEVICE_CUDA, _DLPACK_DEVICE_CUDA_MANAGED):
        raise ArgumentError(f"a {_kind(array)} is not in the memory of a GPU: copy it there first")
    capsule = array.__dlpack__(stream=stream or 1)  # the exporter makes this stream wait for the contents; 1: the default
    tensor = ctypes.cast(_get_pointer(capsule, b"dltensor"), POINTER(_DLTensor)).contents
    shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
    kind = (tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes)
    names = {
        (_DLPACK_FLOAT, 32, 1): "f32",
        (_DLPACK_FLOAT, 64, 1): "f64",
        (_DLPACK_UNSIGNED, 8, 1): "u8",
        (_DLPACK_BOOL, 8, 1): "u8",
    }
    return View(
        pointer=int(tensor.data or 0) + int(tensor.byte_offset),
        shape=shape,
        strides=tuple(tensor.strides[axis] for axis in range(tensor.ndim)) if tensor.strides else None,
        dtype=names.get(kind, f"DLPack type {kind}"),
        device=int(device),
        read_only=False,
        stream=None,
        owner=(array, capsule),
    )


def view(array: Any, stream: int = 0) -> View:
    """Describe an array on a GPU.

    Args:
        stream: the handle of the stream that uses it

    Raises:
        ArgumentError: it is not an array, or it is in the host's memory
    """
    if isinstance(array, View):
        return array
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        if not array.is_cuda:
            raise ArgumentError("a torch.Tensor is not in the memory of a GPU: use tensor.cuda()")
        array = array.detach()  # a tensor that requires a gradient exports nothing
    try:
        interface = array.__cuda_array_interface__
    except AttributeError:
        interface = None
    if interface is not None:
        return _view_of_interface(array, interface)
    if hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
        return _view_of_dlpack(array, stream)
    if hasattr(array, "__array_interface__"):
        raise ArgumentError(f"a {_kind(array)} is not in the memory of a GPU: copy it there first")
    raise ArgumentError(f"a {_kind(array)} is not an array on a GPU: it has neither __cuda_array_interface__ nor __dlpack__")


def grid_of(array: Any) -> tuple[int, ...]:
    """Get the grid of an array in C order: its numbers of points in x, y, z. x is the array's last axis."""
    return tuple(reversed(view(array).shape))


def stream_of(stream: Any, arrays: Sequence[Any]) -> int:
    """Get the handle of a stream.

    Args:
        stream: a number; an object of CuPy, PyTorch, Numba, or with `__cuda_stream__`; or None. None stands for the
            current stream of the package that the first array is from, and for the default stream where the package
            has no current stream
    """
    if stream is None:
        return _current_stream(arrays[0]) if arrays else 0
    if isinstance(stream, int):
        return stream
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        return int((protocol() if callable(protocol) else protocol)[1])
    for name in ("cuda_stream", "ptr"):  # PyTorch, CuPy
        handle = getattr(stream, name, None)
        if handle is not None:
            return int(handle)
    handle = getattr(stream, "handle", None)  # Numba
    if handle is not None:
        return int(getattr(handle, "value", handle) or 0)
    raise ArgumentError(f"a {_kind(stream)} is not a CUDA stream")


def _current_stream(array: Any) -> int:
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is not None and isinstance(array, torch.Tensor):
        return int(torch.cuda.current_stream(array.device).cuda_stream)
    if cupy is not None and isinstance(array, cupy.ndarray):
        return int(cupy.cuda.get_current_stream().ptr)
    interface = getattr(array, "__cuda_array_interface__", None)
    return int((interface or {}).get("stream") or 0)


def same_stream(a: int, b: int) -> bool:
    """Whether two handles mean the same stream: 0 and 1 are both the default stream."""
    return (a or 1) == (b or 1)
