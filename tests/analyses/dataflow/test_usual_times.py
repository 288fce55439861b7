"""Operators that something held up."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from gpuprof.analyses.dataflow.usual_times import usual_durations
from tests.rules.needless.unread_runs import recorded
from tests.support.look_builder import LookBuilder
from tests.support.trace_builder import TraceBuilder


def durations(*times_us: float, sizes: tuple[int, ...] = ()) -> list[float]:
    """Of products of one size, or of these, us."""
    look = LookBuilder(recorded("aten::mm", "aten::mm", "y = x @ w\n"))
    for at, spent in enumerate(times_us):
        size = sizes[at] if sizes else 8
        look.tensor("x", shape=(size, size)).tensor("w", shape=(size, size))
        look.operator("aten::mm", spent, reads="x w", makes="y", shape=(size, size), line=1, iteration=at)
        look.free("x w y")
    return [each / 1000 for each in usual_durations(look.build()).tolist()]


def test_one_that_takes_far_longer_than_its_like() -> None:
    assert durations(10, 11, 400) == [10, 11, 33]
    # of two the shorter one tells
    assert durations(400, 10) == [30, 10]
    assert durations(10, 20, 25) == [10, 20, 25]


def test_alone_of_its_size_it_counts_in_full() -> None:
    assert durations(10, 400, 11, sizes=(8, 64, 8)) == [10, 400, 11]
    assert len(usual_durations(TraceBuilder().build())) == 0


@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=12))
def test_never_longer_and_never_less_than_the_shortest(times: list[int]) -> None:
    found = durations(*times)
    assert all(min(times) <= usual <= spent for usual, spent in zip(found, times, strict=True))
    assert np.all(np.sort(found) == np.sort(durations(*reversed(times))))
