"""Workers that are started for each pass."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.analyses.result import Results
from gpuprof.analyses.worker_starts import WorkerStarts
from gpuprof.model.context import Loader, Window
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder


def of(**settings: Any) -> WorkerStarts:
    """Two passes of three batches, in a cell of 1,000 ns; the second takes 50 to set up and 30 for its first batch."""
    loader = Loader(
        **{
            "workers": 2,
            "iteration_start_ns": (0, 500),
            "iteration_set_up_ns": (40, 50),
            "wait_start_ns": (50, 100, 150, 550, 600, 650),
            "wait_ns": (90, 10, 10, 30, 10, 10),
            **settings,
        }
    )
    builder = TraceBuilder().operator("aten::mm", 0, 1).context(loaders=(loader,))
    return Results(builder.context(window=Window(cell_start_ns=0, cell_end_ns=1000)).build()).get(WorkerStarts)


def test_the_first_pass_is_not_a_restart() -> None:
    starts = of()
    assert (starts.restarts, starts.cost_ns, starts.share, starts.ranges_ns) == (1, 70, 0.07, ((500, 580),))


def test_a_pass_without_a_batch_costs_its_set_up() -> None:
    starts = of(iteration_start_ns=(0, 500, 540), iteration_set_up_ns=(40, 20, 5))
    assert (starts.restarts, starts.cost_ns, starts.ranges_ns) == (2, 45, ((500, 520), (540, 580)))


@pytest.mark.parametrize("settings", [{"workers": 0}, {"persistent_workers": True}, {"iteration_start_ns": (0,)}])
def test_what_is_kept_or_runs_once_is_no_restart(settings: dict[str, Any]) -> None:
    assert of(**settings).loader is None


def test_nothing_recorded_gives_nothing(empty_trace: Trace) -> None:
    assert Results(empty_trace).get(WorkerStarts).share is None
