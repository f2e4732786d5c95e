"""Kernels: made for a configuration, called with arrays of CuPy, PyTorch, Numba, JAX and others."""

from __future__ import annotations

import ctypes
import json
import math
import threading
from ctypes import byref, c_double, c_longlong, c_void_p
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from . import _cuda
from ._arrays import View, same_stream, stream_of, view
from ._errors import ArgumentError, Error
from ._handle import Owner
from ._library import Field as _CField
from ._library import KernelFacts, c_integer, check, library, text
from ._library import Layout as _CLayout
from ._lookup import Config, Stencil, _triple


@dataclass(frozen=True)
class Layout:
    """How the fields lie in memory, and which box of points is computed.

    All members count elements or points, in x, y, z. 0 takes the value of a dense grid on which every possible point is
    computed. halotune_layout in halotune.h says more.
    """

    row: int = 0
    plane: int = 0
    low: tuple[int, int, int] = (0, 0, 0)
    high: tuple[int, int, int] = (0, 0, 0)


@dataclass(frozen=True)
class Facts:
    """Facts about a kernel. halotune_kernel_facts in halotune.h says what each means."""

    name: str
    source: str
    template_name: str
    parameters: dict[str, Any]
    code: str
    input_count: int
    output_count: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_shared_bytes: int
    alignment_bytes: int
    steps: int
    elements: int
    coefficients: tuple[float, ...]


@dataclass(frozen=True)
class Field:
    """How a field lies in memory. halotune_field in halotune.h says what each member means."""

    elements: int
    element_bytes: int
    strides: tuple[int, int, int]


