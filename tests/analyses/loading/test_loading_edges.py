"""Waits for data at their edges: which count, in which steps, of which loader."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loading.input_pipeline import InputPipeline
from gpuprof.analyses.loading.stalling_loader import StallingLoader
from gpuprof.analyses.loading.worker_starts import WorkerUpkeep
from gpuprof.model.context import Loader, Window
from gpuprof.model.loading import Loading
from tests.support.trace_builder import TraceBuilder


def loading(dataset: str = "Photos", **facts: Any) -> Loading:
    known = {"dataset_samples": 40, "batches": 4, "samples": 16, "processes": 1, "sample_ns": 60, "collate_ns": 0}
    return Loading(**({"dataset": dataset, "source": dataset, "cpu_ns": 60} | known | facts))


def awaited(*loaders: Loader, steps: bool = True, loadings: tuple[Loading, ...] = ()) -> StallingLoader:
    """Two steps, from 100 to 200 and from 300 to 400 ns, or none in a span of 500."""
    builder = TraceBuilder().operator("aten::mm", 0, 0.5).context(loaders=loaders, loadings=loadings)
    if steps:
        builder.step(0.1, 0.1).step(0.3, 0.1)
    return Results(builder.build()).get(StallingLoader)


def loader(line: int, *waits: tuple[int, int], **facts: Any) -> Loader:
    starts, lengths = zip(*waits, strict=True) if waits else ((), ())
    return Loader(**({"workers": 1, "line": line, "wait_start_ns": starts, "wait_ns": lengths} | facts))


def test_waits_are_in_a_step_by_their_middle() -> None:
    """Beginning at 95, its middle is 100: in the step that ends at 200; the one from 190 to 211 is not."""
    found = awaited(loader(3, (89, 20), (95, 10), (150, 40), (190, 21), (290, 21), (399, 3), (450, 9)))
    assert found.waits_ns.tolist() == [10, 40, 21]


def test_without_steps_the_span_counts() -> None:
    assert awaited(loader(3, (0, 20), (480, 30), (490, 30)), steps=False).waits_ns.tolist() == [20, 30]


def test_the_loader_that_is_waited_for_longest() -> None:
    first, second = loader(3, (110, 20), (150, 10)), loader(5, (110, 50))
    assert awaited(first, second).loader == second
    again = loader(3, (310, 25))  # made anew in the same line: together they are waited for longer
    found = awaited(first, second, again)
    assert found.loader == first and found.waits_ns.tolist() == [20, 10, 25]
    assert awaited(loader(3), loader(5)).loader is None
    assert awaited(loader(3)).loader == loader(3)
    assert awaited().loader is None


def test_what_was_timed_is_of_the_dataset() -> None:
    of = loader(3, (110, 20), dataset="Photos", samples=40)
    assert awaited(of, loadings=(loading(), loading("Texts"))).loading == loading()
    assert awaited(of, loadings=(loading(dataset_samples=41),)).loading is None
    assert awaited(of, loadings=(loading(), loading(batches=5))).loading is None
    unknown = loader(3, (110, 20), dataset="Photos", samples=None)
    assert awaited(unknown, loadings=(loading(dataset_samples=41),)).loading is not None


def pipeline(*waits: tuple[float, float], workers: int = 2, work: bool = True) -> InputPipeline:
    """Waits in µs, each followed by an operator."""
    builder = TraceBuilder().operator("aten::empty", 0, 1)
    for at, length in waits:
        builder.data_wait(at, length, workers=workers)
        if work:
            builder.operator("aten::mm", at + length, 1)
    return Results(builder.operator("aten::sum", 9_999, 1).build()).get(InputPipeline)


@pytest.mark.parametrize(("first_us", "start_up"), [(500, False), (501, True)])
def test_a_first_wait_of_more_than_five_medians_is_start_up(first_us: float, start_up: bool) -> None:
    found = pipeline((0, first_us), (1000, 100), (2000, 100), (3000, 100))
    assert found.first.tolist() == [start_up, False, False, False]
    assert found.first_ns == (first_us * 1000 if start_up else 0)


def test_the_figures_of_the_waits() -> None:
    """Waits of 10, 20, 30 and 40 µs, 90, 80 and 70 µs apart."""
    found = pipeline((100, 10), (200, 20), (300, 30), (400, 40))
    assert (found.wait_ns, found.median_ns, found.work_ns) == (100_000, 25_000, 80_000)
    assert found.p95_ns == pytest.approx(38_500)
    assert found.wait_share == pytest.approx(0.01) and found.within_ns == 10_000_000
    assert found.waits.starts.tolist() == [100_000, 200_000, 300_000, 400_000]
    assert found.in_process is False and pipeline((100, 10), workers=0).in_process is True


def test_which_calls_gave_a_batch_is_noted_shortly_before_them() -> None:
    """The second call has no note within half a millisecond before it."""
    builder = TraceBuilder().operator("aten::mm", 0, 10_000)
    for at in (1000, 2000, 3000):
        builder.data_wait(at, 100)
    notes = (1_000_000 - 400_000, 3_000_000 - 499_000)
    found = Results(builder.context(loaders=(Loader(workers=0, wait_start_ns=notes),)).build()).get(InputPipeline)
    assert found.ended.tolist() == [False, True, False]


@pytest.mark.parametrize(("noted", "ended"), [(500_000, [False, True, False]), (500_001, [False, False, True])])
def test_a_note_is_of_the_next_call_for_half_a_millisecond(noted: int, ended: list[bool]) -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 10_000)
    for at in (1000, 2000, 3000):
        builder.data_wait(at, 100)
    notes = (1_000_000, 3_000_000 - noted)
    found = Results(builder.context(loaders=(Loader(workers=0, wait_start_ns=notes),)).build()).get(InputPipeline)
    assert found.ended.tolist() == ended


def upkeep(**facts: Any) -> WorkerUpkeep:
    """Two passes, in a cell of 10 µs; a batch takes 50 ns to compute."""
    known = {
        "workers": 2, "line": 3, "dataset": "Photos", "samples": 40, "iteration_start_ns": (0, 5000),
        "iteration_set_up_ns": (400, 300), "iteration_end_ns": (60, 40), "wait_start_ns": (500, 700, 5400, 5600),
        "wait_ns": (150, 10, 30, 10),
    }  # fmt: skip
    builder = (
        TraceBuilder()
        .operator("aten::mm", 0, 10)
        .context(
            loaders=(Loader(**(known | facts)),),
            loadings=(loading(cpu_ns=200),),
            window=Window(cell_start_ns=0, cell_end_ns=10_000),
        )
    )
    return Results(builder.build()).get(WorkerUpkeep)


def test_what_starting_and_ending_the_workers_takes() -> None:
    """700 to set up, 100 to end; the first batch of the first pass is waited for 100 longer than it takes to make."""
    assert upkeep() == WorkerUpkeep(900, 0.09)
    assert upkeep(workers=0) == WorkerUpkeep(None, None)
    assert upkeep(iteration_set_up_ns=(9_000, 9_000)) == WorkerUpkeep(18_200, 1.0)
    assert upkeep(dataset="Texts") == WorkerUpkeep(None, None)


@pytest.mark.parametrize(("timed", "taken_us"), [(10, 100), (20, 50), (5, 100), (4, 100)])
def test_timing_is_taken_off_the_waits_by_their_part_of_the_batches(timed: int, taken_us: float) -> None:
    """Ten waits of 100 µs; 100 µs went into timing so many batches in all."""
    builder = TraceBuilder().operator("aten::mm", 0, 10_000).context(loadings=(loading(batches=timed, own_ns=100_000),))
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).data_wait(at, 100).operator("aten::stack", at + 10, 50)
    found = Results(builder.build()).get(InputPipeline)
    assert found.wait_ns == 1_000_000 - taken_us * 1000
    if timed <= 10:
        assert found.own_each_ns == (100_000 / timed if 2 * timed > 10 else 0.0)
