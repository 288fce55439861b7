"""Along which axis a sort runs, by its arguments."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.demand.sort_orders import SortOrder, sort_order
from tests.support.look_builder import LookBuilder


@pytest.mark.parametrize(
    ("name", "arguments", "order"),
    [
        ("aten::sort", "[null, -1, false]", SortOrder(-1, descending=False)),
        ("aten::argsort", "[null, 0, true]", SortOrder(0, descending=True)),
        ("aten::sort.stable", "[null, true, 1, false]", SortOrder(1, descending=False)),
        ("aten::sort.values_stable", "[null, null, 1, true]", SortOrder(1, descending=True)),
        ("aten::msort", "[null]", SortOrder(0, descending=False)),
        ("aten::sort", "", None),
        ("aten::sort.dimname", '[null, "row", true]', None),
        ("aten::sort", "[null, 1, null]", None),
        ("aten::sort", "[true]", None),
        ("aten::topk", "[null, 1, true]", None),
    ],
)
def test_the_order_of_a_sort(name: str, arguments: str, order: SortOrder | None) -> None:
    look = LookBuilder().tensor("x").operator("aten::exp", 1, reads="x", makes="y")
    look.operator(name, 1, reads="y", makes="z", arguments=arguments)
    assert sort_order(Results(look.build()), 1) == order
