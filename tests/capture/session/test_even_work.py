"""When the recording of a cell without steps holds enough."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpuprof.capture.session.even_work import EvenWork
from gpuprof.units import NS_PER_S


def first_even_s(events_at: Callable[[float], float], seconds: float = 30.0) -> float | None:
    """The second at which it says so, looked at ten times a second."""
    work = EvenWork()
    for tick in range(int(seconds * 10) + 1):
        if work.note(tick * NS_PER_S // 10, int(events_at(tick / 10))):
            return tick / 10
    return None


def test_even_work_is_enough_after_three_seconds() -> None:
    assert first_even_s(lambda s: 1_000 * s) == pytest.approx(3.0)


def test_what_comes_before_the_work_is_waited_for() -> None:
    # GIVEN ten seconds of loading a model, with hardly an event
    found = first_even_s(lambda s: max(s - 10, 0) * 1_000)
    assert found is not None and 12.0 < found <= 13.0


@pytest.mark.parametrize(
    "events_at",
    [
        lambda s: 100 * s,  # too few to tell of
        lambda s: 0,
        lambda s: 20_000 if s > 2 else 0,  # all at once
        lambda s: 10_000 * (s // 5),  # now and then
    ],
)
def test_few_events_or_uneven_ones_are_not(events_at: Callable[[float], float]) -> None:
    assert first_even_s(events_at) is None


def test_a_falling_estimate_is_no_work() -> None:
    # what the cell frees lowers the estimate, and it comes again
    assert first_even_s(lambda s: 5_000 * (1 - (s % 2) / 2)) is None


def test_a_new_recording_begins_anew() -> None:
    work = EvenWork()
    for tick in range(29):
        assert not work.note(tick * NS_PER_S // 10, 100 * tick)
    work.begin()
    assert not work.note(3 * NS_PER_S, 10_000)
