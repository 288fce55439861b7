from __future__ import annotations

import pytest

from gpuprof.capture.session.steps import StepCount, StepSource


def test_optimizers_count_before_batches() -> None:
    steps = StepCount()
    assert (steps.seen, steps.source) == (0, StepSource.NOTHING)
    steps.batches_used(7)
    assert (steps.seen, steps.source) == (7, StepSource.LOADER)
    steps.optimizer_stepped(1)
    assert (steps.seen, steps.source) == (1, StepSource.OPTIMIZER)
    steps.batches_used(8)
    assert steps.seen == 1


def test_the_busiest_counts() -> None:
    steps = StepCount()
    for times in (1, 1, 2, 2, 3):
        steps.optimizer_stepped(times)
    assert steps.seen == 3


def test_medians_of_chosen_steps() -> None:
    # GIVEN twenty steps of 30 ns, then twenty of 10 ns
    now = iter([each for each in (*range(0, 600, 30), *range(600, 800, 10)) for _ in range(2)])
    steps = StepCount(clock_ns=lambda: next(now))
    for times in range(1, 41):
        steps.optimizer_stepped(times)
    # THEN each part has its own median, and too few have none
    assert steps.median_ns(2, 20) == 30
    assert steps.median_ns(22) == 10
    assert steps.median_ns(34) is None


def test_much_longer_than_a_step_without_one_is_a_pause() -> None:
    now = 0
    count = StepCount(lambda: now)
    count.optimizer_stepped(1)
    now += 5_000_000_000
    assert not count.pausing  # how long a step takes is not known yet
    for number in range(2, 12):
        now += 300_000_000
        count.optimizer_stepped(number)
    now += 2_900_000_000
    assert not count.pausing
    now += 200_000_000
    assert count.pausing
    # THEN of short steps two seconds are one
    for number in range(12, 40):
        now += 1_000_000
        count.optimizer_stepped(number)
    now += 1_900_000_000
    assert not count.pausing
    now += 200_000_000
    assert count.pausing
    # THEN another optimizer's step, which is not the 40th of any, ends it
    count.optimizer_stepped(1)
    assert count.seen == 39 and not count.pausing


def test_the_rate_is_that_of_the_last_seconds() -> None:
    # GIVEN ten steps of 1 s, then forty of 0.1 s
    now = 0
    count = StepCount(lambda: now)
    for number, length_ms in enumerate([1000] * 10 + [100] * 40, start=1):
        now += length_ms * 1_000_000
        count.optimizer_stepped(number)
    assert count.rate_hz() == pytest.approx(8.2, rel=0.02)  # 41 steps in the last 5 s
    # THEN a loop that stands still slows down
    now += 4_000_000_000
    assert (count.rate_hz() or 0) < 3
    assert StepCount(lambda: now).rate_hz() is None
