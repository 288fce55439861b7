"""When the lines of a cell without steps show that it goes round, and when they show that it does something else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpuprof.capture.session.even_lines import EvenLines
from gpuprof.units import NS_PER_S


def first_even_s(
    place_at: Callable[[int], int], heap_at: Callable[[int], int] = lambda tick: tick, seconds: int = 30
) -> float | None:
    """The second at which it says so, looked at ten times a second."""
    lines = EvenLines()
    for tick in range(seconds * 10 + 1):
        lines.note(tick * NS_PER_S // 10, place_at(tick), heap_at(tick))
        if lines.even():
            return tick / 10
    return None


def test_the_same_lines_again_and_again_are_even_after_three_seconds() -> None:
    assert first_even_s(lambda tick: tick % 4) == pytest.approx(3.0)


def test_slow_iterations_take_longer_to_tell() -> None:
    # GIVEN iterations of 2 s, each with two halves
    found = first_even_s(lambda tick: tick // 10 % 2)
    assert found is not None and 3.0 <= found <= 6.0


def test_what_comes_before_the_loop_is_waited_for() -> None:
    found = first_even_s(lambda tick: tick if tick < 100 else 1_000 + tick % 3)
    assert found is not None and 12.0 < found <= 13.0


@pytest.mark.parametrize(
    ("place_at", "heap_at"),
    [
        (lambda tick: tick, lambda tick: tick),  # one line after the other
        (lambda tick: 7, lambda tick: 5),  # one long call
        (lambda tick: -1, lambda tick: tick),  # lines of nobody
        (lambda tick: tick // 8, lambda tick: tick),  # part after part
    ],
)
def test_other_cells_are_not_even(place_at: Callable[[int], int], heap_at: Callable[[int], int]) -> None:
    assert first_even_s(place_at, heap_at) is None


def recorded() -> EvenLines:
    lines = EvenLines()
    for tick in range(40):
        lines.note(tick * NS_PER_S // 10, tick % 3, tick)
    return lines


def test_three_seconds_at_lines_that_were_not_recorded_are_other_work() -> None:
    lines = recorded()
    told = [lines.elsewhere(tick * NS_PER_S // 10, 10 + tick % 2) for tick in range(40, 80)]
    assert told.index(True) == pytest.approx(24, abs=1) and told[-1]


def test_the_lines_that_were_recorded_and_unknown_ones_are_not() -> None:
    lines = recorded()
    assert not any(lines.elsewhere(tick * NS_PER_S // 10, (tick % 3, -1)[tick % 2]) for tick in range(40, 100))


def test_a_new_recording_begins_anew() -> None:
    lines = recorded()
    lines.begin()
    assert not any(lines.elsewhere(tick, 1) for tick in range(29))
    assert lines.elsewhere(30, 1)
