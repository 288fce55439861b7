from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.analyses.modules.nested_spans import NestedSpans

SPANS = st.lists(st.tuples(st.integers(-3, 2), st.integers(0, 50), st.integers(0, 30)), max_size=30)


def of(rows: list[tuple[int, int, int]]) -> NestedSpans:
    threads, starts, lengths = np.array(rows, np.int64).reshape(-1, 3).T
    return NestedSpans.of(threads, starts, starts + lengths)


def test_an_inner_span_takes_its_time_from_the_one_around_it() -> None:
    spans = of([(0, 10, 5), (0, 0, 100), (1, 0, 50), (0, 12, 2)])
    assert spans.source.tolist() == [1, 0, 3, 2]
    assert spans.parent.tolist() == [-1, 0, 1, -1]
    assert spans.own_ns().tolist() == [95, 3, 2, 50]
    asked = np.array([0, 5, 11, 13, 99, 100, 7])
    assert spans.at(np.array([0, 0, 0, 0, 0, 0, 2]), asked).tolist() == [0, 0, 1, 2, 0, -1, -1]


def test_one_that_outlasts_its_parent_ends_with_it() -> None:
    spans = of([(0, 0, 10), (0, 5, 20)])
    assert spans.end_ns.tolist() == [10, 10] and spans.own_ns().tolist() == [5, 5]


@given(SPANS)
def test_own_times_add_up_to_the_time_covered(rows: list[tuple[int, int, int]]) -> None:
    spans = of(rows)
    covered = {(on, at) for on, start, end in zip(spans.thread, spans.start_ns, spans.end_ns, strict=True)
               for at in range(start, end)}  # fmt: skip
    own = spans.own_ns()
    assert (own >= 0).all() and own.sum() == len(covered)
    found = spans.at(*(np.array(each, np.int64) for each in zip(*sorted(covered), strict=True))) if covered else []
    counts = np.bincount(np.array(found, np.int64), minlength=len(own)) if len(found) else np.zeros(len(own), int)
    assert (np.array(found) >= 0).all() and (counts == own).all()
