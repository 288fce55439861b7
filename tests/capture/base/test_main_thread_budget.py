"""One budget for all looks on the cell's own thread."""

from __future__ import annotations

import itertools
import time

import pytest

from gpuprof.capture.base import main_thread_budget
from gpuprof.capture.base.main_thread_budget import MainThreadBudget
from gpuprof.units import NS_PER_MS, NS_PER_S


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock: set its only item."""
    now = [0.0]

    class Clock:
        @staticmethod
        def perf_counter_ns() -> int:
            return int(now[0] * NS_PER_S)

        thread_time_ns = time.thread_time_ns

    monkeypatch.setattr(main_thread_budget, "time", Clock)
    return now


@pytest.mark.parametrize(("after_s", "allowed_ms"), [(0, 16), (1, 22), (10, 76), (20, 101), (30, 126), (600, 696)])
def test_it_grows_with_the_cell(seconds: list[float], after_s: float, allowed_ms: int) -> None:
    budget = MainThreadBudget()
    seconds[0] = after_s
    assert budget.allowed_ns == allowed_ms * NS_PER_MS


def test_it_begins_with_the_cell(seconds: list[float]) -> None:
    budget = MainThreadBudget()
    budget.part(1).spend(17 * NS_PER_MS)
    seconds[0] = 100
    budget.begin()
    assert budget.spent_ns == 0 and budget.allowed_ns == 16 * NS_PER_MS


def test_a_part_ends_at_its_own_share_and_at_that_of_all(seconds: list[float]) -> None:
    budget = MainThreadBudget()
    small, large, beyond = budget.part(0.25), budget.part(1), budget.part(1, beyond_ns=5 * NS_PER_MS)
    small.spend(5 * NS_PER_MS)
    assert not small.is_left and large.is_left
    large.spend(12 * NS_PER_MS)
    assert not large.is_left and beyond.is_left
    beyond.spend(5 * NS_PER_MS)
    assert beyond.is_left and budget.spent_ns == 17 * NS_PER_MS
    beyond.spend(NS_PER_MS)
    assert not beyond.is_left and budget.spent_ns == 18 * NS_PER_MS
    seconds[0] = 2
    assert small.is_left and large.is_left and beyond.is_left


def test_all_parts_together_take_no_more_than_the_whole(seconds: list[float]) -> None:
    budget = MainThreadBudget()
    parts = [budget.part(each) for each in (0.6, 0.25, 1)]
    for seconds[0] in itertools.takewhile(lambda now: now < 60, itertools.count(step=0.1)):
        for part in parts:
            if part.is_left:
                part.spend(NS_PER_MS)
    assert budget.spent_ns <= budget.allowed_ns + NS_PER_MS
    # nobody is left out
    assert all(part.spent_ns >= 15 * NS_PER_MS for part in parts)


def test_little_used(seconds: list[float]) -> None:
    part = MainThreadBudget().part(0.5)
    part.spend(3 * NS_PER_MS)
    assert part.is_little_used
    part.spend(NS_PER_MS)
    assert not part.is_little_used


def test_processor_time_counts_also_where_it_raises() -> None:
    part = MainThreadBudget().part(1)
    with pytest.raises(ZeroDivisionError), part.spending():
        began_ns = time.thread_time_ns()
        while time.thread_time_ns() - began_ns < NS_PER_MS:
            pass
        raise ZeroDivisionError
    spent_ns = part.spent_ns
    assert spent_ns >= NS_PER_MS
    with part.spending():
        time.sleep(0.05)
    assert part.spent_ns - spent_ns < 20 * NS_PER_MS
