"""Which loops have turns that do not depend on one another, and which loop of a cell ran what was recorded."""

from __future__ import annotations

import ast

import pytest

from gpuprof.rules.cell.independent_iterations import Repeated, is_independent, is_repeated
from gpuprof.rules.cell.pure_calls import PureCalls
from gpuprof.rules.cell.source_loops import independent_lines

MODULE = "class Net(nn.Module):\n    def forward(self, a):\n        return a + 1\n"
STATEFUL = "class Net(nn.Module):\n    def forward(self, a):\n        self.h = self.h + a\n        return self.h\n"
INDEPENDENT = {
    "a sum": "total = total + x[:, k].sum()",
    "a sum in place": "total += x[:, k].sum()",
    "a difference": "loss = loss + a[:, k].mean() - 0.5 * b[:, k].mean()",
    "a sum from the right": "total = x[:, k].sum() + total",
    "a product": "likely = likely * x[:, k]",
    "a largest": "best = torch.maximum(best, x[:, k])",
    "a list": "rows.append(x[:, k].exp())",
    "a place": "out[:, k] = x[:, k].softmax(dim=-1)",
    "a sum of its own": "out[k] += x[:, k].sum()",
    "a name of the turn": "part = x[:, k]\nmask = (y == k).float()\ntotal = total + (part * mask).sum()",
    "a condition on the turn": "if k == ignored:\n    continue\ntotal = total + x[:, k].sum()",
    "both branches": "if k > 2:\n    part = x[:, k]\nelse:\n    part = x[:, k] * 2\ntotal += part.sum()",
    "a loop inside": "row = []\nfor j in range(3):\n    row.append(x[k, j])\nrows.append(torch.stack(row))",
    "a recurrence inside": "h = torch.zeros(4)\nfor t in range(9):\n    h = torch.tanh(x[k, t] + h)\nrows.append(h)",
    "a sum inside": "part = 0\nfor j in range(3):\n    part += x[k, j]\nrows.append(part)",
    "a block": "with torch.no_grad():\n    total = total + x[:, k].sum()",
    "neighbours that nothing changes": "total = total + (x[:, k] - x[:, k - 1]).abs().sum()",
    "a function of torch": "total = total + torch.nn.functional.mse_loss(x[:, k], y[:, k])",
    "a module without a state": "criterion = nn.MSELoss()\n---\ntotal = total + criterion(x[:, k], y[:, k])",
    "a chain of modules": "net = nn.Sequential(nn.Linear(3, 4), nn.Tanh()).to(device)\n---\nrows.append(net(x[:, k]))",
    "a function of the cell": "def f(a):\n    b = a.exp()\n    return b.sum()\n---\ntotal += f(x[:, k])",
    "a function that adds": "def f(a):\n    s = 0\n    for b in a: s += b\n    return s\n---\nrows.append(f(x[:, k]))",
    "a module of the cell": MODULE + "net = Net().to(device)\n---\nrows.append(net(x[:, k]))",
    "modules of the cell": MODULE + "net = nn.Sequential(*[Net() for _ in range(3)])\n---\nrows.append(net(x[:, k]))",
    "a method of a module": MODULE + "net = Net()\n---\nrows.append(net.forward(x[:, k]))",
    "a list of its own": "def f(a):\n    b = []\n    for c in a: b.append(c)\n    return b\n---\nrows.append(f(x[k]))",
    "a map inside": "rows.append(torch.stack(list(map(torch.exp, x[k]))))",
    "layers that are a list": "net = nn.ModuleList([nn.Tanh()])\n---\nh = x[k]\nfor f in net: h = f(h)\nrows.append(h)",
    "an import": "from torch.nn.functional import softplus\n---\nrows.append(softplus(x[:, k]))",
}
DEPENDENT = {
    "a state": "h = torch.tanh(x[:, k] @ w + h @ u)",
    "a state of a module": "rows.append(cell(x[:, k]))",
    "a state in an object": "rows.append(self.neurons(x[:, k]))",
    "a state in an attribute": "self.h = torch.tanh(x[:, k])",
    "a state in a norm": "norm = nn.BatchNorm1d(3)\n---\nrows.append(norm(x[:, k]))",
    "a state in a chain": "net = nn.Sequential(nn.Linear(3, 4), Mine())\n---\nrows.append(net(x[:, k]))",
    "a module made twice": "f = nn.Tanh()\nf = Mine()\n---\nrows.append(f(x[:, k]))",
    "a parameter that is a function": "def g(f):\n    pass\nf = nn.Tanh()\n---\nrows.append(f(x[:, k]))",
    "a moving average": "mean = 0.9 * mean + 0.1 * x[:, k]",
    "a sum of the turn before": "total += last\nlast = x[:, k].sum()",
    "a sum of what grows": "rows.append(x[:, k])\ntotal += rows[0].sum()",
    "a sum of the unknown": "total += measure(x[:, k])",
    "a sum in an attribute": "self.total += x[:, k].sum()",
    "a remainder": "total %= x[:, k].sum()",
    "a view of its own that is added to": "part = x[:, k].view(3)\npart += 1\nrows.append(part.sum())",
    "a moving average in place": "mean *= 0.9\nmean += x[:, k]",
    "discounting": "value = value * gamma + x[:, k]",
    "a cumulative sum": "total = total + x[:, k]\nrows.append(total)",
    "the last of a list": "rows.append(x[:, k] + rows[-1])",
    "the place before": "out[:, k] = x[:, k] + out[:, k - 1]",
    "a place of another turn": "out[:, k + 1] = x[:, k]",
    "a place that is looked up": "out[order[k]] = x[:, k]",
    "a view of a place": "part = out[k]\npart += x[:, k] * out[k - 1]",
    "a view of what another turn reads": "part = h[k]\npart += h[k - 1] * w",
    "in place": "out.add_(x[:, k])",
    "a step of a sampler": "x = x - sigma[k] * net(x, k)",
    "layers": "x = torch.relu(x @ weights[k])",
    "beams": "scores, best = (scores[:, None] + x[:, k]).flatten(1).topk(4)",
    "read before it is set": "total = total + (x[:, k] - last).abs().sum()\nlast = x[:, k]",
    "set in one branch": "if k > 2:\n    last = x[:, k]\nrows.append(last)",
    "an end": "if k > 3:\n    break\ntotal = total + x[:, k]",
    "an end by a value": "total = total + x[:, k].sum()\nif x[:, k].sum().item() > 3:\n    break",
    "a value that steers": "found = (y == k).any()\nif found:\n    total = total + x[:, k].sum()",
    "a value that is looked up": "if flags[k]:\n    total = total + x[:, k].sum()",
    "a walrus": "total = total + (y := x[:, k]).sum()",
    "a try": "try:\n    total = total + x[:, k]\nexcept ValueError:\n    pass",
    "a generator": "total = total + x[:, k] * next(numbers)",
    "unknown": "total = total + measure(x[:, k])",
    "a meter": "meter.update(x[:, k].mean())",
    "a function with a memory": "def f(a):\n    seen.append(a)\n    return a\n---\nrows.append(f(x[:, k]))",
    "a function that changes": "def f(h, a):\n    h += a\n    return h\n---\nrows.append(f(state, x[:, k]))",
    "a function that changes a view": "def f(h):\n    b = 0\n    b = h\n    b += 1\n---\nrows.append(f(state))",
    "a function that sees the state": "def f(a):\n    return a + h\n---\nh = f(x[:, k])",
    "functions that see the state": "def g(a):\n    return a + h\ndef f(a):\n    return g(a)\n---\nh = f(x[:, k])",
    "a function that stores": "def f(h, a):\n    h[0] = a\n    return h\n---\nrows.append(f(state, x[:, k]))",
    "a function of two texts": "def f(a):\n    return a\ndef f(a):\n    return g(a)\n---\nrows.append(f(x[:, k]))",
    "the same numbers each turn": "torch.manual_seed(0)\nrows.append(torch.rand(3) * x[:, k])",
    "a module of the cell with a state": STATEFUL + "net = Net()\n---\nrows.append(net(x[:, k]))",
    "a chain with a state": STATEFUL + "net = nn.Sequential(nn.Tanh(), Net())\n---\nrows.append(net(x[:, k]))",
    "a list with a state": STATEFUL + "net = [Net()]\n---\nh = x[k]\nfor f in net:\n    h = f(h)\nrows.append(h)",
    "a module of a derived class": MODULE + "class Mine(Net):\n    pass\nnet = Mine()\n---\nrows.append(net(x[:, k]))",
    "a chain of itself": "net = nn.Sequential(net)\n---\nrows.append(net(x[:, k]))",
    "a map of the unknown": "rows.append(torch.stack(list(map(measure, x[k]))))",
    "a list from outside": "def f(a):\n    b.append(a)\n    return b\n---\nrows.append(f(x[k])[-1])",
    "a module that sees the state": MODULE.replace("a + 1", "a + h") + "net = Net()\n---\nh = net(x[:, k])",
    "an else": "total = total + x[:, k]\nELSE",
}


