"""Operators on subnormal numbers in built looks; real ones are in tests/capture/look/test_subnormals.py."""

from __future__ import annotations

from math import nan

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.efficiency.subnormal_operands import SubnormalOperands
from tests.support.look_builder import LookBuilder
from tests.support.trace_builder import TraceBuilder


def read(*shares: float, times: tuple[float, ...] = (), elements: int = 10_000) -> SubnormalOperands:
    """A line that reads tensors with so many subnormal numbers, and takes 10 µs, or these times."""
    look = LookBuilder()
    for number, share in enumerate(shares):
        look.tensor(f"x{number}", elements=elements, subnormals_share=share)
        took = times[number] if times else 10
        look.operator("aten::mul.Tensor", took, reads=f"x{number}", makes="y", elements=elements, line=3)
    return Results(look.build(subnormal_slowdown=30.0)).get(SubnormalOperands)


def test_their_part_of_the_time() -> None:
    found = read(0.5, 0.3, 0.0, 0.0)
    (operand,) = found.operands
    assert (operand.operator, operand.numbers_share, operand.rows_share) == ("mul", 0.4, 0.5)
    assert (found.share, operand.saved_ns, found.slowdown, operand.double) == (0.5, None, 30.0, False)


def test_what_was_not_counted_is_like_what_was() -> None:
    found = read(0.5, nan, 0.0, nan)
    assert found.share == 0.5
    assert len(found.operands[0].rows) == 4


def test_the_others_of_the_same_size_say_what_is_saved() -> None:
    found = read(*(3 * [0.5] + 3 * [0.0]), times=(100, 100, 100, 20, 20, 20))
    assert found.share == pytest.approx(300 / 360)
    assert found.saved_share == pytest.approx(240 / 360)
    assert found.compared_share == found.share


def test_others_of_another_size_say_nothing() -> None:
    look = LookBuilder()
    for number in range(6):
        elements = 10_000 if number < 3 else 5_000
        look.tensor("x", elements=elements, subnormals_share=0.5 if number < 3 else 0.0)
        look.operator("aten::mul.Tensor", 10, reads="x", makes="y", line=3)
    found = Results(look.build()).get(SubnormalOperands)
    assert found.operands[0].saved_ns is None and found.compared_share == 0


@pytest.mark.parametrize("share", [0.0, nan, 0.005])
def test_few_of_them_are_none(share: float) -> None:
    assert not read(*5 * [share]).operands


def test_types_and_lines_are_told_apart() -> None:
    look = LookBuilder()
    for line, dtype in ((3, "float64"), (4, "float32")):
        look.tensor("x", elements=10_000, subnormals_share=0.5, dtype=dtype)
        look.operator("aten::mul.Tensor", line, reads="x", makes="y", line=line)
    found = Results(look.build()).get(SubnormalOperands)
    assert [each.double for each in found.operands] == [False, True]


def test_nothing_without_a_look() -> None:
    found = Results(TraceBuilder().build()).get(SubnormalOperands)
    assert (found.operands, found.slowdown) == ((), None)
