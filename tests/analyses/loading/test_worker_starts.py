"""Workers that are started for each pass."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loading.worker_starts import WorkerStarts, WorkerUpkeep
from gpuprof.model.context import Loader, Window
from gpuprof.model.loading import Loading
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


def test_ending_the_workers_of_a_pass_before_the_next_counts() -> None:
    assert of(iteration_end_ns=(25, 30)).cost_ns == 70 + 25


def upkeep(**settings: Any) -> WorkerUpkeep:
    """One pass in a cell of 1,000 ns: 40 to set up, 90 for a first batch that takes 20 to compute, 30 to end."""
    loader = Loader(
        **{
            "workers": 4,
            "dataset": "Photos",
            "samples": 30,
            "iteration_start_ns": (0,),
            "iteration_set_up_ns": (40,),
            "iteration_end_ns": (30,),
            "wait_start_ns": (50, 100),
            "wait_ns": (90, 10),
            **settings,
        }
    )
    loading = Loading(
        dataset="Photos",
        source="Photos",
        dataset_samples=30,
        batches=2,
        samples=20,
        processes=4,
        sample_ns=100,
        collate_ns=0,
        cpu_ns=40,
    )
    builder = TraceBuilder().operator("aten::mm", 0, 1).context(loaders=(loader,), loadings=(loading,))
    return Results(builder.context(window=Window(cell_start_ns=0, cell_end_ns=1000)).build()).get(WorkerUpkeep)


def test_what_workers_cost_to_have() -> None:
    assert (upkeep().cost_ns, upkeep().share) == (40 + 70 + 30, 0.14)


def test_without_workers_there_is_nothing_to_start() -> None:
    assert upkeep(workers=0).share is None