def _loop(text: str) -> tuple[Repeated, PureCalls]:
    """The loop over `k` with that body; what stands above `---` is before it."""
    before, _, body = text.rpartition("---\n")
    otherwise = "else:\n    pass\n" if "ELSE" in body else ""
    lines = body.replace("\nELSE", "").splitlines()
    tree = ast.parse(before + "for k in range(20):\n" + "".join(f"    {line}\n" for line in lines) + otherwise)
    loop = tree.body[-1]
    assert isinstance(loop, ast.For)
    return loop, PureCalls(tree)


@pytest.mark.parametrize("text", INDEPENDENT.values(), ids=INDEPENDENT)
def test_turns_that_leave_nothing_to_one_another(text: str) -> None:
    assert is_independent(*_loop(text))


@pytest.mark.parametrize("text", DEPENDENT.values(), ids=DEPENDENT)
def test_turns_that_need_another_or_may(text: str) -> None:
    assert not is_independent(*_loop(text))


@pytest.mark.parametrize(
    ("text", "independent"),
    [
        ("[x[:, k].sum() for k in range(20)]", True),
        ("sum(x[:, k].sum() for k in range(20))", True),
        ("{k: (x[:, k] * w).sum() for k in range(20)}", True),
        ("[cell(x[:, k]) for k in range(20)]", False),
        ("map(torch.exp, x)", True),
        ("map(lambda a, b: (a * b).sum(), x, y)", True),
        ("map(lambda a: cell(a), x)", False),
        ("map(lambda a: (h := h + a), x)", False),
        ("map(measure, x)", False),
        ("[layer(a) for layer, a in zip(layers, x)]", False),
        ("[(h := torch.tanh(x[:, k] + h)) for k in range(20)]", False),
    ],
)
def test_comprehensions_leave_nothing_but_what_they_call_may(text: str, independent: bool) -> None:
    tree = ast.parse(text)
    (loop,) = (each for each in ast.walk(tree) if is_repeated(each))
    assert is_independent(loop, PureCalls(tree)) == independent


