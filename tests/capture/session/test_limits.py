from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.capture.base.options import CaptureOptions
from gpuprof.capture.session.limits import MOST_EVENTS, EventLimit, RecordingGaps, UnusedHeap

SECOND = 1_000_000_000
TICK = SECOND // 10
MIB = 1024**2


def limit(free: int = 64 * 1024 * MIB, **options: bool) -> EventLimit:
    made = EventLimit(CaptureOptions(**options))
    made.begin(1000 * MIB, free, 0)
    return made


def test_steady_growth_counts_as_events() -> None:
    """GIVEN a loop of small operators, 200,000 events per second of 208 bytes each."""
    made = limit()
    passed = [made.passed(1000 * MIB + 208 * 20_000 * tick, tick * TICK) for tick in range(1, 40)]
    assert made.events == 20_000 * 39
    assert passed.index(True) == MOST_EVENTS // 20_000


def test_the_most_events_that_an_earlier_recording_had_are_kept() -> None:
    made = limit()
    assert made.discarded_events == 0
    for tick in range(1, 11):
        made.passed(1000 * MIB + 208 * 20_000 * tick, tick * TICK)
    made.begin(1000 * MIB, 0, 11 * TICK)
    assert (made.events, made.discarded_events) == (0, 200_000)
    made.begin(1000 * MIB, 0, 12 * TICK)
    assert made.discarded_events == 200_000


def test_details_take_more_bytes_and_time_per_event() -> None:
    """GIVEN limits of 900 MiB once ended, and of 3 s to end."""
    most = [limit(**options).most_events for options in ({}, {"shapes": True}, {"memory": True}, {"stacks": True})]
    assert most == [600_000, 333_333, 333_333, 589_824]


def test_a_sudden_growth_is_not_the_profilers() -> None:
    made = limit()
    assert not made.passed(9000 * MIB, TICK)
    assert made.events <= 73_000
    assert not made.passed(1010 * MIB, 2 * TICK)
    assert made.events <= 10 * MIB / 208


