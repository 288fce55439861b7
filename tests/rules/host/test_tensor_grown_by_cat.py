"""Tensors that grow by cat: on the host, on a device, with and without shapes, and what the change saves."""

from __future__ import annotations

import re

import pytest
import torch

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Cell
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.registry import rule
from tests.code_edits.data.test_joined_tensors import GROWN, LINES
from tests.rules.cases.host.tensor_grown_by_cat import evaluation
from tests.rules.saving.test_device_savings import Machine
from tests.support.trace_builder import TraceBuilder

TURNS = 40


def check(trace: Trace) -> Finding | Abstention | None:
    return rule("tensor_grown_by_cat").check(Results(trace))


def found(trace: Trace) -> Finding:
    answer = check(trace)
    assert isinstance(answer, Finding), answer
    return answer


@pytest.mark.parametrize(
    ("turns", "each_us", "severity"),
    [(20, 2, None), (20, 3, Severity.MEDIUM), (20, 13, Severity.HIGH), (9, 100, None)],
)
def test_it_matters_from_a_twentieth_of_the_time_and_ten_turns_on(
    turns: int, each_us: float, severity: Severity | None
) -> None:
    answer = check(evaluation(turns, each_us=each_us).build())
    assert (answer.severity if isinstance(answer, Finding) else answer) == severity


def test_little_time_in_cats_needs_no_shapes() -> None:
    assert check(evaluation(shapes=False, each_us=2).build()) is None


def test_the_memory_that_goes_back_after_each_cat_counts_at_best() -> None:
    """50 µs lie between a cat of 10 µs or more and the next operator; no more than it took itself can be that."""
    builder, at = TraceBuilder(), 0
    for turn in range(20):
        builder.operator("aten::linear", at, 100)
        builder.operator("aten::cat", at + 100, 10 * (turn + 1), dims=f"[[[{turn}, 4], [1, 4]], []]")
        at += 150 + 10 * (turn + 1)
    saving = found(builder.operator("aten::mean", at, 1).build()).saving
    assert saving is not None
    assert saving.central_ns == pytest.approx((2100 - 200) * 1e3)
    assert saving.high_ns - saving.central_ns == pytest.approx((10 + 20 + 30 + 40 + 16 * 50) * 1e3)
    assert saving.low_ns == pytest.approx((2100 - 600) * 1e3)


def predicting(*, grown: bool) -> Trace:
    """Forty batches on a device: 20 µs of model each, and a cat that takes 4 µs a batch so far, or one in the end."""
    machine, begins = Machine(), [0.0]
    machine.builder.operator("aten::empty", 0, 1)
    for turn in range(TURNS):
        machine.builder.operator("aten::mm", machine.now + 1, 6)
        machine.now += 2
        end = machine.kernel(20)
        if grown or turn == TURNS - 1:
            dims = f"[[[{16 * turn}, 10], [16, 10]], []]" if grown else None
            machine.builder.operator("aten::cat", machine.now, 7, dims=dims)
            end = machine.kernel(4 * (turn + 1), name="CatArrayBatchedCopy")
        machine.now += 3
    machine.sync(end)
    return machine.ended(begins)


def test_on_a_device_it_comes_near_its_twin() -> None:
    slow, cured = predicting(grown=True), predicting(grown=False)
    finding = found(slow)
    assert finding.evidence["cat_ms"] == pytest.approx(4 * TURNS * (TURNS + 1) / 2 / 1000)
    assert finding.saving is not None
    assert finding.saving.low_ns <= slow.span_ns - cured.span_ns <= finding.saving.high_ns * 1.02
    assert finding.saving.central_ns == pytest.approx(slow.span_ns - cured.span_ns, rel=0.1)
    assert "simulated" in finding.saving.basis


def test_launches_without_device_events_are_not_judged() -> None:
    builder = evaluation()
    answer = check(builder.call("cudaLaunchKernel", 460, 5).build())
    assert isinstance(answer, Abstention) and "gpuprof doctor" in answer.how


