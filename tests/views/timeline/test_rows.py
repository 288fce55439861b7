"""Rows never overlap, whatever the events."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.views.timeline.rows import row_of_each


def rows(*events: tuple[int, int]) -> list[int]:
    starts, ends = np.array(events, np.int64).T
    return row_of_each(starts, ends).tolist()


def test_nested_events_get_their_depth():
    assert rows((0, 100), (10, 40), (10, 20), (25, 30), (50, 90)) == [0, 1, 2, 2, 1]


def test_touching_events_share_a_row():
    assert rows((0, 10), (10, 20), (20, 20), (20, 30))[:2] == [0, 0]


def test_overlap_without_nesting_is_split():
    assert rows((0, 10), (5, 15), (12, 20)) == [0, 1, 0]


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), min_size=1, max_size=60))
def test_no_two_events_of_a_row_overlap(events):
    ordered = sorted(((s, s + d) for s, d in events), key=lambda e: (e[0], -e[1]))
    starts, ends = np.array(ordered, np.int64).T
    assigned = row_of_each(starts, ends)
    assert (assigned >= 0).all()
    for row in np.unique(assigned):
        mine = assigned == row
        assert (starts[mine][1:] >= np.maximum(ends, starts + 1)[mine][:-1]).all()


def test_a_quarter_million_events_take_as_many_rows_as_run_at_once():
    starts = np.sort(np.random.default_rng(0).integers(0, 10**9, 250_000))
    at_once = (np.arange(1, len(starts) + 1) - np.searchsorted(starts + 3_000, starts, side="right")).max()
    assert row_of_each(starts, starts + 3_000).max() + 1 == at_once
