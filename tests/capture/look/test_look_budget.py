"""What looking may take of a cell, and when another look fits."""

from __future__ import annotations

import pytest

from gpuprof.capture.look import look_budget
from gpuprof.capture.look.look_budget import ITERATIONS, LookBudget
from gpuprof.units import NS_PER_MS, NS_PER_S


class Clock:
    """Stands for `time.perf_counter_ns`."""

    def __init__(self) -> None:
        self.now_ns = 10**12

    def perf_counter_ns(self) -> int:
        return self.now_ns


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(look_budget, "time", clock)
    return clock


def test_it_grows_with_the_cell_up_to_a_second(clock: Clock) -> None:
    budget = LookBudget(asked=False)
    assert (budget.left_ns, budget.old_enough) == (0, False)
    clock.now_ns += 4 * NS_PER_S
    assert (budget.left_ns, budget.old_enough) == (NS_PER_S // 5, True)
    clock.now_ns += 100 * NS_PER_S
    assert budget.left_ns == NS_PER_S


def test_all_of_it_is_there_at_once_where_it_was_asked_for(clock: Clock) -> None:
    budget = LookBudget(asked=True)
    assert budget.old_enough and budget.left_ns == NS_PER_S


def test_an_iteration_is_expected_to_take_a_fifth_longer(clock: Clock) -> None:
    budget = LookBudget(asked=False)
    clock.now_ns += 10 * NS_PER_S
    assert budget.suffices(1_250 * NS_PER_MS) and not budget.suffices(1_251 * NS_PER_MS)
    assert budget.iterations(1_250 * NS_PER_MS) == ITERATIONS
    assert budget.iterations(833 * NS_PER_MS) == ITERATIONS + 1


def test_iterations_that_take_longer_than_it_can_grow_are_begun_all_the_same(clock: Clock) -> None:
    budget = LookBudget(asked=False)
    clock.now_ns += 19 * NS_PER_S
    assert not budget.suffices(25 * NS_PER_S)
    clock.now_ns += NS_PER_S
    assert budget.suffices(25 * NS_PER_S)


def test_after_one_that_was_cut_off_it_waits_for_what_that_needed(clock: Clock) -> None:
    budget = LookBudget(asked=False)
    clock.now_ns += 4 * NS_PER_S
    # 200 ms of looking saw a quarter of an iteration of 100 ms: 800 ms each, and a margin
    assert not budget.cut_off(200 * NS_PER_MS, 0, 25 * NS_PER_MS, 100 * NS_PER_MS)
    assert budget.spent_ns == 0
    assert budget.cut_off(200 * NS_PER_MS, 0, 100 * NS_PER_MS, 100 * NS_PER_MS)
    assert budget.left_ns == 0
    clock.now_ns += 9 * NS_PER_S
    assert not budget.suffices(100 * NS_PER_MS)
    clock.now_ns += NS_PER_S
    assert budget.suffices(100 * NS_PER_MS)
    assert budget.iterations(100 * NS_PER_MS) == ITERATIONS


def test_where_two_iterations_take_too_long_one_is_looked_at(clock: Clock) -> None:
    budget = LookBudget(asked=False)
    clock.now_ns += 4 * NS_PER_S
    # 500 ms each with the margin, of 800 that are left
    assert budget.cut_off(200 * NS_PER_MS, 0, 50 * NS_PER_MS, 100 * NS_PER_MS)
    clock.now_ns += 9 * NS_PER_S
    assert not budget.suffices(100 * NS_PER_MS)
    clock.now_ns += NS_PER_S
    assert budget.suffices(100 * NS_PER_MS) and budget.iterations(100 * NS_PER_MS) == 1


def test_what_took_no_time_or_has_no_steps_is_not_taken_again(clock: Clock) -> None:
    budget = LookBudget(asked=True)
    assert not budget.cut_off(NS_PER_MS, 0, 0, NS_PER_MS)
    assert not budget.cut_off(NS_PER_MS, 0, NS_PER_MS, 0)


def test_the_beginning_of_a_look_is_not_counted_for_each_iteration(clock: Clock) -> None:
    budget = LookBudget(asked=True)
    assert budget.cut_off(300 * NS_PER_MS, 200 * NS_PER_MS, 50 * NS_PER_MS, 100 * NS_PER_MS)
    assert not budget.suffices(100 * NS_PER_MS) or budget.left_ns >= 500 * NS_PER_MS
    assert budget.left_ns == 700 * NS_PER_MS


@pytest.mark.parametrize(("once_ms", "another"), [(0, False), (400, True)])
def test_what_a_device_loads_is_not_expected_again(clock: Clock, once_ms: int, another: bool) -> None:
    """GIVEN half a second of which 400 ms began the look; an iteration needs 125 ms of looking."""
    budget = LookBudget(asked=False)
    clock.now_ns += 100 * NS_PER_S
    cost, set_up = 500 * NS_PER_MS, 400 * NS_PER_MS
    assert budget.cut_off(cost, set_up, 100 * NS_PER_MS, 100 * NS_PER_MS, once_ns=once_ms * NS_PER_MS) is another
