"""The diff of gradients that nobody reads: only where none of what a statement computes has a gradient that is read."""

from __future__ import annotations

import dataclasses

import msgspec
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Cell
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.needless.unread_gradients import UnreadGradients
from tests.rules.cases.needless.unread_gradients import one_statement
from tests.rules.cell.executed_cells import TWO_MODELS


def found(read: str = "", cell: str = TWO_MODELS) -> Finding:
    trace = one_statement(read)
    trace = dataclasses.replace(trace, context=msgspec.structs.replace(trace.context, cell=Cell(source=cell)))
    finding = UnreadGradients().check(Results(trace))
    assert isinstance(finding, Finding)
    return finding


def test_what_goes_into_the_loss_is_computed_without_a_graph() -> None:
    assert "+    with torch.no_grad():\n+        fake = G(z)\n" in (found().diff or "")


@pytest.mark.parametrize("read", ["inner", "first"])
def test_where_some_of_its_gradients_are_read_it_keeps_its_graph(read: str) -> None:
    assert found(read).diff is None


def test_the_text_has_to_allow_it() -> None:
    later = TWO_MODELS.replace("    opt.step()\n", "    opt.step()\n    fake.sum().backward()\n")
    assert found(cell=later).diff is None
