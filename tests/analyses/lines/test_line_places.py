"""Which line a thread is in."""

from __future__ import annotations

import msgspec
import numpy as np

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.launch_places import LaunchPlaces
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.model.context import FollowedLines, Loader, Optimizer
from gpuprof.model.intervals import Intervals
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder


def places_of(builder: TraceBuilder) -> LinePlaces:
    return Results(builder.build()).get(LinePlaces)


def lines_at(places: LinePlaces, thread: int, *times_us: int) -> list[int]:
    rows = places.at(np.full(len(times_us), thread), np.array(times_us) * 1000)
    return [int(places.events["line"][row]) if row >= 0 else -1 for row in rows]


def ranges(*pairs_us: tuple[int, int]) -> Intervals:
    pairs = np.array(pairs_us, np.int64).reshape(-1, 2) * 1000
    return Intervals(pairs[:, 0], pairs[:, 1])


def test_a_line_holds_until_the_next_one() -> None:
    places = places_of(TraceBuilder().operator("aten::mm", 0, 100).line(1, 10).line(2, 40).line(-1, 60))

    assert lines_at(places, 0, 5, 10, 39, 40, 59, 60, 90) == [-1, 1, 1, 2, 2, -1, -1]
    assert places.own_ns(places.within).tolist() == [30_000, 20_000, 0]


def test_each_thread_has_its_own_lines_and_autograd_those_of_the_main_thread() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 100).line(1, 0).line(4, 50)
    builder.thread("worker").line(7, 20).operator("aten::add", 20, 5)
    builder.thread("autograd").operator("autograd::engine::evaluate_function: MmBackward0", 60, 20)
    builder.thread("somebody").operator("aten::add", 20, 5)
    places = places_of(builder)

    assert [lines_at(places, thread, 30, 70) for thread in range(4)] == [[1, 4], [7, 7], [1, 4], [-1, -1]]
    assert places.own_ns(places.within).tolist() == [50_000, 50_000, 0]


def test_code_of_the_notebook_on_autograds_thread_is_on_its_own_line_and_counts_for_the_line_of_backward() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 100).line(4, 10).line(5, 90)
    builder.thread("autograd").operator("autograd::engine::evaluate_function: OwnBackward", 20, 60)
    builder.line(8, 30, source_file=1, cell_line=-1).line(-1, 60)
    trace = builder.kernel("own", 200, 10, launch_at_us=40).build()
    places = Results(trace).get(LinePlaces)

    assert lines_at(places, 1, 25, 30, 59, 60, 95) == [4, 8, 8, 4, 5]
    assert Results(trace).get(LaunchPlaces).lines(np.array([0])) == (4,)


def test_nothing_is_known_outside_the_time_that_was_followed() -> None:
    followed = FollowedLines(how="monitoring", start_ns=0, end_ns=50_000)
    places = places_of(TraceBuilder().operator("aten::mm", 0, 100).line(3, 10).context(lines=followed))

    assert lines_at(places, 0, 20, 49, 50) == [3, 3, -1]
    assert places.within.total_ns == 50_000


def test_the_clocks_offset_is_taken_into_account() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 100).line(3, 10).line(4, 30)
    places = places_of(builder.context(sampling={"clock_offset_ns": 5_000}))

    assert lines_at(places, 0, 12, 34, 35) == [-1, 3, 4]


def test_lines_of_ranges_are_those_of_the_cell_that_take_a_tenth_or_more() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 1000).line(5, 0).line(2, 100, source_file=1, cell_line=5)
    builder.line(6, 500).line(7, 510).line(8, 900)
    places = places_of(builder)

    assert places.cell_lines(ranges((0, 900))) == (5, 7)
    assert places.cell_lines(ranges((495, 505))) == (5, 6)
    assert places.cell_lines(ranges()) == ()


def test_without_lines_nothing_is_known(empty_trace: Trace) -> None:
    for trace in (empty_trace, TraceBuilder().operator("aten::mm", 0, 100).build()):
        places = Results(trace).get(LinePlaces)
        assert places.how is None and places.within.total_ns == 0
        assert places.at(np.array([0]), np.array([5])).tolist() == [-1]
        assert places.cell_lines(ranges((0, 50))) == ()


def partly(*optimizers: Optimizer) -> TraceBuilder:
    """A step of 100 µs of which only `.item()` on line 9 is known: a wait, an optimizer step with a read in it."""
    loader = Loader(workers=0, line=2, iterations_started=1)
    lines = FollowedLines(how="calls", start_ns=0, end_ns=200_000)
    builder = TraceBuilder().operator("aten::mm", 0, 100).data_wait(0, 20).optimizer_step("Adam", 40, 30)
    builder.line(7, 50, cell_line=7).line(-1, 55).line(9, 80).line(-1, 90)
    return builder.context(lines=lines, loaders=(loader,), optimizers=optimizers)


def test_partial_knowledge_is_completed_by_waits_and_optimizer_steps() -> None:
    places = places_of(partly(Optimizer(name="Adam", parameters=1, elements=1, line=7, steps=1)))

    assert lines_at(places, 0, 10, 25, 45, 57, 69, 75, 85, 95) == [2, -1, 7, 7, 7, -1, 9, -1]


def test_a_line_of_the_dataset_stays_within_the_wait() -> None:
    # GIVEN a dataset whose line 8 is known to run from 5 to 12 µs of the wait for data, which ends at 20
    places = places_of(partly().line(8, 5, cell_line=8).line(-1, 12))
    assert lines_at(places, 0, 2, 8, 15, 25) == [2, 8, 2, -1]


def test_optimizer_steps_of_two_lines_are_not_told_apart() -> None:
    adam = Optimizer(name="Adam", parameters=1, elements=1, line=7, steps=1)
    places = places_of(partly(adam, msgspec.structs.replace(adam, line=8)))

    assert lines_at(places, 0, 10, 45, 52, 57) == [2, -1, 7, -1]


def test_optimizers_of_another_name_or_that_never_stepped_leave_it_clear() -> None:
    adam = Optimizer(name="Adam", parameters=1, elements=1, line=7, steps=1)
    others = (msgspec.structs.replace(adam, name="SGD", line=8), msgspec.structs.replace(adam, steps=0, line=9))

    assert lines_at(places_of(partly(adam, *others)), 0, 45, 57) == [7, 7]
