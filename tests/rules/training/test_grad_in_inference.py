"""What is said of graphs that are recorded beside training."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Cell, Window
from gpuprof.model.kinds import NodeFate
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.registry import rule
from tests.analyses.accounts.cells import cell, line
from tests.rules.cases.memory.broadcast_then_reduced import processed
from tests.rules.cases.training.evaluation_share import SOURCE
from tests.rules.cases.training.grad_in_inference import beside
from tests.support.look_builder import LookBuilder
from tests.support.trace_builder import CELL_FILE, TraceBuilder


def found(trace: Trace) -> Finding | None:
    answer = rule("grad_in_inference").check(Results(trace))
    assert answer is None or isinstance(answer, Finding)
    return answer


def evaluated(*, function: str = "validate", tail_us: float = 2_100) -> Trace:
    """The cell goes on for 7 ms after the recorded 3: training, and in the end an evaluation."""
    builder = beside()
    for at in range(0, 3000, 1000):
        builder.stack(at, 300, line(4), line(8, function)).stack(at + 300, 700, line(3))
    builder.stack(3_000, 7_000 - tail_us, line(3))
    if tail_us:
        builder.stack(10_000 - tail_us, tail_us, line(4), line(8, function))
    return cell(builder, ends_ms=(0, 1, 2, 3, 4, 5, 6, 7, 7.9), source=SOURCE)


def test_an_evaluation_weighs_what_it_takes_of_the_cell() -> None:
    answer = found(evaluated())
    assert answer is not None and answer.severity is Severity.MEDIUM
    assert answer.title == "Evaluation records graphs for gradients, and no backward pass follows"
    assert answer.evidence["cell_share"] == pytest.approx(0.3) and answer.evidence["graphs"] == 2
    assert answer.where.lines == (8,) and "inference_mode" in answer.change
    assert "30 % of the cell" in answer.explanation


def test_generated_samples_may_go_into_a_loss() -> None:
    answer = found(evaluated(function="generate"))
    assert answer is not None and answer.title.startswith("Generation records graphs")
    assert "`torch.no_grad()`" in answer.change and "inference_mode" not in answer.change


def test_a_forward_pass_in_the_steps_weighs_what_was_recorded() -> None:
    answer = found(evaluated(function="teach", tail_us=0))
    assert answer is not None and answer.severity is Severity.LOW
    assert answer.title == "A forward pass records graphs for gradients, and no backward pass follows"
    assert answer.evidence["recorded_share"] == pytest.approx(0.2)
    # a teacher's outputs go into the loss
    assert "`torch.no_grad()`" in answer.change and "inference_mode" not in answer.change


def test_on_a_device_the_hosts_time_is_no_measure() -> None:
    trace = beside(500).kernel("gemm", 0, 2900, launch_at_us=0).build()
    answer = found(trace)
    assert answer is not None and answer.severity is Severity.LOW


def test_no_recording_of_others_has_it(any_shared_trace: Trace) -> None:
    answer = rule("grad_in_inference").check(Results(any_shared_trace))
    assert not isinstance(answer, Finding) or "Every step" in answer.title


def episodes(*, seen: bool) -> Trace:
    """As `evaluated`, with a backward pass from line 9 at the end of the cell; `seen`: it ran in the recording, too."""
    backward = ("/lib/torch/_tensor.py", "Tensor.backward", 3)
    builder = beside()
    for at in range(0, 3000, 1000):
        builder.stack(at, 500, line(4), line(8, "validate")).stack(at + 500, 400, line(3))
        builder.stack(at + 900, 100, line(9 if seen else 3), backward)
    builder.stack(3_000, 6_900, line(4), line(8, "validate")).stack(9_900, 100, line(9), backward)
    return cell(builder, ends_ms=(0, 1, 2, 3, 4, 5, 6, 7, 7.9), source=SOURCE)


def test_a_graph_that_a_later_backward_pass_may_need_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from gpuprof.capture.stacks import folding

    monkeypatch.setattr(folding, "_library_folders", lambda _: ["/lib/"])
    assert found(episodes(seen=True)) is not None
    assert found(episodes(seen=False)) is None


def generation(ended_by: str | None) -> Trace:
    """Twenty tokens whose operators make nodes, without a DataLoader or an optimizer."""
    builder, number = TraceBuilder(), 0
    for token in range(20):
        for place, name in enumerate(("aten::embedding", "aten::linear", "aten::gelu", "aten::linear", "aten::argmax")):
            builder.operator(name, 100 * token + 15 * place, 10, sequence=number)
            number += 1
    if ended_by is None:
        return builder.build()
    return builder.context(window=Window(start_ns=0, end_ns=2_000_000, ended_by=ended_by)).build()


def test_iterations_without_steps_are_judged_where_nothing_can_follow() -> None:
    answer = found(generation("cell"))
    assert answer is not None
    assert answer.title == "Every iteration records a graph for gradients, and no backward pass follows"
    assert answer.evidence["graph_nodes_per_iteration"] == 4 and answer.evidence["iterations"] == 20


@pytest.mark.parametrize("ended_by", ["events", None])
def test_a_loop_whose_backward_pass_may_come_after_the_recording_is_not(ended_by: str | None) -> None:
    assert found(generation(ended_by)) is None


def look_at(
    builder: TraceBuilder | None = None, *, spent_us: float = 60, elements: int = 1000, fate: NodeFate = NodeFate.FREED
) -> LookBuilder:
    """Of 100 µs of operators in each of two iterations so much makes a graph of three nodes at line 3, which nothing
    goes back through; the rest is training at line 2."""
    look = LookBuilder(builder).tensor("x", elements=elements)
    for each in range(2):
        facts = {"graph": True, "node": fate, "iteration": each, "elements": elements}
        for name, source in (("a", "x"), ("b", "a"), ("c", "b")):
            look.operator("aten::mm", spent_us / 3, reads=source, makes=name, line=3, **facts)
        look.operator("aten::relu", 0.001, reads="c", makes="read", line=3, iteration=each).free("a b c")
        trained = {"graph": True, "node": NodeFate.FREED, "iteration": each}
        look.operator("aten::mm", (100 - spent_us) / 2, reads="x", makes="y", line=2, **trained)
        back = {"backward": True, "forward_of": "y", "iteration": each}
        look.operator("aten::mm", (100 - spent_us) / 2, reads="y", makes="g", line=2, **back)
    return look


def test_the_close_look_shows_what_the_recording_does_not() -> None:
    answer = found(look_at(beside(10)).build())
    assert answer is not None and answer.severity is Severity.MEDIUM
    assert answer.title == "The forward pass at line 3 records graphs for gradients, and no backward pass follows"
    assert answer.evidence["graphs"] == 2 and answer.evidence["graph_nodes"] == 6
    assert answer.evidence["looked_share"] == pytest.approx(0.6)
    assert answer.evidence["kept_bytes"] == 4000
    assert answer.where.lines == (3,) and "measure it" in answer.explanation
    assert "`torch.no_grad()`" in answer.change and "inference_mode" not in answer.change


def test_a_look_without_a_backward_pass_may_use_inference_mode() -> None:
    look = LookBuilder(TraceBuilder().operator("aten::relu", 0, 1000)).tensor("x")
    for name, source in (("a", "x"), ("b", "a"), ("c", "b")):
        facts = {"graph": True, "node": NodeFate.FREED, "iteration": 0, "elements": 1000}
        look.operator("aten::mm", 30, reads=source, makes=name, line=3, **facts)
    answer = found(look.free("a b c").build())
    assert answer is not None and "inference_mode()` where the results take part in no gradient" in answer.change


@pytest.mark.parametrize(("spent_us", "severity"), [(4.9, None), (5.1, Severity.LOW), (29.9, Severity.LOW)])
def test_less_of_it_matters_less(spent_us: float, severity: Severity | None) -> None:
    answer = found(look_at(beside(10), spent_us=spent_us).build())
    assert (answer.severity if answer else None) == severity


def test_what_is_kept_or_used_is_no_finding() -> None:
    assert found(look_at(beside(10), fate=NodeFate.KEPT).build()) is None
    assert found(look_at(beside(10), fate=NodeFate.UNKNOWN).build()) is None


def test_on_a_device_what_the_look_shows_is_low() -> None:
    builder = beside(10).kernel("gemm", 0, 2900, launch_at_us=0)
    answer = found(look_at(builder).build())
    assert answer is not None and answer.severity is Severity.LOW


def test_the_recording_speaks_where_it_shows_as_much() -> None:
    recorded = found(look_at(beside(500)).build())
    assert recorded is not None and "looked_share" not in recorded.evidence


@pytest.mark.parametrize(("mib", "severity"), [(298, Severity.LOW), (302, Severity.MEDIUM)])
def test_memory_that_goes_away_matters_from_three_tenths_of_the_peak_on(mib: float, severity: Severity) -> None:
    # of three results in a row one more than is still read, of a peak of 1000 MiB
    builder = processed(source="")
    answer = found(look_at(builder, spent_us=20, elements=round(mib * 2**18)).build())
    assert answer is not None and answer.severity is severity
    if severity is Severity.MEDIUM:
        # the first reading is of 700 MiB
        assert answer.evidence["saved_share"] == 0.3
        assert "would be about 700 MiB" in answer.explanation


def growing(at: int) -> TraceBuilder:
    """Five seconds in that line, in which the process grows by 600 MiB."""
    builder = beside(10).stack(0, 5_000_000, line(at))
    for tenth in range(50):
        builder.host_sample(100_000 * tenth + 50_000, resident_bytes=(400 << 20) + (600 << 20) * tenth // 49)
    window = Window(cell_start_ns=0, cell_end_ns=5 * 10**9)
    return builder.context(cell=Cell(source="", filename=CELL_FILE), window=window)


@pytest.mark.parametrize(("at", "severity"), [(3, Severity.MEDIUM), (2, None)])
def test_of_what_the_process_grew_by_at_its_lines_the_graphs_have_their_share(
    at: int, severity: Severity | None
) -> None:
    # GIVEN a look that saw the end of it: ten results in a row, of which two at once are read
    look = LookBuilder(growing(at)).tensor("x0")
    for each in range(10):
        facts = {"reads": f"x{each}", "makes": f"x{each + 1}", "graph": True, "node": NodeFate.FREED}
        look.operator("aten::mm", 0.1, line=3, iteration=0, **facts)
    look.free(" ".join(f"x{each}" for each in range(1, 11)))
    look.operator("aten::relu", 97, reads="x0", makes="read", line=4)
    answer = found(look.build())
    assert (answer.severity if answer else None) is severity
    if answer is not None:
        assert answer.evidence["kept_bytes"] == 8 * 4 * 4096
        # from its first reading in time: 571 MiB, eight tenths of it
        assert answer.evidence["saved_share"] == pytest.approx(0.8 * 0.57, abs=0.02)
