"""The C library libhalotune, through ctypes: how it is found, its structs and its functions.

The structs repeat those of halotune.h, member by member. tests/python/test_header.py compares their layouts with what a
C compiler says.
"""

from __future__ import annotations

import ctypes
import operator
import os
import pathlib
from ctypes import (
    CFUNCTYPE,
    POINTER,
    c_char,
    c_char_p,
    c_double,
    c_int,
    c_longlong,
    c_uint,
    c_void_p,
)
from typing import SupportsIndex

from ._errors import Error, error_of


def c_integer(value: SupportsIndex, what: str, bits: int = 64) -> int:
    """Refuse a number that is too large for the type of the C library: ctypes would wrap it."""
    number = operator.index(value)
    if not -(1 << (bits - 1)) <= number < 1 << (bits - 1):
        raise OverflowError(f"{what} is {number}: it must fit into {bits} bits")
    return number


SONAME = "libhalotune.so.0.2"


class Problem(ctypes.Structure):
    _fields_ = [
        ("stencil", c_char_p),
        ("device", c_char_p),
        ("grid", c_longlong * 3),
        ("dtype", c_int),
        ("launch", c_int),
        ("cache", c_int),
        ("reproducible", c_int),
        ("steps", c_int),
    ]


class Config(ctypes.Structure):
    _fields_ = [
        ("match", c_int),
        ("is_stale", c_int),
        ("grid", c_longlong * 3),
        ("dtype", c_int),
        ("launch", c_int),
        ("cache", c_int),
        ("stencil", c_char_p),
        ("stencil_hash", c_char_p),
        ("template_name", c_char_p),
        ("parameters", c_char_p),
        ("parameter_count", c_int),
        ("time_ms", c_double),
        ("low_ms", c_double),
        ("high_ms", c_double),
        ("bandwidth_gbs", c_double),
        ("roof_share", c_double),
        ("expected_ms", c_double),
        ("measured_grid", c_longlong * 3),
        ("measured_on", c_char_p),
        ("date", c_char_p),
        ("age_s", c_double),
        ("driver", c_char_p),
        ("nvrtc", c_char_p),
        ("reproducible", c_int),
        ("steps", c_int),
        ("measured_stencil", c_char_p),
        ("expected_error", c_double),
        ("reserved", c_void_p * 8),
    ]


class StencilFacts(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("hash", c_char_p),
        ("text", c_char_p),
        ("dims", c_int),
        ("input_count", c_int),
        ("output_count", c_int),
        ("coefficient_count", c_int),
        ("inputs", POINTER(c_char_p)),
        ("outputs", POINTER(c_char_p)),
        ("coefficients", POINTER(c_char_p)),
        ("reach_low", c_int * 3),
        ("reach_high", c_int * 3),
        ("reserved", c_void_p * 5),
    ]


class TuneOptions(ctypes.Structure):
    _fields_ = [
        ("program", c_char_p),
        ("database", c_char_p),
        ("backend", c_char_p),
        ("budget_s", c_double),
        ("max_variants", c_int),
        ("reserved", c_void_p * 6),
    ]


class Parameter(ctypes.Structure):
    _fields_ = [("name", c_char * 64), ("value", c_char * 64), ("number", c_double)]


class Layout(ctypes.Structure):
    _fields_ = [
        ("row", c_longlong),
        ("plane", c_longlong),
        ("low", c_longlong * 3),
        ("high", c_longlong * 3),
    ]


class KernelFacts(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("source", c_char_p),
        ("template_name", c_char_p),
        ("parameters", c_char_p),
        ("code", c_char_p),
        ("input_count", c_int),
        ("output_count", c_int),
        ("coefficient_count", c_int),
        ("grid", c_uint * 3),
        ("block", c_uint * 3),
        ("dynamic_shared_bytes", c_uint),
        ("alignment_bytes", c_int),
        ("steps", c_int),
        ("elements", c_longlong),
        ("coefficients", POINTER(c_double)),
        ("reserved", c_void_p * 7),
    ]


class Field(ctypes.Structure):
    _fields_ = [
        ("elements", c_longlong),
        ("element_bytes", c_int),
        ("strides", c_longlong * 3),
        ("reserved", c_void_p * 4),
    ]


class Box(ctypes.Structure):
    _fields_ = [("low", c_longlong * 3), ("high", c_longlong * 3)]


