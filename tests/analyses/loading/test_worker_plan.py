"""How many workers would help."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loading.worker_plan import WorkerPlan
from gpuprof.model.context import Environment, Loader
from gpuprof.model.trace import Trace
from tests.rules.cases.loading.slow_transform import loop as slow_loop
from tests.rules.cases.loading.slow_transform import timed
from tests.support.trace_builder import TraceBuilder


def plan(
    wait_ms: float, work_ms: float, *, workers: int = 0, cores: int | None = None, loaders: tuple[Loader, ...] = ()
) -> WorkerPlan:
    """Ten steps of a wait and then work."""
    known = loaders or (Loader(workers=workers),)
    builder = TraceBuilder().context(loaders=known, environment=Environment(cores_allowed=cores))
    for step in range(10):
        at = step * (wait_ms + work_ms) * 1000
        builder.step(at, (wait_ms + work_ms) * 1000).data_wait(at, wait_ms * 1000, workers=workers)
        builder.operator("aten::mm", at + wait_ms * 1000, work_ms * 1000)
    return Results(builder.build()).get(WorkerPlan)


@pytest.mark.parametrize(
    ("wait_ms", "workers", "handed_over"), [(1, 2, True), (3, 2, False), (1, 0, False)], ids=["ready", "late", "none"]
)
def test_a_short_wait_for_workers_is_the_handing_over(wait_ms: float, workers: int, handed_over: bool) -> None:
    assert plan(wait_ms, 10, workers=workers).waits_are_handover is handed_over


@pytest.mark.parametrize(
    ("wait_ms", "work_ms", "workers", "cores", "needed", "suggested", "saved_ms"),
    [
        (30, 70, 0, None, 1, 1, 30),
        (70, 30, 0, None, 3, 3, 70),
        (70, 30, 0, 3, 3, 2, 65),  # two workers make a batch every 35 ms
        (70, 30, 0, 1, 3, None, None),
        (50, 50, 2, 16, 4, 4, 50),  # two workers take 200 ms a batch
        (50, 50, 2, 3, 4, None, None),
        (1, 1, 0, 16, 1, None, None),  # handing it over costs as much
    ],
)
def test_steady_state(
    wait_ms: float,
    work_ms: float,
    workers: int,
    cores: int | None,
    needed: int,
    suggested: int | None,
    saved_ms: float | None,
) -> None:
    found = plan(wait_ms, work_ms, workers=workers, cores=cores)
    assert (found.needed, found.suggested) == (needed, suggested)
    assert found.saved_per_batch_ns == (None if saved_ms is None else pytest.approx(saved_ms * 1e6))


def _loader(line: int, *, from_ms: int, every_ms: int, waits: int, wait_ms: int, **facts: Any) -> Loader:
    """One that was waited for at these times, on a clock that is 2 µs early."""
    starts = tuple((from_ms + every_ms * wait) * 1_000_000 - 2_000 for wait in range(waits))
    return Loader(workers=0, line=line, wait_start_ns=starts, wait_ns=(wait_ms * 1_000_000,) * waits, **facts)


def test_a_loop_outside_the_steps_is_not_to_blame() -> None:
    """GIVEN 1 s of steps that wait for line 9, before which line 3 was waited for longer."""
    before = _loader(3, from_ms=-5000, every_ms=50, waits=90, wait_ms=40)
    training = _loader(9, from_ms=0, every_ms=100, waits=10, wait_ms=30)
    found = plan(30, 70, loaders=(before, training))
    assert (found.loader, found.load_ns) == (training, 30e6)


def test_a_loader_made_anew_in_each_epoch_counts_whole() -> None:
    """GIVEN line 9 with two loaders of 150 ms together, and line 3 with 100 ms."""
    epochs = [_loader(9, from_ms=at, every_ms=100, waits=5, wait_ms=15) for at in (0, 500)]
    other = _loader(3, from_ms=40, every_ms=100, waits=10, wait_ms=10)
    found = plan(30, 70, loaders=(other, *epochs)).loader
    assert found is not None and found.line == 9


def test_of_several_loaders_that_the_steps_did_not_wait_for_none_is_blamed() -> None:
    found = plan(30, 70, loaders=(Loader(workers=2, line=3), Loader(workers=2, line=5)))
    assert (found.loader, found.workers, found.load_ns) == (None, 0, 30e6)


@pytest.mark.parametrize(("workers", "suggested"), [(0, 1), (1, None)])
def test_several_workers_would_repeat_an_iterable_dataset(workers: int, suggested: int | None) -> None:
    found = plan(70, 30, workers=workers, cores=16, loaders=(Loader(workers=workers, iterable=True),))
    assert (found.suggested, found.repeats) == (suggested, True)


def test_without_waits_nothing_is_planned(empty_trace: Trace) -> None:
    found = Results(empty_trace).get(WorkerPlan)
    assert (found.load_ns, found.needed, found.suggested, found.saved_per_batch_ns) == (None, None, None, None)


def test_a_worker_has_one_thread_where_this_process_computes_with_several() -> None:
    """GIVEN waits of 60 ms for batches that this process makes with four threads, and 40 ms of other work."""
    loading = msgspec.structs.replace(timed(), cpu_ns=4 * 400_000_000)
    trace = slow_loop(loading, cores=16)
    found = Results(trace).get(WorkerPlan)
    assert found.slowdown == pytest.approx(4)
    assert found.needed == math.ceil(60 * 4 / 40)
    assert found.suggested == 6


def test_a_little_more_than_one_thread_is_one() -> None:
    found = Results(slow_loop(msgspec.structs.replace(timed(), cpu_ns=480_000_000), cores=16)).get(WorkerPlan)
    assert (found.slowdown, found.needed) == (1.0, 2)


def test_no_workers_where_those_there_are_cores_for_would_be_slower() -> None:
    """GIVEN four threads that make a batch in 60 ms, and cores for two workers, which make one in 120 ms."""
    found = Results(slow_loop(msgspec.structs.replace(timed(), cpu_ns=4 * 400_000_000), cores=3)).get(WorkerPlan)
    assert found.suggested is None