class Kernel(Owner):
    """A kernel, compiled and loaded into the CUDA context that is current in this thread.

    Where no context is current, GPU 0's primary context becomes current, as PyTorch, CuPy, Numba and JAX use it.

    Args:
        config: from `halotune.lookup` or `halotune.tune`
        coefficients: a dict of names and values, or a list in the order of the stencil's file. A coefficient that the
            dict lacks has its default; a default that uses another coefficient uses the given value. None: all defaults
        layout: None is a dense grid

    Call it to apply the stencil once::

        config = halotune.lookup("star7", halotune.grid_of(u), u.dtype)
        kernel = halotune.Kernel(config)
        kernel([u], [v])

    A kernel may be used by several threads, if they have different arrays. It ends when Python forgets it: keep it until
    its launches have finished.
    """

    _name = "kernel"

    def __init__(
        self,
        config: Config,
        coefficients: Mapping[str, float] | Sequence[float] | None = None,
        layout: Layout | None = None,
    ) -> None:
        self._handle = c_void_p()
        self._held = threading.local()
        self._config = config
        self._layout = layout
        self._stencil = config.context.stencil(config.stencil)
        _cuda.make_context_current(0)
        self._device = _cuda.current_device()
        self._create(self._coefficient_list(coefficients))

    def _create(self, values: Sequence[float] | None) -> None:
        c_values = None if values is None else (c_double * len(values))(*values)
        config = self._config
        context = config.context.handle
        check(library.halotune_kernel_create(context, byref(config._struct), c_values, _c_layout(self._layout), byref(self._handle)))
        self._facts = self._read_facts()
        self._fields = [self._read_field(i) for i in range(self._facts.input_count + self._facts.output_count)]

    def _coefficient_list(self, given: Mapping[str, float] | Sequence[float] | None) -> Sequence[float] | None:
        names = self._stencil.coefficients
        if given is None:
            return None
        if not isinstance(given, Mapping):
            if len(given) != len(names):
                raise ArgumentError(f"{self._stencil.name} has {len(names)} coefficients, not {len(given)}: {', '.join(names)}")
            return given
        for name in given:
            if name not in names:
                raise ArgumentError(f"{self._stencil.name} has no coefficient {name!r}: it has {', '.join(names) or 'none'}")
        values = (c_double * len(names))(*(given.get(name, math.nan) for name in names))  # NaN: the default
        grid = (c_longlong * 3)(*self._config.grid)
        context, stencil = self._config.context.handle, self._config.stencil.encode()
        check(library.halotune_stencil_coefficients(context, stencil, grid, values, values))
        return list(values)

    def _read_facts(self) -> Facts:
        struct = KernelFacts()
        library.halotune_kernel_info(self.handle, byref(struct))
        return Facts(
            name=text(struct.name),
            source=text(struct.source),
            template_name=text(struct.template_name),
            parameters=json.loads(text(struct.parameters) or "{}"),
            code=text(struct.code),
            input_count=struct.input_count,
            output_count=struct.output_count,
            grid=_triple(struct.grid),
            block=_triple(struct.block),
            dynamic_shared_bytes=struct.dynamic_shared_bytes,
            alignment_bytes=struct.alignment_bytes,
            steps=struct.steps,
            elements=struct.elements,
            coefficients=tuple(struct.coefficients[i] for i in range(struct.coefficient_count)),
        )

    def _read_field(self, number: int) -> Field:
        struct = _CField()
        check(library.halotune_kernel_field(self.handle, number, byref(struct)))
        return Field(struct.elements, struct.element_bytes, _triple(struct.strides))

    @property
    def config(self) -> Config:
        return self._config

    @property
    def stencil(self) -> Stencil:
        return self._stencil

    @property
    def facts(self) -> Facts:
        return self._facts

    @property
    def fields(self) -> list[Field]:
        """How the inputs, then the outputs lie in memory. Masks and inputs along some axes differ from the others."""
        return list(self._fields)

    def close(self) -> None:
        """End the kernel. Its launches must have finished."""
        handle, self._handle = self._handle, c_void_p()
        self._held = threading.local()
        library.halotune_kernel_free(handle)

    def __call__(self, inputs: Sequence[Any], outputs: Sequence[Any], *, stream: Any = None) -> None:
        """Launch the kernel once, and return without waiting for it.

        Args:
            inputs: arrays on the GPU, in the order of the stencil's file
            outputs: the same for the outputs; behind them what a launch of several steps writes in addition. They are
                written in place
            stream: a number, or a stream of CuPy, PyTorch or Numba. None is the current stream of the package that the
                first array is from

        An array must live until the launch has finished. The kernel holds the arrays of each thread's last call.

        Raises:
            ArgumentError: an array has the wrong type, shape, strides or device, or arrays overlap
            NoGpuError: the driver reported an error, which can be the error of an earlier launch
        """
        facts = self._facts
        _check_count("inputs", len(inputs), facts.input_count)
        _check_count("outputs", len(outputs), facts.output_count)
        arrays = list(inputs) + list(outputs)
        views, handle = self._prepare(arrays, stream)
        self._refuse_read_only(views, facts.input_count)
        pointers = (c_void_p * len(views))(*(each.pointer for each in views))
        first_output = ctypes.cast(
            ctypes.byref(pointers, facts.input_count * ctypes.sizeof(c_void_p)), ctypes.POINTER(c_void_p)
        )
        self._held.views = views
        check(library.halotune_kernel_launch(self.handle, c_void_p(handle), pointers, first_output))

    def run(self, fields: Sequence[Any], steps: int, *, stream: Any = None) -> list[Any]:
        """Advance the fields of a solver by any number of time steps, and return without waiting.

        Args:
            fields: arrays on the GPU: `facts.input_count` inputs in the order of the stencil's file, then
                `facts.output_count` buffers for outputs. Before the first call all buffers that exchange places hold
                equal values at the points that no step computes
            steps: at least 1
            stream: as for a call

        Returns:
            The same arrays, sorted anew: item i holds input i after the last step. Pass this list to the next call.

        Raises:
            Error: its attribute `fields` is the list, sorted for the launches before the error: if these succeed, the
                inputs hold the state after a whole number of steps, fewer than `steps`
        """
        facts = self._facts
        _check_count("fields", len(fields), facts.input_count + facts.output_count)
        views, handle = self._prepare(list(fields), stream)
        self._refuse_read_only(views, 0)
        pointers = (c_void_p * len(views))(*(each.pointer for each in views))
        self._held.views = views
        status = library.halotune_run(self.handle, c_void_p(handle), pointers, c_longlong(c_integer(steps, "steps")))
        order: dict[int, list[int]] = {}
        for i, each in enumerate(views):
            order.setdefault(each.pointer, []).append(i)
        after = []
        for pointer in pointers:
            given = order[pointer or 0]
            # A buffer of an output in place may be in the list more often than before: its last array stands for it.
            after.append(fields[given.pop(0) if len(given) > 1 else given[0]])
        try:
            check(status)
        except Error as error:
            error.fields = after
            raise
        return after

    def _prepare(self, arrays: list[Any], stream: Any) -> tuple[list[View], int]:
        """Describe and check the arrays, make a context current, and order the stream behind those of the arrays."""
        if self._device >= 0:
            _cuda.make_context_current(self._device)
        handle = stream_of(stream, arrays)
        views = [view(array, handle) for array in arrays]
        for i, each in enumerate(views):
            self._check_array(i, each)
        for each in views:
            if each.stream is not None and not same_stream(each.stream, handle):
                _cuda.wait_for_stream(each.stream)
        return views, handle

    def _field_name(self, number: int) -> str:
        """How messages call an array: inputs stand before outputs and further buffers."""
        names = self._stencil.inputs + self._stencil.outputs
        return f"array {number} ({names[number]})" if number < len(names) else f"array {number}"

    def _refuse_read_only(self, views: list[View], first: int) -> None:
        for i, each in enumerate(views):
            if i >= first and each.read_only:
                raise ArgumentError(f"{self._field_name(i)} is read-only, and the kernel writes to it")

    def _check_array(self, number: int, array: View) -> None:
        field = self._fields[number]
        name = self._field_name(number)
        if field.element_bytes == 1 and array.dtype != "u8":
            raise ArgumentError(f"{name} holds {array.dtype}, and it is a mask: an array of u8 or of truth values")
        if field.element_bytes != 1 and array.dtype != self._config.dtype:
            raise ArgumentError(f"{name} holds {array.dtype}, and the kernel computes with {self._config.dtype}")
        if not array.is_contiguous:
            raise ArgumentError(f"{name} has strides {array.strides} for its shape {array.shape}: it must be contiguous, in C order")
        if self._layout is None:
            axes = [axis for axis in reversed(range(3)) if field.strides[axis] > 0]
            dense = tuple(self._config.grid[axis] for axis in axes)
            if _without_leading_ones(array.shape) != _without_leading_ones(dense) and array.shape != (field.elements,):
                raise ArgumentError(
                    f"{name} has shape {array.shape}, and the kernel computes a grid of {'x'.join(map(str, self._config.grid))} "
                    + f"points: an array of shape {_without_leading_ones(dense)}"
                )
        elif array.elements < field.elements:
            raise ArgumentError(f"{name} has {array.elements} elements, and the layout needs {field.elements}")
        if array.device == -1:
            raise ArgumentError(f"{name} is not in the memory of a GPU: copy it there first")
        if array.device is not None and self._device >= 0 and array.device != self._device:
            raise ArgumentError(f"{name} is on GPU {array.device}, and the kernel on GPU {self._device}")


def _check_count(what: str, count: int, expected: int) -> None:
    if count != expected:
        raise ArgumentError(f"{what} has {count} arrays, and the kernel takes {expected}")


def _without_leading_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    while len(shape) > 1 and shape[0] == 1:
        shape = shape[1:]
    return tuple(shape)


def _c_layout(layout: Layout | None) -> Any:
    if layout is None:
        return None
    row, plane = c_integer(layout.row, "the layout's row"), c_integer(layout.plane, "the layout's plane")
    low, high = ((c_longlong * 3)(*(c_integer(point, "the layout's box") for point in points)) for points in (layout.low, layout.high))
    return byref(_CLayout(row, plane, low, high))
