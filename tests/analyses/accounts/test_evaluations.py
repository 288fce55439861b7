"""How often a cell evaluates, and where."""

from __future__ import annotations

import pytest

from gpuprof.analyses.accounts.evaluations import Evaluations
from gpuprof.analyses.basics.result import Results
from gpuprof.model.trace import Trace
from tests.analyses.accounts.cells import cell, line
from tests.rules.cases.training.evaluation_share import SOURCE, training
from tests.support.trace_builder import TraceBuilder


def evaluations(trace: Trace) -> Evaluations:
    return Results(trace).get(Evaluations)


def test_what_lies_between_two_steps_is_one_evaluation() -> None:
    found = evaluations(training())
    assert found.each_ns.tolist() == [30_000_000] * 9 and found.last_ns == 30_000_000
    assert (found.count, found.steps, found.steps_between, found.complete) == (10, 40, 4.0, True)
    assert (found.share, found.training_share) == (pytest.approx(3 / 7), pytest.approx(4 / 7))
    ((place),) = found.places
    assert (place.line, place.in_cell, place.cell_line, place.ns) == (8, True, 8, 300_000_000)


def test_short_evaluations_may_pass_unseen() -> None:
    assert not evaluations(training(evaluation_ms=17)).complete


def test_an_evaluation_in_every_step_is_one_by_its_name() -> None:
    """The same line without the name is a teacher's."""
    source = SOURCE.replace("validate", "teach")
    for text, function, count in ((SOURCE, "validate", 8), (source, "teach", 0)):
        builder = TraceBuilder()
        for at in range(0, 80_000, 10_000):
            builder.stack(at, 5_000, line(3)).stack(at + 5_000, 5_000, line(4), line(8, function))
        ends = tuple(float(each) for each in range(0, 81, 10))
        found = evaluations(cell(builder, ends_ms=ends, source=text))
        assert found.count == count


def test_a_stray_sample_between_two_steps_is_no_evaluation() -> None:
    for stray_ms, count in ((0.2, 1), (2.0, 8)):
        builder, at, ends = TraceBuilder(), 0.0, [0.0]
        for step in range(8):
            evaluated_ms = 20.0 if step == 4 else stray_ms
            builder.stack(at * 1000, 5_000, line(3))
            builder.stack((at + 5) * 1000, evaluated_ms * 1000, line(4), line(8, "validate"))
            at += 5 + evaluated_ms
            ends.append(at)
        assert evaluations(cell(builder, ends_ms=tuple(ends), source=SOURCE)).count == count


def test_without_stacks_or_training_nothing_is_known() -> None:
    for trace in (TraceBuilder().operator("aten::mm", 0, 10).build(), cell(TraceBuilder().stack(0, 10, line(1)))):
        found = evaluations(trace)
        assert found.ns is None and not found.places and found.steps_between is None
