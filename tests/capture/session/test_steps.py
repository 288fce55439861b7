from __future__ import annotations

import numpy as np
import pytest

from gpuprof.capture.look.places import LinePath
from gpuprof.capture.session.steps import StepCount, StepSource
from gpuprof.model.look import LookedPlace


def test_optimizers_count_before_batches() -> None:
    steps = StepCount()
    assert (steps.seen, steps.source) == (0, StepSource.NOTHING)
    steps.batches_used(7)
    assert (steps.seen, steps.source) == (7, StepSource.LOADER)
    steps.optimizer_stepped()
    assert (steps.seen, steps.source) == (1, StepSource.OPTIMIZER)
    steps.batches_used(8)
    assert steps.seen == 1


def test_the_busiest_counts() -> None:
    steps = StepCount()
    for optimizer in (1, 2, 1, 2, 2):
        steps.optimizer_stepped(optimizer)
    assert steps.seen == 3


def test_medians_of_chosen_steps() -> None:
    # GIVEN twenty steps of 30 ns, then twenty of 10 ns
    now = iter([*range(0, 600, 30), *range(600, 800, 10)])
    steps = StepCount(clock_ns=lambda: next(now))
    for _ in range(40):
        steps.optimizer_stepped()
    # THEN each part has its own median, and too few have none
    assert steps.median_ns(2, 20) == 30
    assert steps.median_ns(22, 40) == steps.plain_median_ns(0, 20) == 10
    assert steps.median_ns(34, 40) is None and steps.plain_median_ns(0, 33) is None
    assert steps.plain_median_ns(30, 60) == 30  # plain before the recording
    steps.leave_out(5, 35)
    assert steps.plain_error_share(37, 38) is None


def told(steps: StepCount, now: list[int], optimizer: int, times: int, ns: int, where: LinePath = ()) -> None:
    for _ in range(times):
        now[0] += ns
        steps.optimizer_stepped(optimizer, 1, where)


def line(number: int) -> LinePath:
    return (LookedPlace("", number, "<module>"),)


def test_loops_one_after_the_other_each_have_their_steps() -> None:
    # GIVEN a teacher that makes 30 steps of 20 ns, and its student 40 of 10 ns
    now = [0]
    steps = StepCount(clock_ns=lambda: now[0])
    told(steps, now, 1, 30, 20, line(5))
    now[0] += 1000
    told(steps, now, 2, 7, 10, line(9))
    assert (steps.seen, steps.loop) == (30, line(5))  # as of a GAN that has trained one network alone before
    told(steps, now, 2, 33, 10, line(9))
    # THEN each step has its own time, and what lies between the loops is of neither
    assert (steps.seen, steps.loop) == (70, line(9))
    rows = steps.iterations(0, 20)
    assert rows["duration_ns"].tolist() == [20] * 29 + [1010] + [10] * 39
    assert rows["optimizer_ns"].tolist() == [1] * 69
    # AND plain are those of the loop that was recorded
    assert np.flatnonzero(rows["plain"]).tolist() == list(range(20, 29))
    assert np.flatnonzero(steps.iterations(40, 50)["plain"]).tolist() == [*range(30, 39), *range(50, 69)]
    assert steps.plain_median_ns(40, 50) == 10 and steps.median_ns(0, 30) == 20
    assert not steps.prevails_over(line(5)) and not steps.prevails_over(line(9))
    told(steps, now, 2, 20, 10, line(9))
    assert steps.prevails_over(line(5))


def test_folds_are_one_loop_and_networks_that_take_turns_too() -> None:
    now = [0]
    steps = StepCount(clock_ns=lambda: now[0])
    for fold in range(3):
        for _ in range(20):
            told(steps, now, 2 * fold, 5, 10, line(5))
            told(steps, now, 2 * fold + 1, 1, 10, line(7))
    assert steps.seen == 300
    plain = steps.iterations(0, 20)["plain"]
    # THEN the other folds' iterations are plain as well, but for the first of each
    assert plain.sum() == 300 - 21 - 2 and not plain[99] and not plain[199]
    assert steps.iterations(0, 20)["optimizer_ns"].sum() == 358
    assert not steps.prevails_over(line(5))


def test_much_longer_than_a_step_without_one_is_a_pause() -> None:
    now = 0
    count = StepCount(lambda: now)
    count.optimizer_stepped()
    now += 5_000_000_000
    assert not count.pausing  # how long a step takes is not known yet
    for _ in range(2, 12):
        now += 300_000_000
        count.optimizer_stepped()
    now += 2_900_000_000
    assert not count.pausing
    now += 200_000_000
    assert count.pausing
    # THEN of short steps two seconds are one
    for _ in range(12, 40):
        now += 1_000_000
        count.optimizer_stepped()
    now += 1_900_000_000
    assert not count.pausing
    now += 200_000_000
    assert count.pausing
    # THEN another optimizer's step, which is not the 40th of any, ends it
    count.optimizer_stepped(2)
    assert count.seen == 39 and not count.pausing


def test_the_rate_is_that_of_the_last_seconds() -> None:
    # GIVEN ten steps of 1 s, then forty of 0.1 s
    now = 0
    count = StepCount(lambda: now)
    for length_ms in [1000] * 10 + [100] * 40:
        now += length_ms * 1_000_000
        count.optimizer_stepped()
    assert count.rate_hz() == pytest.approx(8.2, rel=0.02)  # 41 steps in the last 5 s
    # THEN a loop that stands still slows down
    now += 4_000_000_000
    assert (count.rate_hz() or 0) < 3
    assert StepCount(lambda: now).rate_hz() is None
