"""The exceptions of this package: one for each status of the C library."""

from __future__ import annotations


class Error(Exception):
    """A call failed. The text is the library's: what went wrong, and what to do about it.

    Attributes:
        status: the number of the `halotune_status` in halotune.h; 0 where this package itself refused an argument
        fields: after a failed `Kernel.run`, the arrays in the order of the launches before the error; else None
    """

    status: int = 0
    fields: list[object] | None = None


class NotFoundError(Error, LookupError):
    """Nothing of that name or for that problem was found."""


class NoGpuError(Error, RuntimeError):
    """There is no usable CUDA driver, device or context, or the driver reported an error."""


class DatabaseError(Error):
    """A tuning database is damaged, or its version does not fit."""


class ParseError(Error, ValueError):
    """A text, such as a stencil's file, has an error."""


class FileError(Error):
    """A file could not be read or written."""


class OutOfMemoryError(Error, MemoryError):
    """There is not enough memory."""


class ArgumentError(Error, ValueError):
    """An argument is out of its range. An array has the wrong type, shape, strides or device."""


class NoNvrtcError(Error, RuntimeError):
    """A kernel must be compiled, and NVRTC, NVIDIA's run-time compiler, was not found."""


class CompileError(Error):
    """NVRTC rejected the source."""


class CancelledError(Error):
    """The caller cancelled the call."""


_OF_STATUS: dict[int, type[Error]] = {
    1: NotFoundError,
    2: NoGpuError,
    3: DatabaseError,
    4: ParseError,
    5: FileError,
    6: OutOfMemoryError,
    7: ArgumentError,
    8: NoNvrtcError,
    9: CompileError,
    10: CancelledError,
}


def error_of(status: int, text: str) -> Error:
    """Make the exception of a status that is not HALOTUNE_OK."""
    error = _OF_STATUS.get(status, Error)(text)
    error.status = status
    return error
