"""A look that ended within an iteration: what it saw of operators by themselves counts by the time of their lines."""

from __future__ import annotations

import dataclasses

import pytest
from msgspec import structs

from gpuprof.analyses.basics.result import Results
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.registry import rule
from tests.rules.cases import case_of
from tests.support.trace_builder import CELL_FILE, TraceBuilder


def cut_off(name: str, line_ms: dict[int, float]) -> Trace:
    """The case of that rule with so much time sampled at its lines, and without the end of the look."""
    run = case_of(name).fires()
    return without_end(run.trace if isinstance(run, Results) else run, line_ms)


def without_end(trace: Trace, line_ms: dict[int, float]) -> Trace:
    """That trace with so much time sampled at these lines, and without the end of the look."""
    builder, at = TraceBuilder(), 1.0
    for line, ms in line_ms.items():
        builder.stack(at, ms * 1000, (CELL_FILE, "<module>", line))
        at += ms * 1000
    sampled = builder.build()
    look, cell = trace.context.look, trace.context.cell
    assert look is not None and cell is not None
    context = structs.replace(
        trace.context,
        look=structs.replace(look, operators_share=None, ended_by="seconds"),
        stacks=sampled.context.stacks if line_ms else None,
        cell=structs.replace(cell, filename=CELL_FILE),
    )
    tables = {each: sampled.tables[each] for each in ("stack_nodes", "stack_samples")}
    return dataclasses.replace(trace, context=context, tables={**trace.tables, **tables})


CASES = ["costly_algorithm", "mostly_zeros", "repeated_work"]


@pytest.mark.parametrize("name", CASES)
def test_they_are_found_where_their_lines_take_long(name: str) -> None:
    look = cut_off(name, {}).context.look
    assert look is not None
    found = rule(name).check(Results(cut_off(name, {**{each.line: 400 for each in look.places}, 90: 200})))
    assert isinstance(found, Finding)
    assert "so the share of the cell comes from samples of these lines." in found.explanation
    assert found.saving is not None and found.saving.of_cell


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("line_ms", [{}, {90: 1000}])
def test_else_nothing_is_said_of_them(name: str, line_ms: dict[int, float]) -> None:
    answer = rule(name).check(Results(cut_off(name, line_ms)))
    assert isinstance(answer, Abstention)
    assert answer.needs == "a close look at whole iterations: it ended before"
