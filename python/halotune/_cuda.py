"""The few calls of NVIDIA's driver that this package makes itself, through ctypes.

The C library works in the CUDA context that is current in the calling thread. PyTorch, CuPy, Numba and JAX work in the
primary context of a device, but not every thread of theirs has it current.
"""

from __future__ import annotations

import ctypes
import functools
import os
from ctypes import byref, c_int, c_uint, c_void_p

_POINTER_DEVICE_ORDINAL = 9  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
_POINTER_MEMORY_TYPE = 2  # CU_POINTER_ATTRIBUTE_MEMORY_TYPE
_MEMORY_HOST = 1  # CU_MEMORYTYPE_HOST


@functools.lru_cache(maxsize=None)
def _driver() -> ctypes.CDLL | None:
    try:
        driver = ctypes.CDLL(os.environ.get("HALOTUNE_LIBCUDA") or "libcuda.so.1")
    except OSError:
        return None
    return driver if driver.cuInit(c_uint(0)) == 0 else None


def make_context_current(device: int) -> None:
    """Make a device's primary context current in this thread, unless a context is current already.

    Without a driver nothing happens: the C library then says what is missing.
    """
    driver = _driver()
    if driver is None:
        return
    context, handle = c_void_p(), c_int()
    if driver.cuCtxGetCurrent(byref(context)) == 0 and context.value:
        return
    if driver.cuDeviceGet(byref(handle), c_int(device)) == 0 and driver.cuDevicePrimaryCtxRetain(byref(context), handle) == 0:
        driver.cuCtxSetCurrent(context)


def current_device() -> int:
    """The number of the current context's device, or -1 if there is none."""
    driver, device = _driver(), c_int(-1)
    if driver is None or driver.cuCtxGetDevice(byref(device)) != 0:
        return -1
    return device.value


def pointer_device(pointer: int) -> int | None:
    """The number of the device that a pointer belongs to. None if the driver cannot say. -1 for memory of the host."""
    driver = _driver()
    try:
        ask = getattr(driver, "cuPointerGetAttribute")
    except AttributeError:
        return None
    kind, device = c_uint(), c_int()
    if ask(byref(kind), c_int(_POINTER_MEMORY_TYPE), c_void_p(pointer)) != 0:
        return None
    if kind.value == _MEMORY_HOST:
        return -1
    return device.value if ask(byref(device), c_int(_POINTER_DEVICE_ORDINAL), c_void_p(pointer)) == 0 else None


def wait_for_stream(stream: int) -> None:
    """Wait until a stream has done its work."""
    driver = _driver()
    if driver is not None:
        driver.cuStreamSynchronize(c_void_p(stream))
