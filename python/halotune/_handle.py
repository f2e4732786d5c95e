"""What a context and a kernel have in common: a handle of the library that is closed once."""

from ctypes import c_void_p
from typing import TypeVar

from ._errors import ArgumentError

_Owned = TypeVar("_Owned", bound="Owner")


class Owner:
    """Closes its handle at the end of a `with`, and when Python forgets the object."""

    _handle: c_void_p
    _name: str  # of what the handle stands for, in messages

    def close(self) -> None:
        raise NotImplementedError

    @property
    def handle(self) -> c_void_p:
        """The pointer that functions of halotune.h take."""
        if not self._handle:
            raise ArgumentError(f"this {self._name} is closed")
        return self._handle

    def __enter__(self: _Owned) -> _Owned:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()
