"""Pixel columns are exact at any number of events."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.model.intervals import Intervals, union
from gpuprof.views.static_png.columns import FAINTEST, blend, rgb, shares

SPANS = st.lists(st.tuples(st.integers(0, 990), st.integers(1, 300)), min_size=1, max_size=40)


def intervals(pairs):
    starts = np.array([start for start, _ in pairs], np.int64)
    return Intervals(starts, starts + np.array([length for _, length in pairs], np.int64))


@given(SPANS, st.integers(1, 50))
def test_columns_add_up_to_the_time_covered(pairs, width):
    part = intervals(pairs)
    covered = np.minimum(union(part).ends, 1000) - np.minimum(union(part).starts, 1000)
    edges = np.diff(np.linspace(0, 1000, width + 1).astype(np.int64))
    columns = shares({"kernel": part}, 0, 1000, width)["kernel"]
    assert np.isclose((columns * edges).sum(), covered.sum())
    assert columns.min() >= 0
    assert columns.max() <= 1


def test_a_million_short_events_leave_no_false_gap():
    starts = np.arange(1_000_000, dtype=np.int64) * 10
    columns = shares({"kernel": Intervals(starts, starts + 9)}, 0, 10_000_000, 1000)["kernel"]
    assert np.allclose(columns, 0.9)


def test_a_span_shorter_than_its_columns_is_drawn():
    columns = shares({"kernel": intervals([(0, 5)])}, 0, 5, 100)["kernel"]
    assert columns[:5].tolist() == [1.0] * 5


def test_colours_mix_by_share_and_the_least_event_is_seen():
    parts = {"a": np.array([1.0, 0.5, 0.0001, 0.0]), "b": np.array([0.0, 0.5, 0.0, 0.0])}
    columns = blend(parts, {"a": "#ff0000", "b": "#0000ff"}, "#ffffff")
    assert columns[0].tolist() == [255, 0, 0]
    assert columns[1].tolist() == [128, 0, 128]
    assert columns[2].tolist() == np.rint(rgb("#ff0000") * FAINTEST + 255 * (1 - FAINTEST)).tolist()
    assert columns[3].tolist() == [255, 255, 255]
