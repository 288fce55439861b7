"""Random programs of torch under the close look: what is said to repeat repeats, by the bytes of real tensors."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.operator_traits import own_name
from gpuprof.analyses.dataflow.value_numbers import ValueNumbers
from gpuprof.capture.look.close_look import CloseLook
from gpuprof.model.context import RunContext
from gpuprof.model.look_schema import LOOKED
from gpuprof.model.trace import Source, Trace, empty_tables

_OPERATORS = ("add", "mul", "maximum", "bernoulli", "add_", "mul_", "copy_")
_NAMES = ("a", "b", "c")
_STEP = st.tuples(st.sampled_from(_OPERATORS), *(st.sampled_from(_NAMES) for _ in range(3)), st.booleans())


def looked(program: list[Any], start: list[int]) -> tuple[list[bool], list[bool]]:
    """What is said of each step, and what brute force finds: name and all that is read or written to are equal."""
    tensors = {name: torch.full((4,), float(value)) for name, value in zip(_NAMES, start, strict=True)}
    seen, expected = set[Any](), list[bool]()
    look = CloseLook(most_seconds=60)
    with look:
        for name, left, right, out, part in program:
            into = tensors[out][:2] if part else tensors[out]
            other = tensors[right][:2] if part else tensors[right]
            read = (into, other, tensors[out]) if name.endswith("_") else (tensors[left], tensors[right])
            if name == "copy_" and not part:
                read = (other,)  # what is overwritten as a whole is not read
            # numpy reads memory that torch does not see it read
            key = (
                name,
                part and name.endswith("_"),
                *(bytes(np.ctypeslib.as_array(_pointer(each), (each.numel(),))) for each in read),
            )
            expected.append(key in seen and name != "bernoulli")
            seen.add(key)
            if name.endswith("_"):
                getattr(into, name)(other)
            elif name == "bernoulli":
                tensors[out] = torch.bernoulli(torch.full((4,), 0.5))
            else:
                tensors[out] = getattr(torch, name)(tensors[left], tensors[right])
    tables, said = look.result()
    named = {schema.name: table for schema, table in zip(LOOKED, tables, strict=True)}
    trace = Trace(Source("x"), said.names, {**empty_tables(), **named}, 0, 1, context=RunContext(look=said))
    first = Results(trace).get(ValueNumbers).first
    rows = [row for row, name in enumerate(trace.looked_operators["name"]) if own_name(said.names[name]) in _OPERATORS]
    return [bool(first[row] >= 0) for row in rows], expected


def _pointer(tensor: torch.Tensor) -> Any:
    with torch._C._DisableTorchDispatch():
        return ctypes.cast(tensor.data_ptr(), ctypes.POINTER(ctypes.c_float))


@settings(max_examples=40, deadline=None)
@given(program=st.lists(_STEP, max_size=12), start=st.lists(st.integers(0, 1), min_size=3, max_size=3))
def test_nothing_is_said_to_repeat_that_does_not(program: list[Any], start: list[int]) -> None:
    told, expected = looked(program, start)
    assert len(told) == len(expected)
    assert all(real or not said for said, real in zip(told, expected, strict=True))


def test_a_program_that_runs_twice_repeats_the_second_time() -> None:
    program = [("add", "a", "b", "c", False), ("mul", "c", "b", "c", False), ("maximum", "c", "a", "c", False)]
    told, expected = looked(program * 2, [1, 2, 3])
    assert told == expected == [False] * 3 + [True] * 3
