"""What several changes gain together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.report.joint import Joint
from gpuprof.rules.base.finding import Finding, Saving, Severity
from gpuprof.whatif.changes import graph_edits
from gpuprof.whatif.graph.graph import Graph
from gpuprof.whatif.graph.nodes import NodeKind
from gpuprof.whatif.predict import Range
from tests.whatif.programs import Program, run

STEP: Program = [("work", 300), ("kernel", 7, 300), ("sync_all",)]


def found(edit: graph_edits.GraphEdit, basis: str = "simulated") -> Finding:
    saving = Saving(1, 1, 1, 0.1, "B", basis)
    return Finding("some_rule", Severity.HIGH, "", "", {}, "", saving=saving, replay_edit=Range(edit, edit, edit))


def no_work(graph: Graph) -> Graph:
    return graph_edits.remove(graph, graph.select(NodeKind.HOST_GAP))


def no_kernels(graph: Graph) -> Graph:
    return graph_edits.remove(graph, graph.select(NodeKind.DEVICE_OP))


def no_more_waits(graph: Graph) -> Graph:
    return graph_edits.remove(graph, graph.select(NodeKind.CALL))


def test_two_cures_of_the_same_time_are_not_multiplied() -> None:
    # GIVEN work and kernels that alternate because of a wait: each cure hides the one behind the other
    results = Results(run(STEP * 10))
    hidden = Joint.of(results, (found(no_more_waits), found(no_more_waits)))
    # THEN twice the same cure is no better than once
    assert hidden is not None
    assert hidden.central == pytest.approx(2, rel=0.1)
    assert hidden.low <= hidden.central <= hidden.high


def test_cures_of_different_times_add_up() -> None:
    results = Results(run(STEP * 10))
    both = Joint.of(results, (found(no_work), found(no_kernels)))
    assert both is not None and both.central > 10
    assert str(both).startswith("Simulated together, they make the recorded run about")


def test_an_upper_bound_stays_one() -> None:
    joint = Joint.of(Results(run(STEP * 10)), (found(no_work), found(no_more_waits, "upper bound: simulated")))
    assert joint is not None and joint.most
    assert str(replace(joint, low=1.0, high=3.0)).endswith("at most 3.00× as fast")


def test_only_a_narrow_range_is_said() -> None:
    joint = Joint(low=1.20, central=1.30, high=1.40, most=False)
    assert str(joint).endswith("about 1.30× as fast (1.20× to 1.40×)")
    assert str(replace(joint, high=2.0)).endswith("about 1.30× as fast")


@pytest.mark.parametrize(
    ("high", "most", "factor"), [(1.40, False, 1.30), (2.0, False, 1.30), (1.40, True, 1.40), (2.0, True, 2.0)]
)
def test_the_share_that_goes_is_that_of_the_factor_that_is_said(high: float, most: bool, factor: float) -> None:
    joint = Joint(low=1.20, central=1.30, high=high, most=most)
    assert f"{factor:.2f}× as fast" in str(joint)
    assert joint.share == pytest.approx(1 - 1 / factor)


def test_nothing_is_said_where_a_finding_was_not_re_timed() -> None:
    results, one = Results(run(STEP * 10)), found(no_work)
    assert Joint.of(results, (one,)) is None
    assert Joint.of(results, (one, replace(one, replay_edit=None))) is None
    assert Joint.of(results, (one, replace(one, saving=None))) is None


def test_a_change_that_depends_on_the_others_comes_after_them() -> None:
    seen: list[int] = []

    def counts(graph: Graph) -> Graph:
        seen.append(int(graph.duration_ns[graph.select(NodeKind.DEVICE_OP)].sum()))
        return graph

    dependent = replace(found(counts), replay_edit=Range(counts, counts, counts, last=True))
    assert Joint.of(Results(run(STEP * 10)), (dependent, found(no_kernels))) is not None
    assert seen and not any(seen)
