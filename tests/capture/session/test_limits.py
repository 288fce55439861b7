from __future__ import annotations

import time

from gpuprof.capture.base.options import CaptureOptions
from gpuprof.capture.session.limits import MOST_EVENTS, EventLimit

SECOND = 1_000_000_000
MIB = 1024**2


def limit(**options: bool) -> tuple[EventLimit, int]:
    made = EventLimit(CaptureOptions(**options))
    made.begin(1000 * MIB, 64 * 1024 * MIB)
    return made, time.monotonic_ns()


def test_steady_growth_counts_as_events() -> None:
    made, now = limit()
    passed = [made.passed((1000 + 100 * second) * MIB, now + second * SECOND) for second in range(1, 7)]
    assert passed == [False, False, False, False, True, True]
    assert MOST_EVENTS < made.events < 3_000_000


def test_details_take_more_bytes_an_event() -> None:
    made, now = limit(shapes=True)
    assert not any(made.passed((1000 + 100 * second) * MIB, now + second * SECOND) for second in range(1, 7))


def test_a_sudden_growth_is_not_the_profilers() -> None:
    made, now = limit()
    assert not made.passed(9000 * MIB, now + SECOND)
    assert made.events <= 730_000 * 1.01


def test_memory_that_was_given_back_does_not_count() -> None:
    made, now = limit()
    for second in range(1, 60, 2):
        assert not made.passed(1400 * MIB, now + second * SECOND)
        assert not made.passed(1000 * MIB, now + (second + 1) * SECOND)
    assert made.events == 0


def test_little_free_memory_lowers_it() -> None:
    made, now = limit()
    made.begin(1000 * MIB, 100 * MIB)
    assert made.passed(1010 * MIB, now + SECOND)
