"""Databases of tuned kernels, and the best configuration for a problem."""

from __future__ import annotations

import ctypes
import json
import os
import threading
from ctypes import byref, c_char_p, c_void_p
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Sequence, Union

from . import _cuda
from ._errors import ArgumentError
from ._handle import Owner
from ._library import Config as _CConfig
from ._library import Problem as _CProblem
from ._library import StencilFacts, TuneOptions, TuneProgress, c_integer, check, library, text

STEPS_ANY = -1

_DTYPES = {"f32": 0, "f64": 1}
_LAUNCHES = {"any": 0, "stream": 1, "graph": 2}
_CACHES = {"any": 0, "steady": 1, "cold": 2}

Path = Union[str, "os.PathLike[str]"]


def _number_of(words: Mapping[str, int], word: str, what: str) -> int:
    try:
        return words[word]
    except (KeyError, TypeError):
        raise ArgumentError(f"{what} is {word!r}: it must be one of {', '.join(words)}") from None


def _whole(encoded: bytes, what: str) -> bytes:
    """Refuse a byte 0, where the C library would end the text."""
    if b"\0" in encoded:
        raise ArgumentError(f"{what} has a byte 0, at which the library would end it")
    return encoded


def dtype_name(dtype: Any) -> str:
    """Get Halotune's name of an element type: "f32" or "f64".

    Args:
        dtype: "f32", "f64", or a type of NumPy, CuPy, PyTorch or JAX, such as `numpy.float32`
    """
    name = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", None) or str(dtype)
    name = name.rpartition(".")[2]
    name = {"float32": "f32", "float": "f64", "float64": "f64", "double": "f64"}.get(name, name)
    _number_of(_DTYPES, name, "dtype")
    return name


@dataclass(frozen=True)
class Config:
    """A configuration for a problem, with its measurements. A number that is not known is NaN.

    halotune_config in halotune.h says what each member means. bandwidth_gbs and roof_share are NaN for a problem that
    was not measured itself.
    """

    match: str
    is_stale: bool
    grid: tuple[int, int, int]
    dtype: str
    stencil: str
    stencil_hash: str
    template_name: str
    parameters: dict[str, Any]
    steps: int
    time_ms: float
    low_ms: float
    high_ms: float
    bandwidth_gbs: float
    roof_share: float
    expected_ms: float
    expected_error: float
    measured_grid: tuple[int, int, int]
    measured_on: str
    measured_stencil: str
    date: str
    driver: str
    nvrtc: str
    context: "Context" = field(repr=False, compare=False)
    _struct: _CConfig = field(repr=False, compare=False)


@dataclass(frozen=True)
class Stencil:
    """What a stencil's file says: its names, in the order in which kernels take them."""

    name: str
    hash: str
    text: str
    dims: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    coefficients: tuple[str, ...]


def _triple(values: Any) -> tuple[int, int, int]:
    x, y, z = values
    return x, y, z


def _config(context: "Context", struct: _CConfig) -> Config:
    return Config(
        match=text(library.halotune_match_name(struct.match)),
        is_stale=bool(struct.is_stale),
        grid=_triple(struct.grid),
        dtype="f64" if struct.dtype else "f32",
        stencil=text(struct.stencil),
        stencil_hash=text(struct.stencil_hash),
        template_name=text(struct.template_name),
        parameters=json.loads(text(struct.parameters) or "{}"),
        steps=struct.steps,
        time_ms=struct.time_ms,
        low_ms=struct.low_ms,
        high_ms=struct.high_ms,
        bandwidth_gbs=struct.bandwidth_gbs,
        roof_share=struct.roof_share,
        expected_ms=struct.expected_ms,
        expected_error=struct.expected_error,
        measured_grid=_triple(struct.measured_grid),
        measured_on=text(struct.measured_on),
        measured_stencil=text(struct.measured_stencil),
        date=text(struct.date),
        driver=text(struct.driver),
        nvrtc=text(struct.nvrtc),
        context=context,
        _struct=struct,
    )


