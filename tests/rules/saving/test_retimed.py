"""Findings with savings found by simulation, and findings of which none can be found."""

from __future__ import annotations

from dataclasses import replace

from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Finding, Saving, Severity
from gpuprof.rules.saving.retimed import retimed
from gpuprof.whatif.changes import graph_edits
from gpuprof.whatif.graph.graph import Graph
from gpuprof.whatif.graph.nodes import NodeKind
from tests.support.trace_builder import TraceBuilder
from tests.whatif.programs import Program, run

STEP: Program = [("work", 300), ("kernel", 7, 100), ("sync_all",)]
BOUND = Saving(0, 2_000_000, 2_000_000, 0.5, "C", "upper bound: all of it")
FOUND = Finding("some_rule", Severity.HIGH, "A title", "An explanation.", {}, "A change.", saving=BOUND)


def no_work(graph: Graph) -> Graph:
    return graph_edits.remove(graph, graph.select(NodeKind.HOST_GAP))


def later_kernels(graph: Graph) -> Graph:
    return graph_edits.scale(graph, graph.select(NodeKind.DEVICE_OP), 1.5)


def a_little(graph: Graph) -> Graph:
    return graph_edits.scale(graph, graph.select(NodeKind.DEVICE_OP), 0.95)


def somewhat(graph: Graph) -> Graph:
    return graph_edits.scale(graph, graph.select(NodeKind.DEVICE_OP), 0.75)


def test_the_saving_is_the_predictions() -> None:
    told = retimed(Results(run(STEP * 10)), FOUND, no_work, "simulated without the work")
    assert told.saving is not None and told.replay_edit is not None
    assert (told.saving.grade, told.saving.basis) == ("A", "simulated without the work")
    assert 0.6 < told.saving.share < 0.8
    assert told.severity == FOUND.severity


def test_a_saving_above_what_the_cause_takes_says_why() -> None:
    def said(bound_ns: float, title: str = "The device waits for data 40 % of the steps’ time") -> str:
        found = replace(FOUND, title=title, saving=replace(BOUND, central_ns=bound_ns, high_ns=bound_ns))
        return retimed(Results(run(STEP * 10)), found, no_work, "b").explanation

    saved = retimed(Results(run(STEP * 10)), FOUND, no_work, "b").saving
    assert saved is not None
    assert said(saved.central_ns / 1.25).endswith("the change saves more than that: other waits shrink with it.")
    assert said(saved.central_ns / 1.15) == FOUND.explanation
    # what something takes bounds what its change is said to save
    assert said(saved.central_ns / 1.25, "It takes 40 % of the steps’ time") == FOUND.explanation


def test_what_is_assumed_lowers_the_grade() -> None:
    told = retimed(Results(run(STEP * 10)), FOUND, no_work, "b", assumed="nobody knows how fast it is")
    assert told.saving is not None and told.saving.grade == "C"


def test_grade_d_has_no_number_but_a_reason() -> None:
    blind: Program = [each for each in STEP * 10 if each[0] != "sync_all"]
    told = retimed(Results(run(blind)), FOUND, no_work, "b")
    assert told.saving is None and told.replay_edit is None
    assert "cannot be said: no call such as `cudaStreamSynchronize` was recorded" in told.explanation
    assert told.severity == FOUND.severity


def test_without_a_device_the_bound_stays() -> None:
    results = Results(TraceBuilder().operator("aten::mm", 0, 100).build())
    assert retimed(results, FOUND, no_work, "b") is FOUND


def test_a_change_that_saves_next_to_nothing_matters_little_and_says_so() -> None:
    told = retimed(Results(run(STEP * 10)), FOUND, a_little, "b")
    assert told.severity == Severity.LOW
    assert told.saving is not None and told.saving.share < 0.03
    assert "saves only 50.0 µs: the run then waits for something else." in told.explanation


def test_a_change_that_saves_some_percent_is_not_the_first_thing_to_mend() -> None:
    """GIVEN a cause that looks like half of the run WHEN its change saves a twentieth."""
    told = retimed(Results(run(STEP * 10)), FOUND, somewhat, "b")
    assert told.severity == Severity.MEDIUM
    assert told.saving is not None and 0.03 < told.saving.share < 0.1
    assert "saves only" in told.explanation


def test_a_change_that_saves_nothing_has_no_saving() -> None:
    told = retimed(Results(run(STEP * 10)), FOUND, later_kernels, "b", rest="why")
    assert (told.severity, told.saving) == (Severity.LOW, None)
    assert told.explanation.endswith("saves nothing: why.")
