"""Rows that are taken many times over and multiplied, in small programs that really run under the close look."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.looked_lines import LookedLines
from gpuprof.analyses.rows.gathered_products import GatheredProducts
from gpuprof.capture.look.close_look import CloseLook
from tests.support.look_builder import LookBuilder
from tests.support.looked_runs import looked_at

torch = pytest.importorskip("torch")
NODES, EDGES = 50, 600


def seen(code: Callable[[], Any]) -> GatheredProducts:
    def under(_: CloseLook) -> Any:
        return code()

    trace = looked_at(under)
    found = Results(trace).get(GatheredProducts)
    line = Results(trace).get(LookedLines).line(found.place)
    assert (line is None) == (found.place < 0)
    return found


def graph(features: int = 64) -> tuple[Any, Any]:
    return torch.rand(NODES, features), torch.randint(0, NODES, (EDGES,))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("take", [lambda x, idx: x[idx], lambda x, idx: x.index_select(0, idx)])
def test_nodes_that_are_multiplied_for_each_of_their_edges(bias: bool, take: Callable[[Any, Any], Any]) -> None:
    (x, idx), layer = graph(), torch.nn.Linear(64, 64, bias=bias)
    found = seen(lambda: layer(take(x, idx)).relu().sum().backward())
    assert (found.source_rows, found.taken_rows, found.products) == (NODES, EDGES, 1)
    # the product, and that of the gradient of the weights: nothing asks for that of `x`
    assert len(found.rows) >= 2 and found.part == pytest.approx(1 - NODES / EDGES) and 0 < found.share < 1
    # what the advice says gives the same
    torch.testing.assert_close(take(layer(x), idx), layer(take(x, idx)))


def test_wider_results_take_longer_to_take() -> None:
    (x, idx), narrow, wide = graph(), torch.nn.Linear(64, 64), torch.nn.Linear(64, 128)
    with torch.no_grad():
        usual, less = seen(lambda: narrow(x[idx])), seen(lambda: wide(x[idx]))
    assert usual.part == pytest.approx(1 - NODES / EDGES)
    assert less.place < 0 or less.part < 1 - NODES / EDGES


@pytest.mark.parametrize(
    "code",
    [
        lambda x, idx, layer: layer(x[idx[:90]]),  # not twice as many
        lambda x, idx, layer: layer(x[idx].relu()),
        lambda x, idx, layer: layer(x)[idx],
        lambda x, idx, layer: x[idx] @ x[idx].T,
        lambda x, idx, layer: torch.addmm(torch.rand(EDGES, 64), x[idx], layer.weight),
        lambda x, idx, layer: layer.weight @ x.T[:, :1],
        lambda x, idx, layer: layer(x[idx][:200]),
    ],
)
def test_what_is_no_such_product(code: Callable[[Any, Any, Any], Any]) -> None:
    x, idx = graph()
    layer = torch.nn.Linear(64, 64)
    with torch.no_grad():
        assert seen(lambda: code(x, idx, layer)).place < 0


def test_without_a_look() -> None:
    assert Results(LookBuilder().builder.build()).get(GatheredProducts).place < 0
