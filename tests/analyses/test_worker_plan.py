"""How many workers would help."""

from __future__ import annotations

import pytest

from gpuprof.analyses.result import Results
from gpuprof.analyses.worker_plan import WorkerPlan
from gpuprof.model.context import Environment, Loader
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder


def plan(wait_ms: float, work_ms: float, *, workers: int = 0, cores: int | None = None) -> WorkerPlan:
    """Ten steps of a wait and then work."""
    builder = TraceBuilder().context(loaders=(Loader(workers=workers),), environment=Environment(cores_allowed=cores))
    for step in range(10):
        at = step * (wait_ms + work_ms) * 1000
        builder.step(at, (wait_ms + work_ms) * 1000).data_wait(at, wait_ms * 1000, workers=workers)
        builder.operator("aten::mm", at + wait_ms * 1000, work_ms * 1000)
    return Results(builder.build()).get(WorkerPlan)


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


def test_without_waits_nothing_is_planned(empty_trace: Trace) -> None:
    found = Results(empty_trace).get(WorkerPlan)
    assert (found.load_ns, found.needed, found.suggested, found.saved_per_batch_ns) == (None, None, None, None)
