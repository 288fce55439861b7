"""More loops whose turns need one another or do not: one for each way of writing that is told apart."""

from __future__ import annotations

import pytest

from gpuprof.rules.cell.independent_iterations import is_independent
from tests.rules.cell.test_independent_iterations import MODULE, _loop

INDEPENDENT = {
    "two sums of one name": "total += a[:, k].sum()\ntotal += b[:, k].sum()",
    "a sum less another": "total -= x[:, k].sum()",
    "a sum of three": "total = total + a[:, k].sum() + b[:, k].sum()",
    "a product in place": "value *= x[:, k].sum()",
    "a product from the right": "value = x[:, k].sum() * value",
    "a quotient": "value = value / x[:, k].sum()",
    "a quotient in place": "value /= x[:, k].sum()",
    "the largest by Python": "best = max(best, x[:, k].sum())",
    "the smallest from the right": "best = min(x[:, k].sum(), best)",
    "two names at once": "a, b = x[:, k], y[:, k]\nrows.append(a + b)",
    "names in a list": "[a, b] = x[:, k], y[:, k]\nrows.append(a + b)",
    "a tensor of the turn": "part = torch.zeros(3)\npart[0] = x[0, k]\nrows.append(part)",
    "a tensor of the turn changed": "part = torch.ones(3)\npart += x[:, k]\nrows.append(part)",
    "a computed one changed": "part = x[:, k] * 2\npart += 1\nrows.append(part)",
    "a place in the turn's own": "part = x[:, k] > 0\npart[0] = 1\nrows.append(part)",
    "an annotated name": "part: Tensor = x[:, k]\nrows.append(part)",
    "a mere annotation": "part: Tensor\ntotal += x[:, k].sum()",
    "an assertion": "assert k < 20\ntotal += x[:, k].sum()",
    "nothing": "pass",
    "a block of a name": "with lock:\n    total += x[:, k].sum()",
    "two conditions": (
        "if k > 2:\n    part = a[:, k]\nelif k > 1:\n    part = b[:, k]\nelse:\n    part = y\nrows.append(part)"
    ),
    "printing": "print(k)\ntotal += x[:, k].sum()",
    "numbers by other libraries": "rows.append(math.exp(k) * np.log(k) * F.relu(x[:, k]))",
    "any function of torch": "rows.append(torch.polar(x[:, k], y))",
    "a comprehension": "rows.append(sum([a * 2 for a in x[k]]))",
    "a comprehension over a changed name": "rows.append([total for total in x[k]])\ntotal = 3",
    "a module of a module": "net = nn.DataParallel(nn.Linear(3, 4))\n---\nrows.append(net(x[:, k]))",
    "a module that is imported": "from torch.nn import Tanh\nf = Tanh()\n---\nrows.append(f(x[:, k]))",
    "a function of two sums": (
        "def f(a):\n    s = 0\n    s = s + 1\n    s += a.sum()\n    return s\n---\nrows.append(f(x[k]))"
    ),
    "a function that calls another": (
        "def g(a):\n    return a + 1\ndef f(a):\n    return g(a)\n---\nrows.append(f(x[:, k]))"
    ),
    "a module in evaluation": "net = nn.Linear(3, 4).to(device).eval()\n---\nrows.append(net(x[:, k]))",
    "layers in pairs": (
        "net = nn.ModuleList([nn.Tanh()])\n---\nh = x[k]\nfor i, f in enumerate(net): h = f(h)\nrows.append(h)"
    ),
    "layers beside numbers": (
        "net = [nn.Tanh()]\n---\nh = x[k]\nfor f, s in zip(net, sizes): h = f(h) * s\nrows.append(h)"
    ),
    "layers from behind": "net = [nn.Tanh()]\n---\nh = x[k]\nfor f in reversed(net): h = f(h)\nrows.append(h)",
    "layers of a comprehension": (
        "net = [nn.Tanh() for _ in range(3)]\n---\nh = x[k]\nfor f in net: h = f(h)\nrows.append(h)"
    ),
}  # fmt: skip
DEPENDENT = {
    "a sum that is also a product": "total += x[:, k].sum()\ntotal *= 2",
    "a sum that is set": "total += x[:, k].sum()\ntotal = x[:, k].sum()",
    "a difference from the right": "total = x[:, k].sum() - total",
    "a quotient from the right": "value = x[:, k].sum() / value",
    "a power": "value = value ** x[:, k].sum()",
    "a power in place": "value **= 2",
    "a whole quotient in place": "value //= 2",
    "a largest of three": "best = max(best, a[:, k].sum(), b[:, k].sum())",
    "a largest of itself": "best = torch.maximum(best, best)",
    "a largest by name": "best = torch.maximum(best, other=x[:, k])",
    "the largest and the smallest": "best = max(best, a[:, k].sum())\nbest = min(best, b[:, k].sum())",
    "a sum with itself": "total = total + x[:, k].sum() * total",
    "a place of a place": "out[0][k] = x[:, k]",
    "a place in a view": "part = x[k]\npart[0] = 1\nrows.append(part)",
    "a place at another's value": "out[k, last] = x[:, k]\nlast = x[:, k]",
    "a view changed": "part = x[k]\npart += 1\nrows.append(part)",
    "an attribute changed": "self.total += x[:, k].sum()",
    "a list of an object": "self.rows.append(x[:, k])",
    "a list that is a view": "row = out[k]\nrow.append(1)",
    "a list by another method": "rows.extend([x[:, k]])",
    "a list of what changes": "rows.append(h)\nh = x[:, k]",
    "set in the other branch": "if k > 2:\n    pass\nelse:\n    last = x[:, k]\nrows.append(last)",
    "a state in the other branch": "if k > 2:\n    pass\nelse:\n    h = torch.tanh(x[:, k] + h)",
    "a condition on what changes": "if count > 3:\n    continue\ncount = x[:, k]",
    "an assertion on what changes": "assert h is not None\nh = x[:, k]",
    "a block with a name": "with torch.no_grad() as block:\n    total += x[:, k].sum()",
    "a block of an unknown": "with measure():\n    total += x[:, k].sum()",
    "a state in a block": "with lock:\n    h = torch.tanh(x[:, k] + h)",
    "an else inside": "for j in range(3):\n    total += x[k, j]\nelse:\n    pass",
    "over what grows": "for row in rows:\n    total += row\nrows.append(x[:, k])",
    "a state inside": "for j in range(3):\n    h = torch.tanh(x[k, j] + h)",
    "an import inside": "import os\ntotal += x[:, k].sum()",
    "a random state": "torch.set_rng_state(state)\nrows.append(x[:, k])",
    "a library that is a name": "torch = Mine()\n---\nrows.append(torch.polar(x[:, k]))",
    "another library": "rows.append(mine.polar(x[:, k]))",
    "a function from elsewhere": "from mine import softplus\n---\nrows.append(softplus(x[:, k]))",
    "a call of a call": "rows.append(make()(x[:, k]))",
    "a method of the unknown": "rows.append(net.encode(x[:, k]))",
    "a method that is not there": MODULE + "net = Net()\n---\nrows.append(net.encode(x[:, k]))",
    "a module of a module with a state": "net = nn.DataParallel(Mine())\n---\nrows.append(net(x[:, k]))",
    "a module of many": "net = nn.TransformerEncoder(*layers)\n---\nrows.append(net(x[:, k]))",
    "a function of torch that makes": "f = torch.compile(g)\n---\nrows.append(f(x[:, k]))",
    "a norm in a chain": "net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))\n---\nrows.append(net(x[:, k]))",
    "a function of itself": "def f(a):\n    return f(a)\n---\nrows.append(f(x[:, k]))",
    "a function that binds outside": "def f(a):\n    global h\n    h = a\n    return a\n---\nrows.append(f(x[:, k]))",
    "a function that yields": "def f(a):\n    yield a\n---\nrows.append(f(x[:, k]))",
    "a function that changes what it is given": "def f(a):\n    a += 1\n    return a\n---\nrows.append(f(state))",
    "a function that changes each": (
        "def f(a):\n    for s in a:\n        s += 1\n    return a\n---\nrows.append(f(state))"
    ),
    "a function with a list": "def f(a):\n    b = [1]\n    b.append(a)\n    return b\n---\nrows.append(f(x[k]))",
    "a function with another's list": (
        "def f(a):\n    b = []\n    b = a\n    b.append(1)\n    return b\n---\nrows.append(f(x[k]))"
    ),
    "a function that sets an item": "def f(a):\n    a[0] = 1\n    return a\n---\nrows.append(f(x[:, k]))",
    "a map of nothing": "rows.append(map(torch.exp))",
    "a map that names": "rows.append(list(map(lambda a: (b := a), x[k])))",
    "a map of a map": "rows.append(list(map(lambda a: (lambda b: b), x[k])))",
    "a function for each": "rows.append(layers[k](x))",
}  # fmt: skip


@pytest.mark.parametrize("text", INDEPENDENT.values(), ids=INDEPENDENT)
def test_turns_that_leave_nothing_to_one_another(text: str) -> None:
    assert is_independent(*_loop(text))


@pytest.mark.parametrize("text", DEPENDENT.values(), ids=DEPENDENT)
def test_turns_that_need_another_or_may(text: str) -> None:
    assert not is_independent(*_loop(text))
