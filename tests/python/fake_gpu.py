"""Arrays in the memory of a GPU, made with the driver's own calls: for tests on the driver of tests/fake_cuda.

An array here is what CuPy, PyTorch and Numba have in common: it has `__cuda_array_interface__`, or `__dlpack__`.
"""

import ctypes
import os
from ctypes import byref, c_int, c_size_t, c_uint64, c_void_p

import numpy

driver = ctypes.CDLL(os.environ["HALOTUNE_LIBCUDA"])


def call(name, *arguments):
    status = getattr(driver, name)(*arguments)
    assert status == 0, f"{name}: {status}"


class Array:
    """A copy of a NumPy array in the GPU's memory, with the CUDA Array Interface."""

    def __init__(self, values, read_only=False, stream=None):
        self.values = numpy.ascontiguousarray(values)
        self.pointer = c_uint64()
        call("cuMemAlloc_v2", byref(self.pointer), c_size_t(self.values.nbytes))
        call("cuMemcpyHtoD_v2", self.pointer, self.values.ctypes.data_as(c_void_p), c_size_t(self.values.nbytes))
        self.__cuda_array_interface__ = {
            "shape": self.values.shape,
            "typestr": self.values.dtype.str,
            "data": (self.pointer.value, read_only),
            "strides": None,
            "version": 3,
        }
        if stream is not None:
            self.__cuda_array_interface__["stream"] = stream

    def get(self):
        out = numpy.empty_like(self.values)
        call("cuCtxSynchronize")
        call("cuMemcpyDtoH_v2", out.ctypes.data_as(c_void_p), self.pointer, c_size_t(out.nbytes))
        return out

    def __del__(self):
        driver.cuMemFree_v2(self.pointer)


class Tensor(ctypes.Structure):
    """DLManagedTensor of DLPack 0.8."""

    _fields_ = [
        ("data", c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", c_uint64),
        ("manager_ctx", c_void_p),
        ("deleter", c_void_p),
    ]


class DlpackArray:
    """The same with DLPack alone. `offset` elements lie before the first one."""

    def __init__(self, values, offset=0, device_type=2):
        self.memory = Array(numpy.concatenate([numpy.zeros(offset, values.dtype), values.ravel()]))
        self.shape = (ctypes.c_int64 * values.ndim)(*values.shape)
        self.device_type = device_type
        self.offset = offset
        self.tensor = Tensor(
            data=self.memory.pointer.value,
            device_type=device_type,
            ndim=values.ndim,
            code=2,
            bits=8 * values.dtype.itemsize,
            lanes=1,
            shape=self.shape,
            byte_offset=offset * values.dtype.itemsize,
        )

    def __dlpack_device__(self):
        return self.device_type, 0

    def __dlpack__(self, stream=None):
        self.stream = stream
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [c_void_p, ctypes.c_char_p, c_void_p]
        return new(ctypes.addressof(self.tensor), b"dltensor", None)

    def get(self):
        return self.memory.get()[self.offset :].reshape(tuple(self.shape))


def make_stream():
    stream = c_void_p()
    call("cuStreamCreate", byref(stream), c_int(0))
    return stream.value
