"""The shapes and types of an operator's inputs, where they were recorded (`--shapes`, `record_shapes=True`)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from gpuprof.model.trace import Trace

Shape = tuple[int, ...]

_ELEMENT_BYTES = {
    "float": 4,
    "double": 8,
    "c10::Half": 2,
    "c10::BFloat16": 2,
    "int": 4,
    "long": 8,
    "long int": 8,
    "bool": 1,
    "signed char": 1,
    "unsigned char": 1,
    "c10::Float8_e4m3fn": 1,
    "c10::Float8_e5m2": 1,
}


@dataclass(frozen=True)
class TensorInput:
    """One input: `dims` is empty for scalars, absent tensors and lists; `type` is torch's name, such as
    `c10::BFloat16`, empty where unknown."""

    dims: Shape
    type: str

    @property
    def elements(self) -> int:
        """Their number (1 where `dims` is empty)."""
        return prod(self.dims)

    @property
    def element_bytes(self) -> int | None:
        """Size of one element; None where the type is unknown."""
        return _ELEMENT_BYTES.get(self.type)


def inputs_of(trace: Trace, operator: int) -> tuple[TensorInput, ...]:
    """Of that row of `operators`; empty where no shapes were recorded or they cannot be read."""
    dims, types = trace.operators["input_dims"][operator], trace.operators["input_types"][operator]
    if dims < 0:
        return ()
    return read_inputs(trace.names[dims], trace.names[types] if types >= 0 else "[]")


def shapes_of(trace: Trace, operator: int) -> tuple[Shape, ...]:
    """The shapes of all tensors that this row of `operators` takes, those in lists (`aten::cat`) too, in order.

    Without scalars and tensors of no dimensions; empty where no shapes were recorded.
    """
    dims = trace.operators["input_dims"][operator]
    return _all_shapes(trace.names[dims]) if dims >= 0 else ()


def values_of(trace: Trace, operator: int) -> tuple[str, ...]:
    """What this row of `operators` was given, as torch writes it: numbers and flags as text, an empty one for a tensor.

    Empty where it was not recorded, which it is for few operators (see schema.OPERATORS).
    """
    values = trace.operators["input_values"][operator]
    return _texts(trace.names[values]) if values >= 0 else ()


@lru_cache(maxsize=65_536)
def _texts(values: str) -> tuple[str, ...]:
    try:
        found = json.loads(values)
    except ValueError:
        return ()
    return tuple(each if isinstance(each, str) else "" for each in found) if isinstance(found, list) else ()


@lru_cache(maxsize=65_536)
def _all_shapes(dims: str) -> tuple[Shape, ...]:
    try:
        given = json.loads(dims)
    except ValueError:
        return ()
    flat = [
        _sizes(shape)
        for each in (given if isinstance(given, list) else [])
        for shape in (each if isinstance(each, list) and each and isinstance(each[0], list) else [each])
    ]
    return tuple(shape for shape in flat if shape)


@lru_cache(maxsize=65_536)
def read_inputs(dims: str, types: str = "[]") -> tuple[TensorInput, ...]:
    """By the texts of shapes and types as torch writes them; empty where they cannot be read."""
    try:
        shapes, kinds = json.loads(dims), json.loads(types)
    except ValueError:
        return ()
    if not isinstance(shapes, list) or not isinstance(kinds, list):
        return ()
    kinds += [""] * (len(shapes) - len(kinds))
    return tuple(
        TensorInput(_sizes(shape), kind if isinstance(kind, str) else "")
        for shape, kind in zip(shapes, kinds, strict=False)
    )


def _sizes(shape: object) -> Shape:
    if not isinstance(shape, list) or not all(isinstance(size, int) and size >= 0 for size in shape):
        return ()
    return tuple(shape)