def test_loops_by_a_condition_are_not_understood() -> None:
    tree = ast.parse("while k < 20:\n    total = total + x[:, k]\n    k += 1")
    (loop,) = (each for each in ast.walk(tree) if isinstance(each, ast.While))
    assert not is_independent(loop, PureCalls(tree))


SUM = ["aten::select", "aten::mul", "aten::sum", "aten::add"]
CELL = """\
%matplotlib inline
for x, y in loader:
    total = 0
    for k in range(20):
        total = total + (x[:, k] * y).sum()
    total.backward()
"""
STATE = "    h = y\n    for t in range(20):\n        h = h + (x[:, t] * h).sum()\n"


@pytest.mark.parametrize(
    ("cell", "operators", "lines"),
    [
        (CELL, SUM, (4,)),
        (CELL, ["aten::mul", "aten::sum", "aten::add", "aten::select"], (4,)),
        (CELL, [*SUM, "aten::tanh"], ()),
        (CELL, [*SUM, "aten::mul"], ()),
        (CELL, ["aten::select"], ()),
        (CELL, ["aten::select", "aten::addmm", "aten::tanh"], ()),
        (CELL + STATE, SUM, ()),
        (CELL + STATE.replace("h = h + (x[:, t] * h).sum()", "h = torch.tanh(h * x[:, t])"), SUM, (4,)),
        (CELL.replace("for k in", "for k in in"), SUM, ()),
        (
            CELL.replace("(x[:, k] * y).sum()", "score(x[:, k])") + "def score(a):\n    return (a * 2).sum()\n",
            SUM,
            (4,),
        ),
        ("loss = sum((x[:, k] * y).sum() for k in range(20))", SUM, (1,)),
    ],
    ids=[
        "as written",
        "from anywhere in a turn",
        "another operator",
        "more often than written",
        "slices alone",
        "another loop",
        "one of two needs another turn",
        "the other does something else",
        "no Python",
        "by a function of the cell",
        "by a comprehension",
    ],
)
def test_the_loop_that_ran_is_found_by_what_it_names(cell: str, operators: list[str], lines: tuple[int, ...]) -> None:
    assert independent_lines(cell, operators) == lines


@pytest.mark.parametrize(
    ("written", "operator"),
    [
        ("F.cross_entropy(x[:, k], y)", "aten::cross_entropy_loss"),
        ("F.binary_cross_entropy_with_logits(x[:, k], y)", "aten::binary_cross_entropy_with_logits"),
        ("(1 - x[:, k])", "aten::rsub"),
        ("x[:, k].norm()", "aten::linalg_vector_norm"),
        ("(x[:, k] & y)", "aten::__and__"),
        ("(x[:, k] == k)", "aten::eq"),
        ("(x[:, k] @ w)", "aten::matmul"),
        ("F.scaled_dot_product_attention(x[:, k], y, y)", "aten::scaled_dot_product_attention"),
    ],
)
def test_words_are_known_by_what_torch_calls_them(written: str, operator: str) -> None:
    cell = f"for k in range(20):\n    rows.append({written})\n"
    assert independent_lines(cell, ["aten::select", operator]) == (1,)
    assert independent_lines(cell, ["aten::select", "aten::tanh"]) == ()


def test_a_module_of_the_cell_is_known_by_its_class() -> None:
    cell = "criterion = nn.BCEWithLogitsLoss()\nfor k in range(20):\n    rows.append(criterion(x[:, k], y[:, k]))\n"
    assert independent_lines(cell, ["aten::select", "aten::binary_cross_entropy_with_logits"]) == (2,)
