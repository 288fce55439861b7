"""What may carry autograd's graph, by the text."""

from __future__ import annotations

import ast

import pytest

from gpuprof.code_edits.syntax.reading import CellReading

TRAINS = "loss.backward()\n"


def may_have_graph(source: str) -> bool:
    """Of the last expression."""
    reading = CellReading.of(source)
    assert reading is not None
    last = [each for each in reading.text.nodes if isinstance(each, ast.Expr)][-1]
    return reading.graphs.may_have_graph(last.value)


@pytest.mark.parametrize(
    "given",
    [
        "x = torch.rand(3)\n",
        "x, y = torch.rand(3), nn.Linear(3, 4)\n",
        "x = np.ones(3)\nx = x + 1\n",
        "rows = [torch.rand(3)]\nrows.append(torch.ones(3))\nx = rows[0]\n",
        "for x in torch.rand(3, 4).split(2):\n    pass\n",
        "def f(a, b=1):\n    return a * b\nx = f(torch.rand(3))\n",
        "x = copy.deepcopy(net).requires_grad_(False)\n",
        "x = net(y).detach()\n",
    ],
)
def test_what_is_made_of_plain_values_has_none(given: str) -> None:
    assert not may_have_graph(f"{TRAINS}{given}x * 2\n")


@pytest.mark.parametrize(
    "given",
    [
        "",
        "x = torch.rand(3, requires_grad=True)\n",
        "x = torch.rand(3, **options)\n",
        "x = nn.Parameter(y)\n",
        "x = nn.Linear(3, 4)(y)\n",
        "x = nn.Linear(3, 4).weight\n",
        "x = other(3)\n",
        "x = torch.rand(3).requires_grad_()\n",
        "x = torch.rand(3)\nx.requires_grad = True\n",
        "x = torch.rand(3)\ny = x\ny.requires_grad_()\n",
        "x = [1]\nx.append(nn.Linear(3, 4).weight)\n",
        "x = torch.zeros(3)\nx[0] = net(y)\n",
        "x = torch.zeros(3)\nx.copy_(net(y))\n",
        "x = torch.rand(3)\nx += net(y)\n",
        "def f(a):\n    return a * w\nx = f(torch.rand(3))\n",
        "for x in net.parameters():\n    pass\n",
        "with net as x:\n    pass\n",
    ],
)
def test_what_may_be_a_weight_or_made_of_one_may_have_one(given: str) -> None:
    assert may_have_graph(f"{TRAINS}{given}x * 2\n")


@pytest.mark.parametrize(
    "source",
    ["with torch.no_grad():\n    net(x)\n", "@torch.inference_mode()\ndef f(x):\n    net(x)\n"],
)
def test_without_gradients_nothing_has_one(source: str) -> None:
    assert not may_have_graph(TRAINS + source)
    assert may_have_graph(TRAINS + source.replace("no_grad", "enable_grad").replace("inference_mode", "compile"))


@pytest.mark.parametrize("source", ["net.weight * x\n", "torch.ones(3) * w\n"])
def test_where_nothing_goes_backward_it_does_not_matter(source: str) -> None:
    assert not may_have_graph(source)
    assert may_have_graph("torch.autograd.grad(a, b)\n" + source)
    # a function of another cell may go backward
    assert may_have_graph("train(model)\n" + source)
