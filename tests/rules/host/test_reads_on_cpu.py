"""Numbers that the steps read to Python where there is no device: what else may read them."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Cell
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.registry import rule
from tests.support.trace_builder import TraceBuilder


def change(source: str | None, reads: int) -> str:
    """Of ten steps of 1 ms with so many reads each."""
    builder = TraceBuilder().context(cell=Cell(source=source) if source else None)
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).operator("aten::mm", at + 10, 700)
        for each in range(reads):
            start = at + 800 + 10 * each
            builder.operator("aten::item", start, 4).operator("aten::_local_scalar_dense", start + 1, 2)
    found = rule("sync_in_step").check(Results(builder.build()))
    assert isinstance(found, Finding) and found.severity is Severity.LOW
    return found.change


@pytest.mark.parametrize(
    ("source", "reads", "lengths", "checks"),
    [
        ("loss = net(x)", 1, False, False),
        ("loss = net(x)", 3, True, False),
        ("from torch.distributions import Normal", 3, True, True),
        (None, 3, True, True),
    ],
)
def test_distributions_are_spoken_of_where_there_are_any(
    source: str | None, reads: int, lengths: bool, checks: bool
) -> None:
    told = change(source, reads)
    assert ("indices and lengths" in told, "validate_args" in told) == (lengths, checks)
