"""Workers that are short of cores: where the rule about them must be silent, what it says, and who yields to it."""

from __future__ import annotations

import dataclasses

import msgspec
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loading.worker_plan import WorkerPlan
from gpuprof.model.context import Cell, Window
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.loading.workers_oversubscribed import WorkersOversubscribed
from gpuprof.rules.registry import judge
from tests.rules.cases.loading.workers_oversubscribed import crowd, measured
from tests.support.trace_builder import TraceBuilder


def found(trace: Trace) -> Finding:
    answer = WorkersOversubscribed().check(Results(trace))
    assert isinstance(answer, Finding)
    return answer


@pytest.mark.parametrize(
    "trace",
    [
        crowd(measured(), workers=5),
        crowd(measured(threads=0.05)),
        crowd(measured(wait_ratio=0.49)),
        crowd(measured(), used=150.0),
        crowd(measured(), cores=12),
        crowd(None, workers=0),
    ],
    ids=["one more than cores", "for a disk", "taking turns", "others hold the cores", "cores enough", "no workers"],
)
def test_silent_where_workers_do_not_want_more_than_there_is(trace: Trace) -> None:
    assert WorkersOversubscribed().check(Results(trace)) is None


def test_a_trace_from_elsewhere_with_workers() -> None:
    trace = TraceBuilder().data_wait(0, 10, workers=4).operator("aten::mm", 10, 5).build()
    assert isinstance(WorkersOversubscribed().check(Results(trace)), Abstention)


def test_a_trace_from_elsewhere_without() -> None:
    trace = TraceBuilder().data_wait(0, 10).operator("aten::mm", 10, 5).build()
    assert WorkersOversubscribed().check(Results(trace)) is None


def test_it_is_the_cause_of_the_wait_for_data_and_promises_nothing() -> None:
    """GIVEN steps that wait for data WHEN the workers wait for cores THEN no other rule judges the samples' times."""
    trace = crowd(measured(), wait_us=40_000, main_wait=0.0)
    findings = judge(Results(trace), strict=True).findings
    (cause,) = [each for each in findings if "worker" in each.rule or "input" in each.rule or "transform" in each.rule]
    assert cause.rule == "workers_oversubscribed"
    assert cause.saving is None
    assert "`num_workers=4`" in cause.change
    assert "`Resize` takes 75 % of their time" in cause.change


def test_threads_of_a_worker_are_named_first() -> None:
    """GIVEN two workers on four cores WHEN each computes by four threads THEN the threads are the cure."""
    answer = found(crowd(measured(threads=4.0), workers=2))
    assert answer.title == "2 workers want 8 cores at once, and there are 4"
    assert "torch.set_num_threads(1)" in answer.change
    assert "num_workers=" not in answer.change
    assert answer.diff is None


def test_the_number_of_workers_as_a_diff() -> None:
    cell = Cell(source="import torch\nloader = torch.utils.data.DataLoader(data, num_workers=16)\nfor x in loader: 1\n")
    trace = crowd(measured())
    trace = dataclasses.replace(trace, context=msgspec.structs.replace(trace.context, cell=cell))
    diff = found(trace).diff
    assert diff is not None and "+loader = torch.utils.data.DataLoader(data, num_workers=3)" in diff


def test_more_workers_are_never_advised_where_those_there_are_wait_for_cores() -> None:
    starved = Results(crowd(measured(), workers=2, cores=16, wait_us=60_000)).get(WorkerPlan)
    free = Results(crowd(measured(wait_ratio=0.1), workers=2, cores=16, wait_us=60_000)).get(WorkerPlan)
    assert starved.suggested is None
    assert free.suggested is not None and free.suggested > 2


def test_workers_of_many_threads_take_as_many_cores() -> None:
    plan = Results(crowd(measured(threads=4.0, wait_ratio=0.0), workers=2, cores=16, wait_us=80_000)).get(WorkerPlan)
    assert plan.possible == 3
    assert plan.suggested == 3


