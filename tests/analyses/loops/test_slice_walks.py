"""Which dimension the slices of a loop walk along."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpuprof.analyses.loops.slice_walks import Walk, slice_walks, standing_slices, unbound_walk
from gpuprof.ingest.load import load_trace
from tests.support.trace_builder import TraceBuilder


def _walks(name: str, values: list[str | None], dims: str | None = "[[12, 5, 3], [], []]") -> tuple[Walk, ...] | None:
    """Turns of that slice and a product."""
    builder = TraceBuilder()
    for turn, given in enumerate(values):
        builder.operator(name, 20 * turn, 5, dims=dims, values=given).operator("aten::mm", 20 * turn + 10, 5)
    return slice_walks(builder.build(), np.arange(2 * len(values)).reshape(-1, 2))


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("aten::select", '["", "0", "{0}"]', (Walk(12, 0, (5, 3)),)),
        ("aten::select", '["", "1", "{0}"]', (Walk(5, 1, (12, 3)),)),
        ("aten::select", '["", "-1", "{0}"]', (Walk(3, 2, (12, 5)),)),
        ("aten::slice", '["", "0", "{0}", "{1}", "1"]', (Walk(12, 0, (5, 3)),)),
        ("aten::narrow", '["", "1", "{0}", "1"]', (Walk(5, 1, (12, 3)),)),
        ("aten::slice", '["", "0", "0", "9223372036854775807", "1"]', ()),
        ("aten::slice", '["", "0", "{0}", "12", "1"]', ()),
        ("aten::select", '["", "0", "0"]', ()),
        ("aten::relu", '["", "0", "{0}"]', ()),
        ("aten::select", '["", "7", "{0}"]', None),
        ("aten::select", '["", "0", ""]', None),
        ("aten::select", "cut off", None),
    ],
)
def test_a_walk_takes_one_index_after_the_other(name: str, values: str, expected: Any) -> None:
    assert _walks(name, [values.format(turn, turn + 1) for turn in range(3)]) == expected


@pytest.mark.parametrize(("indices", "walked"), [((2, 1, 0), True), ((-3, -2, -1), True), ((0, 2, 1), False)])
def test_it_may_go_backwards_but_not_to_and_fro(indices: tuple[int, ...], walked: bool) -> None:
    assert bool(_walks("aten::select", [f'["", "0", "{index}"]' for index in indices])) == walked


@pytest.mark.parametrize(("dims", "values"), [(None, '["", "0", "1"]'), ("[[12, 3]]", None)])
def test_without_shapes_or_indices_nothing_is_known(dims: str | None, values: str | None) -> None:
    assert _walks("aten::select", [values] * 3, dims) is None


def test_a_slice_that_stands_still_is_told_from_one_that_walks() -> None:
    """GIVEN turns that take one row, the next column of it each, and a part of every row."""
    builder = TraceBuilder()
    for turn in range(3):
        builder.operator("aten::select", 30 * turn, 5, dims="[[12, 5], [], []]", values='["", "0", "7"]')
        builder.operator("aten::select", 30 * turn + 10, 5, dims="[[5], [], []]", values=f'["", "0", "{turn}"]')
        builder.operator(
            "aten::slice", 30 * turn + 20, 5, dims="[[12, 4], [], [], [], []]", values='["", "0", "0", "9", "1"]'
        )
    trace = builder.build()
    assert standing_slices(trace, np.arange(9).reshape(-1, 3)) == {Walk(12, 0, (5,)): 7}
    assert standing_slices(TraceBuilder().operator("aten::select", 0, 5).build(), np.zeros((1, 1), np.int64)) == {}


def test_what_was_unbound_is_walked_along() -> None:
    trace = TraceBuilder().operator("aten::unbind", 0, 5, dims="[[12, 5], []]", values='["", "1"]').build()
    assert unbound_walk(trace, 0) == Walk(5, 1, (12,))
    assert unbound_walk(TraceBuilder().operator("aten::unbind", 0, 5).build(), 0) is None


def test_torch_records_what_a_slice_walks_along(tmp_path: Path) -> None:
    """GIVEN what the profiler of this torch writes of `x[i]`, `x[:, i]` and `x.unbind(1)`."""
    import torch
    from torch.profiler import profile

    x = torch.zeros(3, 4, 5)
    with profile(record_shapes=True) as recorded:
        for index in range(3):
            x[index].add(x[:, index].sum())
        x.unbind(1)
    recorded.export_chrome_trace(str(tmp_path / "trace.json"))
    trace = load_trace(tmp_path / "trace.json")
    top = np.flatnonzero(trace.operators["parent"] < 0)
    assert slice_walks(trace, top[:12].reshape(3, 4)) == (Walk(3, 0, (4, 5)), Walk(4, 1, (3, 5)))
    assert unbound_walk(trace, int(top[12])) == Walk(4, 1, (3, 5))
