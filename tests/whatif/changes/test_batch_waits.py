"""Waits for batches that workers make: formula 1 of docs/design/whatif.md."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gpuprof.whatif.changes.batch_waits import HAND_OVER_NS, waits_with_workers

MS = 1_000_000
loads = st.lists(st.integers(1, 300), min_size=4, max_size=30).map(lambda each: np.array(each) * MS)


def test_enough_workers_leave_no_wait():
    assert (waits_with_workers(np.full(10, 90 * MS), 50 * MS, 2) == 0).all()


def test_too_few_workers_are_waited_for():
    """Two workers give a batch every 50 ms to a loop that asks every 20 ms."""
    waits = waits_with_workers(np.full(40, 100 * MS), 20 * MS, 2)
    assert waits[-20:].mean() == pytest.approx(30 * MS, rel=0.01)


def test_a_slow_batch_is_hidden_as_far_as_others_are_ready():
    load = np.full(20, 10 * MS)
    load[10] = 100 * MS
    waits = waits_with_workers(load, 30 * MS, 1, prefetch=2)
    # Two batches are ready when the slow one is begun: 60 ms of work hide as much of it.
    assert waits[10] == pytest.approx(100 * MS + HAND_OVER_NS - 60 * MS, abs=10 * MS)
    assert waits.sum() == waits[10]


@given(loads, st.integers(1, 200), st.integers(1, 4))
@example(np.array([3, 7, 1, 9, 10, 1]) * MS, 1, 4)
def test_more_workers_never_wait_more(load, rest, workers):
    few, more = (waits_with_workers(load, rest * MS, each).sum() for each in (workers, 2 * workers))
    # with more of them, one wait may be counted that fewer already have in the pass that does not count
    assert more <= few + load.max()
    assert (waits_with_workers(load, rest * MS, len(load) + 1) >= 0).all()


@given(loads, st.integers(1, 200))
def test_one_worker_never_makes_a_loop_slower_than_its_own_work_and_the_batches(load, rest):
    waits = waits_with_workers(load, rest * MS, 1)
    assert waits.sum() <= load.sum() + len(load) * HAND_OVER_NS