@pytest.mark.parametrize("events_per_s", [1_000_000, 1_600_000, 3_000_000])
def test_operators_faster_than_usual_are_told_by_what_stays(events_per_s: int) -> None:
    """GIVEN a loop over single elements on a fast machine: more than is usual, and none of it is given back."""
    made = limit()
    passed = [made.passed(1000 * MIB + 208 * events_per_s // 10 * tick, tick * TICK) for tick in range(1, 40)]
    assert passed.index(True) + 1 <= 1 + max(6, 10 * MOST_EVENTS // events_per_s)


def test_what_a_device_loads_at_first_is_not_the_profilers() -> None:
    """GIVEN libraries and kernels that take 450 MB in 1.5 s and keep them, then 100,000 events a second."""
    loaded = [1000 * MIB + min(tick, 15) * 30 * MIB + 208 * 10_000 * max(tick - 15, 0) for tick in range(1, 90)]
    on_device, without = limit(), limit()
    passed = [on_device.passed(heap, tick * TICK, device=True) for tick, heap in enumerate(loaded, 1)]
    assert passed.index(True) >= 15 + MOST_EVENTS // 10_000 - 30
    # the same growth without a device may be events
    assert [without.passed(heap, tick * TICK) for tick, heap in enumerate(loaded, 1)].index(True) < 30


@pytest.mark.parametrize("events_per_s", [200_000, 600_000, 1_000_000])
def test_events_beside_a_device_end_the_recording_all_the_same(events_per_s: int) -> None:
    made = limit()
    heaps = (1000 * MIB + 208 * events_per_s // 10 * tick for tick in range(1, 90))
    passed = [made.passed(heap, tick * TICK, device=True) for tick, heap in enumerate(heaps, 1)]
    # where they come faster than launches can, from when its libraries must be there
    assert passed.index(True) <= max(MOST_EVENTS * 10 // events_per_s, 30) + 20


def test_tensors_that_are_given_back_soon_are_not_taken_for_events() -> None:
    """GIVEN no steps, and 120 MiB that come in 0.4 s and go, as fast as events could."""
    made, now = limit(), 0
    for _ in range(50):
        for held in (40, 80, 120, 120, 0):
            now += TICK
            assert not made.passed((1000 + held) * MIB, now)


def test_nor_where_other_programs_have_the_processor_meanwhile() -> None:
    """GIVEN 200 MiB in half a second that are held for 2 s, of which the process runs a fifth THEN they are not events,
    and those that are held while it runs are."""
    held = [(1000 + 40 * min(tick, 5)) * MIB for tick in range(1, 23)]
    waits, runs = limit(), limit()
    assert not any(waits.passed(each, tick * TICK, tick * TICK // 5) for tick, each in enumerate(held, 1))
    assert any(runs.passed(each, tick * TICK) for tick, each in enumerate(held, 1))


def test_within_a_long_step_they_have_time_until_its_end() -> None:
    rising = [(1000 + 40 * tick) * MIB for tick in range(1, 40)]
    first, known = limit(), limit()
    known.begin(1000 * MIB, 64 * 1024 * MIB, 0, step_ns=2 * SECOND)
    assert [first.passed(held, tick * TICK) for tick, held in enumerate(rising, 1)].index(True) <= 7
    told = [known.passed(held, tick * TICK) for tick, held in enumerate(rising, 1)]
    assert 30 <= told.index(True) <= 32


def test_memory_that_was_given_back_does_not_count() -> None:
    made = limit()
    for second in range(1, 60, 2):
        assert not made.passed(1100 * MIB, second * SECOND)
        assert not made.passed(1000 * MIB, (second + 1) * SECOND)
        assert made.events == 0


@pytest.mark.parametrize("gradients", [0, 20, 200])
@pytest.mark.parametrize("activations", [0, 100, 300, 900])
def test_activations_that_come_and_go_do_not_count(activations: int, gradients: int) -> None:
    """GIVEN 22 steps of a second with 10,000 events, the first of which keeps gradients."""
    made, now, heap = limit(), 0, 1000 * MIB
    for step in range(22):
        for tick in range(1, 11):
            now += TICK
            heap += 208 * 1000
            kept = gradients * MIB if step or tick > 8 else 0
            held = activations * MIB * min(tick, 10 - tick) // 5
            passed = made.passed(heap + kept + held, now)
            # in the first step nothing tells activations from events; the recording starts over after it
            assert not passed or not step
        made.step_ended(heap + kept, now, step=step + 1)
    assert 200_000 <= made.events <= 220_000 + MOST_EVENTS // 2


def test_events_of_steps_still_count() -> None:
    """GIVEN steps of 40,000 events in a second that also allocate 300 MiB and free it."""
    made, now, heap = limit(), 0, 1000 * MIB
    made.begin(heap, 64 * 1024 * MIB, 0, step_ns=SECOND)
    for step in range(40):
        for tick in range(1, 11):
            now += TICK
            heap += 208 * 4_000
            if made.passed(heap + 300 * MIB * min(tick, 10 - tick) // 5, now):
                assert 0.7 * MOST_EVENTS <= 40_000 * step + 4_000 * tick <= 1.3 * MOST_EVENTS
                return
        made.step_ended(heap, now, step=step + 1)
    pytest.fail("it was never passed")


@given(st.lists(st.integers(0, 73_000), min_size=40, max_size=120))
def test_whatever_the_rate_a_plain_loop_ends_in_time(events: list[int]) -> None:
    made, held = limit(), 0
    for tick, more in enumerate(events, 1):
        held += more
        assert made.passed(1000 * MIB + 208 * held, tick * TICK) == (held > MOST_EVENTS)


def test_a_heap_that_falls_is_given_time_for_a_step_to_end() -> None:
    """GIVEN a first step that allocates 75 MiB and frees it, then 125 MiB WHEN it has not ended."""
    made = limit()
    assert not made.passed(1075 * MIB, 6 * TICK)
    assert not made.passed(1000 * MIB, 7 * TICK)
    assert not made.passed(1125 * MIB, 82 * TICK)
    assert made.passed(1125 * MIB, 83 * TICK)


def test_little_free_memory_lowers_it() -> None:
    made = limit(free=100 * MIB)
    assert made.most_events == 37_449
    assert made.passed(1010 * MIB, SECOND)


def test_events_of_steps_leave_out_what_the_first_step_keeps() -> None:
    """GIVEN a first step that keeps 200 MiB, and 5,000 events per step after it."""
    made = limit()
    assert made.events_of_steps(0) == 0
    for step in range(11):
        made.step_ended(1200 * MIB + 208 * 5_000 * step, (step + 1) * SECOND, step=step + 1)
    assert made.events_of_steps(11) == 50_000


def test_events_of_steps_are_seen_where_something_large_is_freed_or_kept() -> None:
    """GIVEN 5,000 events per step, and between two of them what an earlier cell had made goes, or a cache fills."""
    for jump in (-300 * MIB, 300 * MIB):
        made = limit()
        for step in range(11):
            made.step_ended(
                1200 * MIB + 208 * 5_000 * step + (jump if step > 4 else 0), (step + 1) * SECOND, step=step + 1
            )
        assert made.events_of_steps(11) == 50_000


def test_events_of_steps_count_the_steps_between_two_looks() -> None:
    """GIVEN 5,000 events per step, and a heap that is looked at seldom."""
    made = limit()
    for step in (2, 5, 6, 40):
        made.step_ended(1200 * MIB + 208 * 5_000 * step, step * SECOND, step=step)
    assert made.events_of_steps(40) == 38 * 5_000
    assert made.events_of_steps(100) == 98 * 5_000


def test_a_heap_that_only_shrinks_shows_no_events() -> None:
    made = limit()
    for step in range(5):
        made.step_ended(1200 * MIB - MIB * step, (step + 1) * SECOND, step=step + 1)
    assert made.events_of_steps(5) == 0


def test_what_the_process_holds_and_nobody_uses() -> None:
    """GIVEN 16 GiB free: two of them may be spoiled."""
    unused = UnusedHeap()
    unused.begin(1500 * MIB, 1000 * MIB, 16 * 1024 * MIB)
    assert not unused.passed(4000 * MIB, 3500 * MIB)
    assert not unused.passed(1500 * MIB + 2048 * MIB, 1000 * MIB)
    assert unused.passed(1501 * MIB + 2048 * MIB, 1000 * MIB)


@pytest.mark.parametrize(("free", "most"), [(0, 1), (1024, 1), (64 * 1024, 4)])
def test_it_is_one_gib_at_least_and_four_at_most(free: int, most: int) -> None:
    unused = UnusedHeap()
    unused.begin(0, 0, free * MIB)
    assert not unused.passed(most * 1024 * MIB, 0)
    assert unused.passed(most * 1024 * MIB + 1, 0)


def test_gaps_are_what_the_process_grew_beyond_what_it_allocated() -> None:
    gaps = RecordingGaps()
    gaps.begin(500, 300)
    for resident, allocated, most in ((600, 400, 0), (900, 350, 300), (900, 600, 100), (700, 300, 100)):
        gaps.note(resident, allocated)
        assert gaps.bytes == most
    gaps.begin(700, 300)
    gaps.note(710, 310)
    assert gaps.bytes == 0


def test_what_ending_a_recording_took_counts_where_another_one_takes_its_place() -> None:
    gaps = RecordingGaps()
    gaps.ended(900)  # none has run
    gaps.begin(1_000, 1_000)
    gaps.note(1_500, 1_400)
    gaps.ended(4_000)
    gaps.ended(9_000)  # the cell's own
    assert gaps.discarded_bytes == gaps.discarded_ns == 0
    gaps.begin(9_000, 9_000)
    assert gaps.discarded_bytes == 2_500 and 0 < gaps.discarded_ns <= time.time_ns()
    # the next one begins at once, without a look in between; the larger one counts
    gaps.note(9_100, 9_100)
    gaps.begin(9_300, 9_300)
    assert gaps.discarded_bytes == 2_500
