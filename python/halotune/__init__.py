"""Halotune: the best configuration of a stencil for a GPU, and its kernel on arrays of CuPy, PyTorch, Numba and JAX.

    import cupy, halotune

    u = cupy.random.rand(512, 512, 512, dtype="float32")
    v = u.copy()
    config = halotune.lookup("star7", halotune.grid_of(u), u.dtype, steps=halotune.STEPS_ANY)
    kernel = halotune.Kernel(config)
    u, v = kernel.run([u, v], steps=1000)

The package needs Python 3.8 and Halotune's C library, and nothing else.
"""

from ._arrays import grid_of
from ._errors import (
    ArgumentError,
    CancelledError,
    CompileError,
    DatabaseError,
    Error,
    FileError,
    NoGpuError,
    NoNvrtcError,
    NotFoundError,
    OutOfMemoryError,
    ParseError,
)
from ._kernel import Facts, Field, Kernel, Layout
from ._library import library as _c_library
from ._lookup import STEPS_ANY, Config, Context, Stencil, default_context, lookup, tune

__version__ = _c_library.halotune_version().decode()

__all__ = [
    "ArgumentError",
    "CancelledError",
    "CompileError",
    "Config",
    "Context",
    "DatabaseError",
    "Error",
    "Facts",
    "Field",
    "FileError",
    "Kernel",
    "Layout",
    "NoGpuError",
    "NoNvrtcError",
    "NotFoundError",
    "OutOfMemoryError",
    "ParseError",
    "STEPS_ANY",
    "Stencil",
    "default_context",
    "grid_of",
    "lookup",
    "tune",
]
