"""How many workers a loop is advised, and what they take off a batch: the arithmetic on given times."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loading.cpu_contention import CpuContention
from gpuprof.analyses.loading.worker_plan import WorkerPlan, _slowdown
from gpuprof.model.context import Loader
from gpuprof.model.loading import Loading
from tests.support.trace_builder import TraceBuilder

MS = 1_000_000


def plan(
    load_ms: float | None = 30,
    rest_ms: float | None = 10,
    *,
    workers: int | None = 0,
    needed: int | None = 3,
    cores: int | None = 8,
    iterable: bool = False,
    **facts: Any,
) -> WorkerPlan:
    loader = Loader(workers=workers or 0, iterable=iterable)
    load, rest = (None if each is None else each * MS for each in (load_ms, rest_ms))
    return WorkerPlan(loader, load, rest, workers, needed, cores, **facts)


@pytest.mark.parametrize(
    ("made", "possible", "suggested", "saved_ms"),
    [
        # 40 ms a batch now, 10 with three workers
        (plan(), 7, 3, 30),
        (plan(cores=3), 2, 2, 40 - 15),
        (plan(cores=2), 1, 1, 40 - 30),
        (plan(cores=1), 0, None, None),
        (plan(cores=0), 0, None, None),
        (plan(cores=None), None, 3, 30),
        # each takes two cores
        (plan(threads=2), 3, 3, 30),
        (plan(threads=4), 1, 1, 10),
        (plan(iterable=True), 7, 1, 10),
        (plan(starved=True), 7, None, None),
        (plan(load_ms=1.99, needed=1), 7, None, None),
        (plan(load_ms=2, rest_ms=2, needed=1), 7, 1, 2),
        # a worker takes twice as long: 60 ms on two are 30
        (plan(slowdown=2.0, needed=6), 7, 6, 30),
        (plan(slowdown=2.0, needed=6, cores=3), 2, 2, 40 - 30),
        (plan(slowdown=2.0, needed=6, cores=2), 1, None, None),
        # two are there and give a batch every 15 ms
        (plan(workers=2), 7, 3, 15 - 10),
        (plan(workers=3), 7, None, None),
        (plan(workers=2, cores=3), 2, None, None),
        (plan(needed=None), 7, None, None),
        (plan(workers=None), 7, None, None),
        (plan(load_ms=None), 7, None, None),
        (plan(rest_ms=None), 7, None, None),
    ],
)
def test_what_is_suggested(made: WorkerPlan, possible: int | None, suggested: int | None, saved_ms: float) -> None:
    assert made.possible == possible
    assert made.suggested == suggested
    assert made.saved_per_batch_ns == (None if saved_ms is None else pytest.approx(saved_ms * MS))


@pytest.mark.parametrize(
    ("made", "handed_over"),
    [
        (plan(load_ms=23.9, rest_ms=10, workers=2), True),
        (plan(load_ms=24, rest_ms=10, workers=2), False),
        (plan(load_ms=1, workers=0), False),
        (plan(load_ms=None, workers=2), False),
        (plan(rest_ms=None, workers=2), False),
    ],
)
def test_workers_that_keep_up_only_hand_over(made: WorkerPlan, handed_over: bool) -> None:
    assert made.waits_are_handover is handed_over


@pytest.mark.parametrize(("cpu_ns", "slowdown"), [(149, 1.0), (150, 1.5), (400, 4.0), (90, 1.0)])
def test_how_much_slower_one_thread_is(cpu_ns: int, slowdown: float) -> None:
    made = Loading(
        dataset="d", source="d", dataset_samples=1, batches=1, samples=1, processes=1, sample_ns=80, collate_ns=20,
        cpu_ns=cpu_ns, blocked=0, batched=False, transforms=(),
    )  # fmt: skip
    assert _slowdown(made) == slowdown
    assert _slowdown(None) == 1.0


@pytest.mark.parametrize(("ratio", "starved"), [(None, False), (0.49, False), (0.5, True)])
def test_workers_that_wait_for_cores(ratio: float | None, starved: bool) -> None:
    assert CpuContention(worker_wait_ratio=ratio).starved is starved


def loop(wait_ms: float, *, workers: int, work_ms: float = 10) -> WorkerPlan:
    builder, step_ms = TraceBuilder(), wait_ms + work_ms
    for number in range(10):
        at = number * step_ms * 1000
        builder.step(at, step_ms * 1000).data_wait(at, wait_ms * 1000, workers=workers)
        builder.operator("aten::mm", at + wait_ms * 1000, work_ms * 1000)
    return Results(builder.context(loaders=(Loader(workers=workers),)).build()).get(WorkerPlan)


def test_what_is_measured_of_a_loop() -> None:
    """In the process the wait is the making; two workers at work give a batch each time, so that each takes two."""
    own = loop(25, workers=0)
    assert (own.load_ns, own.rest_ns, own.needed) == (25 * MS, 10 * MS, 3)
    two = loop(5, workers=2)
    assert (two.load_ns, two.rest_ns, two.needed) == (2 * 15 * MS, 10 * MS, 3)
    assert (own.cores, own.threads, own.starved) == (None, 1, False)
