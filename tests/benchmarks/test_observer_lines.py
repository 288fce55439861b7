"""The sampler of stacks against line events: both are asked for the same time."""

from __future__ import annotations

import pytest

from benchmarks.observer.cells import Cells
from benchmarks.observer.exact_lines import both_of, long_lines, row
from tests.support.trace_builder import CELL_FILE, TraceBuilder

A, B = (CELL_FILE, "<module>", 2), (CELL_FILE, "<module>", 3)
CELLS = Cells("pass\n", "first()\nsecond(\n    3\n)\n")
US = 1e-6


def run() -> TraceBuilder:
    """Line 2 for 600 µs and line 3 for 400 µs, recorded from 0 to 1,000 µs; samples from 100 to 1,500 µs."""
    builder = TraceBuilder().thread("main", main=True).operator("aten::mm", 0, 1_000)
    builder.line(2, 0).line(3, 600).line(-1, 1_000)
    return builder.stack(100, 400, A).stack(500, 600, B).stack(1_100, 400, A)


def test_both_tell_of_the_time_that_both_saw() -> None:
    found = both_of(run().build(), CELLS)
    assert found["seconds"] == pytest.approx(900 * US)
    assert found["samples"] == pytest.approx(0.09)
    assert found["exact"] == {"0:2": pytest.approx(500 * US), "0:3": pytest.approx(400 * US)}
    assert found["sampled"] == {"0:2": pytest.approx(400 * US), "0:3": pytest.approx(500 * US)}


def test_a_statement_of_several_lines_is_one() -> None:
    builder = TraceBuilder().thread("main", main=True).operator("aten::mm", 0, 1_000)
    builder.line(3, 0).line(4, 600).line(-1, 1_000).stack(0, 1_000, (CELL_FILE, "<module>", 4))
    found = both_of(builder.build(), CELLS)
    assert found["exact"] == {"0:3": pytest.approx(1_000 * US)} == found["sampled"]


def test_samples_alone_are_compared_with_nothing() -> None:
    assert both_of(TraceBuilder().operator("aten::mm", 0, 1_000).stack(0, 1_000, A).build(), CELLS) == {}
    assert both_of(TraceBuilder().operator("aten::mm", 0, 1_000).line(2, 0).build(), CELLS) == {}


def test_rounds_count_together_and_short_lines_not_at_all() -> None:
    one = {"seconds": 1.0, "samples": 50.0, "exact": {"0:2": 0.6, "0:3": 0.04}, "sampled": {"0:2": 0.7}}
    other = {"seconds": 3.0, "samples": 150.0, "exact": {"0:2": 1.0, "0:4": 1.6}, "sampled": {"0:2": 1.3, "0:4": 0.8}}
    first, second = long_lines([one, other])
    assert (first.place, second.place) == ("0:2", "0:4")
    assert (first.exact, first.sampled, second.exact, second.sampled) == pytest.approx((0.4, 0.5, 0.4, 0.2))
    assert first.points == pytest.approx(10) and first.error == pytest.approx((0.4 * 0.6 / 200) ** 0.5)
    assert row("small", [one, other]) == "| small | 4.0 | 200 | 2 | 0 | 0:4 | 40.0 % | 20.0 % | 20.0 | 3.5 |"
    assert row("empty", [{**one, "exact": {}, "sampled": {}}]) == "| empty | 1.0 | 50 | 0 | | | | | | |"