class Context(Owner):
    """The contents of tuning databases, read once. Usable by any number of threads.

    Args:
        paths: SQLite files that `halotune tune` wrote; the first has precedence. None stands for the user's database
            and the starter database, as `halotune_open` in halotune.h describes
    """

    _name = "context"

    def __init__(self, paths: Sequence[Path] | None = None) -> None:
        self._handle = c_void_p()
        if paths is None:
            check(library.halotune_open(None, 0, byref(self._handle)))
        else:
            names = [_whole(os.fsencode(path), "the path of a database") for path in paths]
            check(library.halotune_open((c_char_p * len(names))(*names), len(names), byref(self._handle)))

    def close(self) -> None:
        """End the context. Kernels that were made from it stay usable."""
        handle, self._handle = self._handle, c_void_p()
        library.halotune_close(handle)

    def add_stencil(self, stencil_text: str) -> None:
        """Make a stencil known, so that lookups with its name find it. No file is changed.

        Args:
            stencil_text: the contents of a stencil's file (docs/stencil-format.md)
        """
        check(library.halotune_stencil_add(self.handle, _whole(stencil_text.encode(), "the text of the stencil")))

    def stencil(self, name: str) -> Stencil:
        """Describe a stencil.

        Args:
            name: its name, or the 64 hexadecimal digits of its hash

        Raises:
            NotFoundError: no database knows it; see `add_stencil`
        """
        facts = StencilFacts()
        check(library.halotune_stencil_info(self.handle, _whole(name.encode(), "the name of the stencil"), byref(facts)))

        def names(items: Any, count: int) -> tuple[str, ...]:
            return tuple(text(items[i]) for i in range(count))

        return Stencil(
            name=text(facts.name),
            hash=text(facts.hash),
            text=text(facts.text),
            dims=facts.dims,
            inputs=names(facts.inputs, facts.input_count),
            outputs=names(facts.outputs, facts.output_count),
            coefficients=names(facts.coefficients, facts.coefficient_count),
        )

    def lookup(
        self,
        stencil: str,
        grid: Sequence[int],
        dtype: Any = "f32",
        *,
        device: str | int | None = None,
        steps: int = 1,
        launch: str = "any",
        cache: str = "any",
        reproducible: bool = False,
    ) -> Config:
        """Find the best configuration for a problem.

        Args:
            stencil: its name, or the 64 hexadecimal digits of its hash
            grid: points in x, y, z. x is the last axis of an array in C order: `halotune.grid_of(array)`
            dtype: the element type of all fields: "f32", "f64", or a type of NumPy, CuPy, PyTorch or JAX
            device: None is the GPU of this thread's CUDA context, or GPU 0 if there is none. Otherwise the number of a
                CUDA device, or the name of a GPU or an architecture
            steps: the most time steps that a launch may advance; `halotune.STEPS_ANY` for `Kernel.run`
            launch: "any", "stream" or "graph"
            cache: "any", "steady" or "cold"
            reproducible: accept only variants that all give the same bits for the same inputs

        Raises:
            NotFoundError: no database knows the stencil, or no template can compute the problem
            ArgumentError: an argument is invalid
            NoGpuError: `device` is None or a number, and there is no such GPU
        """
        problem = _problem(stencil, grid, dtype, device, steps, launch, cache, reproducible)
        struct = _CConfig()
        check(library.halotune_lookup(self.handle, byref(problem), byref(struct)))
        return _config(self, struct)

    def tune(
        self,
        stencil: str,
        grid: Sequence[int],
        dtype: Any = "f32",
        *,
        device: str | int | None = None,
        steps: int = 1,
        launch: str = "any",
        cache: str = "any",
        reproducible: bool = False,
        budget_s: float = 0,
        max_variants: int = 0,
        program: Path | None = None,
        database: Path | None = None,
        backend: str | None = None,
        progress: Callable[[float, str], object] | None = None,
    ) -> Config:
        """Tune a problem now, with the installed program `halotune` in a process of its own, and look it up.

        Args:
            budget_s: seconds for the search; 0 is 20 seconds
            max_variants: end the search after so many; 0 is no limit
            program: the program; None is $HALOTUNE_PROGRAM, else `halotune` on PATH
            database: receives the result; None is the first path of this context, else the user's own database
            backend: None is the GPU; "host" is the emulation, for tests
            progress: called about ten times a second with the seconds since the call and the program's last line. If it
                raises an exception, tuning is cancelled and the exception is raised here
        The other arguments are those of `lookup`.
        """
        problem = _problem(stencil, grid, dtype, device, steps, launch, cache, reproducible)
        options = TuneOptions(
            program=None if program is None else _whole(os.fsencode(program), "program"),
            database=None if database is None else _whole(os.fsencode(database), "database"),
            backend=None if backend is None else _whole(backend.encode(), "backend"),
            budget_s=budget_s,
            max_variants=c_integer(max_variants, "max_variants", 32),
        )
        raised: list[BaseException] = []

        def report(_: object, elapsed_s: float, line: bytes | None) -> int:
            try:
                if progress is not None:
                    progress(elapsed_s, text(line))
                return 0
            except BaseException as exception:  # also KeyboardInterrupt: it must leave the C code first
                raised.append(exception)
                return 1

        status = library.halotune_tune(self.handle, byref(problem), byref(options), TuneProgress(report), None)
        if raised:
            raise raised[0]
        check(status)
        return self.lookup(stencil, grid, dtype, device=device, steps=steps, launch=launch, cache=cache, reproducible=reproducible)


def _problem(
    stencil: str,
    grid: Sequence[int],
    dtype: Any,
    device: str | int | None,
    steps: int,
    launch: str,
    cache: str,
    reproducible: bool,
) -> _CProblem:
    if not 1 <= len(grid) <= 3:
        raise ArgumentError(f"grid is {tuple(grid)}: it must have one to three numbers of points, in x, y, z")
    if device is None:
        _cuda.make_context_current(0)
    points = [c_integer(extent, "a number of points of the grid") for extent in grid] + [0] * (3 - len(grid))
    return _CProblem(
        stencil=_whole(stencil.encode(), "stencil"),
        device=None if device is None else _whole(str(device).encode(), "device"),
        grid=(ctypes.c_longlong * 3)(*points),
        dtype=_DTYPES[dtype_name(dtype)],
        launch=_number_of(_LAUNCHES, launch, "launch"),
        cache=_number_of(_CACHES, cache, "cache"),
        reproducible=int(reproducible),
        steps=c_integer(steps, "steps", 32),
    )


_default: Context | None = None
_default_lock = threading.Lock()


def default_context() -> Context:
    """Get the context of the default databases. It is opened at the first call."""
    global _default
    with _default_lock:
        if _default is None:
            _default = Context()
        return _default


def lookup(stencil: str, grid: Sequence[int], dtype: Any = "f32", **options: Any) -> Config:
    """Find the best configuration for a problem in the default databases. See `Context.lookup`."""
    return default_context().lookup(stencil, grid, dtype, **options)


def tune(stencil: str, grid: Sequence[int], dtype: Any = "f32", **options: Any) -> Config:
    """Tune a problem now, and look it up in the default databases. See `Context.tune`."""
    return default_context().tune(stencil, grid, dtype, **options)
