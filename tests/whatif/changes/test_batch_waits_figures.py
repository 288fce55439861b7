"""Waits for batches against a simulation event by event, which knows nothing of the formula."""

from __future__ import annotations

import heapq

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gpuprof.whatif.changes.batch_waits import HAND_OVER_NS, PREFETCH_FACTOR, waits_with_workers

MS = 1_000_000


def simulated(load: list[int], rest: list[int], workers: int, prefetch: int) -> list[int]:
    """Workers with a queue of batches each; the loop takes them in order, and hands out the next number each time."""
    count, twice = 2 * len(load), 2 * load
    queues: list[list[tuple[int, int]]] = [[] for _ in range(workers)]
    for number in range(min(count, workers * prefetch)):
        queues[number % workers].append((number, 0))
    free, ready, now, handed, waits = [0] * workers, dict[int, int](), 0, workers * prefetch, list[int]()
    for number in range(count):
        for worker, queue in enumerate(queues):
            heapq.heapify(queue)
            while queue:
                batch, asked = heapq.heappop(queue)
                free[worker] = max(free[worker], asked) + twice[batch]
                ready[batch] = free[worker]
        taken = max(now, ready[number] + HAND_OVER_NS)
        waits.append(taken - now)
        if handed < count:
            queues[handed % workers].append((handed, taken))
            handed += 1
        now = taken + (2 * rest)[number]
    return waits[len(load) :]


@given(
    st.lists(st.tuples(st.integers(0, 90), st.integers(0, 60)), min_size=1, max_size=12),
    st.integers(1, 4),
    st.integers(1, 3),
)
@example([(90, 5), (1, 5), (1, 60)], 2, 1)
@example([(90, 0), (30, 0), (7, 0), (80, 0), (5, 0)], 3, 2)
@example([(50, 20)] * 6, 2, 2)
@example([(20, 50)] * 6, 1, 1)
def test_as_a_simulation_says(batches: list[tuple[int, int]], workers: int, prefetch: int) -> None:
    load, rest = ([each[at] * MS for each in batches] for at in range(2))
    found = waits_with_workers(np.array(load), np.array(rest), workers, prefetch=prefetch)
    assert found.tolist() == simulated(load, rest, workers, prefetch)


def test_figures_by_hand() -> None:
    """One worker, one batch ahead: it begins the next batch when one is taken, and is asked 20 ms later."""
    assert waits_with_workers(np.array([50 * MS] * 3), 20 * MS, 1, prefetch=1).tolist() == [30 * MS + HAND_OVER_NS] * 3
    assert waits_with_workers(np.array([50 * MS] * 3), 20 * MS, 1).tolist() == pytest.approx([30 * MS] * 3)
    assert (HAND_OVER_NS, PREFETCH_FACTOR) == (700_000, 2)