@pytest.mark.parametrize("graphs", [False, True])
def test_a_list_would_hold_what_a_graph_writes_over(graphs: bool) -> None:
    builder = evaluation().context(cell=Cell(source=GROWN))
    builder.kernel("gemm", 5, 40, launch_at_us=1, launch="cudaGraphLaunch" if graphs else "cudaLaunchKernel")
    finding = found(builder.build())
    assert finding.where.lines == LINES
    assert (finding.diff is None) is graphs


def test_two_tensors_are_one_finding() -> None:
    builder, at = TraceBuilder(), 0
    for turn in range(12):
        for width in (4, 1):
            dims = f"[[[{turn}, {width}], [1, {width}]], []]"
            builder.operator("aten::cat", at, width * 10 * (turn + 1), dims=dims)
            at += width * 10 * (turn + 1)
    finding = found(builder.build())
    assert finding.title.startswith("Tensors grow by `torch.cat`")
    assert (finding.evidence["growths"], finding.evidence["cats"]) == (2, 24)
    assert finding.evidence["last_ms"] == pytest.approx(0.6)


def test_only_the_turns_within_the_steps_count() -> None:
    builder = evaluation(30, each_us=20)
    (whole,) = [found(builder.build()).evidence["cats"]]
    builder.step(0, 10_000)
    assert whole == 30 and 10 <= int(found(builder.build()).evidence["cats"]) < 30


CELL = "v = {begin}\nfor x in xs:\n    v = {join}\n"


def changed(begin: str, join: str) -> str:
    """What the cell is told to do."""
    return found(evaluation().context(cell=Cell(source=CELL.format(begin=begin, join=join))).build()).change


@pytest.mark.parametrize("begin", ["torch.empty(0, 2)", "torch.ones(1, 2)", "xs[0][:0]"])
@pytest.mark.parametrize(
    "join", ["torch.cat([v, x])", "torch.cat((x, v), dim=0)", "torch.cat([v, x], 0)", "torch.vstack((x, v))"]
)
def test_the_list_as_written_gives_the_same_tensor(begin: str, join: str) -> None:
    change = changed(begin, join)
    known = {"torch": torch, "xs": [torch.full((2, 2), float(n)) for n in range(4)]}
    exec(CELL.format(begin=begin, join=join), known)
    wanted = known["v"]
    exec(f"v = {begin}\npieces = []", known)
    pieces = re.findall(r"`([^`]+)`", change)
    assert ("pieces = [v]" in pieces) is (begin == "torch.ones(1, 2)")
    for piece in sorted(pieces, key=lambda each: each != "pieces = [v]"):
        for x in known["xs"] if piece == "pieces.append(x)" else [None]:
            made = eval(piece, {**known, "x": x}) if piece != "pieces = [v]" else exec(piece, known)
    assert torch.equal(made, wanted)
    assert ("in reverse" in change) is ("x, v" in join)


@pytest.mark.parametrize(
    ("begin", "join", "said"),
    [
        ("None", "x if v is None else torch.cat([v, x], dim=-1)", "it: `torch.cat(pieces, dim=-1)`."),
        ("start(xs)", "torch.cat([v, x])", "it: `torch.cat(pieces)`. Begin the list with what the tensor began with: "),
        # of three parts the two new ones would come in the wrong order
        ("None", "torch.cat([x, y, v])", "it: `torch.cat(pieces, dim=0)` (`pieces[::-1]` where each piece is put "),
    ],
)
def test_what_the_list_begins_with(begin: str, join: str, said: str) -> None:
    assert said in changed(begin, join)


def test_without_the_text_the_dimension_is_that_of_the_shapes() -> None:
    change = found(evaluation().build()).change
    assert "`torch.cat(pieces, dim=0)` (`pieces[::-1]` where" in change
    assert change.endswith("Begin the list with what the tensor began with.")