def _many(workers: int, threads: float, wait_ratio: float = 0.1) -> Trace:
    """In a cell of two seconds the workers took 300 ms to start and 100 ms to end."""
    trace = crowd(measured(threads, wait_ratio=wait_ratio), workers=workers, main_wait=0.0)
    (loader,) = trace.context.loaders
    begins = {"iteration_start_ns": (0,), "iteration_set_up_ns": (300_000_000,), "iteration_end_ns": (100_000_000,)}
    loader = msgspec.structs.replace(loader, **begins)
    window = Window(cell_start_ns=0, cell_end_ns=2_000_000_000)
    return dataclasses.replace(trace, context=msgspec.structs.replace(trace.context, loaders=(loader,), window=window))


def test_starting_more_workers_than_can_compute_is_found() -> None:
    """13 of 16 workers are too many: 13/16 of the 400 ms, which are a fifth of the cell."""
    cause = found(_many(16, threads=1.0))
    assert "Starting 16 workers for 4 cores takes 20 %" in cause.title
    assert cause.saving is not None and cause.saving.share == pytest.approx(0.2 * 13 / 16)
    assert "num_workers=3" in cause.change


@pytest.mark.parametrize("wait_ratio", [0.0, 1.0, 4.0])
def test_waits_for_a_core_are_no_waits_for_a_disk(wait_ratio: float) -> None:
    """GIVEN workers of which each computes when it has a core WHEN they have to wait for cores THEN they compute."""
    cause = found(_many(16, threads=1.0, wait_ratio=wait_ratio))
    assert cause.evidence == {
        "workers": 16,
        "cores": 4,
        "start_and_end_ms": pytest.approx(400),
        "start_and_end_share_of_cell": pytest.approx(0.2),
    }
    assert cause.saving is not None
    # of the cell, and at worst half of it
    assert cause.saving.of_cell
    saved = [cause.saving.low_ns, cause.saving.central_ns, cause.saving.high_ns]
    assert saved == pytest.approx([each * 13 / 16 for each in (200e6, 400e6, 400e6)], rel=1e-3)


def test_the_diff_gives_as_many_workers_as_the_advice() -> None:
    trace = _many(16, threads=1.0)
    cell = Cell(source="from torch.utils.data import DataLoader\n\nloader = DataLoader(data, num_workers=16)\n")
    trace = dataclasses.replace(trace, context=msgspec.structs.replace(trace.context, cell=cell))
    diff = found(trace).diff
    assert diff is not None and "+loader = DataLoader(data, num_workers=3)" in diff


@pytest.mark.parametrize(
    ("workers", "threads", "wait_ratio"),
    [(16, 0.05, 0.1), (16, 0.6, 5.0), (5, 1.0, 0.1)],
    ids=["they wait", "they wait, and others hold the cores", "hardly more than cores"],
)
def test_starting_workers_that_are_of_use_is_not(workers: int, threads: float, wait_ratio: float) -> None:
    assert WorkersOversubscribed().check(Results(_many(workers, threads, wait_ratio))) is None


_CELL = "data = Photos()\n\nloader = DataLoader(data, num_workers=16)\nfor x in loader:\n    net(x)\n"


def _edited(trace: Trace, *, line: int | None = 3) -> str | None:
    """The change to the cell, with the loader made on that line."""
    (loader,) = trace.context.loaders
    loaders = (msgspec.structs.replace(loader, line=line),)
    context = msgspec.structs.replace(trace.context, cell=Cell(source=_CELL), loaders=loaders)
    return found(dataclasses.replace(trace, context=context)).diff


def test_the_number_of_workers_is_edited_where_it_alone_is_the_cure() -> None:
    edited = _edited(crowd(measured()))
    assert edited is not None and "+loader = DataLoader(data, num_workers=3)" in edited
    assert _edited(crowd(measured()), line=None) is None
    # threads of a worker are the first thing to mend
    assert _edited(crowd(measured(threads=4.0))) is None
