"""What is needed of values that are written over in part, and which operator takes only a part."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from gpuprof.analyses.demand.flow import Flow, Needed
from gpuprof.analyses.demand.looked import operators_of, values_of
from tests.support.look_builder import LookBuilder
from tests.support.looked_runs import looked_at


def needed(code: Callable[[], object]) -> dict[str, Needed]:
    """Of the last operator of each name."""
    trace = looked_at(lambda look: code())
    operators = operators_of(trace)
    flow = Flow(operators, values_of(trace))
    return {
        each.name.split(".")[0].removeprefix("aten::"): how for each, how in zip(operators, flow.needed, strict=True)
    }


@pytest.mark.parametrize(("row", "read", "taken"), [(0, 1.0, True), (5, 0.0, False)])
def test_what_is_not_written_over_comes_from_before(row: int, read: float, taken: bool) -> None:
    """Of what is written nothing may be read: then no operator is known that takes a part of what was before."""

    def code() -> torch.Tensor:
        before = torch.ones(6, 4).exp()
        before[row].copy_(torch.ones(4).sin())
        return before[:3].clone()

    found = needed(code)
    assert (found["exp"].elements, found["exp"].made, found["exp"].taken_by >= 0) == (12, 24, taken)
    assert found["sin"].share == read


def test_a_part_that_is_taken_names_who_takes_it() -> None:
    trace = looked_at(lambda look: torch.ones(6, 4).exp()[:3].clone())
    operators = operators_of(trace)
    names = [each.name for each in operators]
    found = Flow(operators, values_of(trace)).needed[names.index("aten::exp")]
    assert (found.elements, found.taken_by) == (12, names.index("aten::clone"))


@pytest.mark.parametrize("backward", [False, True])
def test_what_the_first_operator_writes_to_a_tensor_from_outside_is_needed(backward: bool) -> None:
    """Something else may read it; but not what a backward pass alone writes."""
    look = LookBuilder().tensor("x").tensor("out")
    look.operator("aten::copy_", 10, reads="x", writes="out", content=7, backward=backward)
    look.operator("aten::copy_", 10, reads="x", writes="out", content=8, backward=True)
    trace = look.free("out").build()
    flow = Flow(operators_of(trace), values_of(trace), kept_needed=False)
    assert [each.share for each in flow.needed] == ([0.0, 0.0] if backward else [1.0, 1.0])