TuneProgress = CFUNCTYPE(c_int, c_void_p, c_double, c_char_p)

# Each function's result and arguments. c_int as a result is a halotune_status, except where a comment says otherwise.
_FUNCTIONS: dict[str, tuple[object, list[object]]] = {
    "halotune_strstatus": (c_char_p, [c_int]),
    "halotune_version": (c_char_p, []),
    "halotune_open": (c_int, [POINTER(c_char_p), c_int, POINTER(c_void_p)]),
    "halotune_close": (None, [c_void_p]),
    "halotune_error": (c_char_p, [c_void_p]),
    "halotune_stencil_add": (c_int, [c_void_p, c_char_p]),
    "halotune_stencil_info": (c_int, [c_void_p, c_char_p, POINTER(StencilFacts)]),
    "halotune_stencil_coefficients": (
        c_int,
        [c_void_p, c_char_p, POINTER(c_longlong), POINTER(c_double), POINTER(c_double)],
    ),
    "halotune_match_name": (c_char_p, [c_int]),
    "halotune_lookup": (c_int, [c_void_p, POINTER(Problem), POINTER(Config)]),
    "halotune_tune": (c_int, [c_void_p, POINTER(Problem), POINTER(TuneOptions), TuneProgress, c_void_p]),
    "halotune_config_parameter": (c_int, [POINTER(Config), c_char_p, POINTER(Parameter)]),
    "halotune_config_parameter_at": (c_int, [POINTER(Config), c_int, POINTER(Parameter)]),
    "halotune_kernel_create": (
        c_int,
        [c_void_p, POINTER(Config), POINTER(c_double), POINTER(Layout), POINTER(c_void_p)],
    ),
    "halotune_kernel_create_boxes": (
        c_int,
        [c_void_p, POINTER(Config), POINTER(c_double), POINTER(Layout), c_int, POINTER(c_void_p)],
    ),
    "halotune_kernel_launch": (c_int, [c_void_p, c_void_p, POINTER(c_void_p), POINTER(c_void_p)]),
    "halotune_run": (c_int, [c_void_p, c_void_p, POINTER(c_void_p), c_longlong]),
    "halotune_kernel_info": (None, [c_void_p, POINTER(KernelFacts)]),
    "halotune_kernel_field": (c_int, [c_void_p, c_int, POINTER(Field)]),
    "halotune_pack": (c_int, [c_void_p, c_void_p, c_int, POINTER(Box), c_void_p, c_void_p]),
    "halotune_unpack": (c_int, [c_void_p, c_void_p, c_int, POINTER(Box), c_void_p, c_void_p]),
    "halotune_kernel_free": (None, [c_void_p]),
}


def _candidates() -> list[str]:
    """Where the library can be, the best place first.

    $HALOTUNE_LIBRARY alone, if it is set. Otherwise: beside this package, as in a wheel that holds it; in the lib folder
    of the same installation (PREFIX/lib/python3*/site-packages/halotune); where the dynamic linker looks.
    """
    named = os.environ.get("HALOTUNE_LIBRARY")
    if named:
        return [named]
    package = pathlib.Path(__file__).resolve().parent
    found = [package / SONAME]
    # Other folders of these names further up may be anybody's.
    if len(package.parents) > 2 and package.parents[2].name in ("lib", "lib64"):
        found.append(package.parents[2] / SONAME)
    return [str(path) for path in found if path.exists()] + [SONAME]


def _load() -> ctypes.CDLL:
    reasons = []
    for path in _candidates():
        try:
            library = ctypes.CDLL(path)
            break
        except OSError as reason:
            reasons.append(str(reason))
    else:
        raise ImportError(
            "the C library of Halotune was not found: install Halotune, or set HALOTUNE_LIBRARY to the path of "
            + f"{SONAME} ({'; '.join(reasons)})"
        )
    for name, (result, arguments) in _FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"{library._name} has no {name}: it is of another version of Halotune") from None
        function.restype = result
        function.argtypes = arguments
    return library


library = _load()


def text(value: bytes | None) -> str:
    return value.decode("utf-8", "replace") if value else ""


def check(status: int) -> None:
    """Raise the exception of a status that is not HALOTUNE_OK."""
    if status:
        detail = text(library.halotune_error(None)) or text(library.halotune_strstatus(status))
        raise error_of(status, detail)

