"""Which calls keep nothing from one call to the next, by the text of a cell."""

from __future__ import annotations

import ast

import pytest

from gpuprof.rules.cell.pure_calls import PureCalls


def last_call(source: str) -> tuple[PureCalls, ast.Call]:
    """The call that the last line is, or gives a name to."""
    tree = ast.parse(source)
    statement = tree.body[-1]
    assert isinstance(statement, ast.Expr | ast.Assign) and isinstance(statement.value, ast.Call)
    return PureCalls(tree), statement.value


def knows(source: str) -> bool:
    calls, call = last_call(source)
    return calls.knows(call)


@pytest.mark.parametrize(
    "source",
    [
        "len(x)",
        "torch.exp(x)",
        "F.relu(x)",
        "x.mean()",
        "x.T.softmax(-1)",
        "from torch.nn.functional import relu\nrelu(x)",
        "from torch import exp as e\ne(x)",
        "map(torch.exp, xs)",
        "map(lambda x: x.exp(), xs)",
        "def f(x):\n    return x.exp()\nf(x)",
        "def f(x):\n    return g(x)\ndef g(x):\n    return x.exp()\nf(x)",
        "def f(xs):\n    out = []\n    for x in xs:\n        out.append(x.exp())\n    return out\nf(xs)",
        "def f(xs):\n    total = 0\n    for x in xs:\n        total += x.sum()\n    return total\nf(xs)",
        "def f(x):\n    y = x[0]\n    return y.a\nf(x)",
        "net = nn.Linear(3, 4)\nnet(x)",
        "net = nn.Linear(3, 4).to(device)\nnet(x)",
        "net = nn.Linear(3, 4).cuda().eval()\nnet(x)",
        "net = torch.nn.Sequential(nn.Linear(3, 4), nn.Tanh())\nnet(x)",
        "from torch.nn import Linear\nnet = Linear(3, 4)\nnet(x)",
        "nets = nn.ModuleList([nn.Linear(3, 4) for _ in range(4)])\nfor net in nets:\n    pass\nnet(x)",
        "class N(nn.Module):\n    def forward(self, x):\n        return x.exp()\nnet = N()\nnet(x)",
        "class N(nn.Module):\n    def encode(self, x):\n        return x.exp()\nnet = N().to(device)\nnet.encode(x)",
        "class N(nn.Module):\n    def __init__(self):\n        self.a = nn.Linear(3, 3)\n"
        "    def forward(self, x):\n        return self.a(x)\nnet = N()\nnet(x)",
    ],
)
def test_calls_that_keep_nothing(source: str) -> None:
    assert knows(source)


@pytest.mark.parametrize(
    "source",
    [
        "solve(x)",
        "x.add_(1)",
        "x.register(1)",
        "torch.manual_seed(1)",
        "torch.set_rng_state(s)",
        "f()(x)",
        "xs[0](x)",
        "from mine import relu\nrelu(x)",
        "torch = mine\ntorch.unheard_of(x)",
        "map(solve, xs)",
        "map(lambda x: solve(x), xs)",
        "map(lambda x: (y := x.exp()), xs)",
        "map(lambda x: (lambda y: y), xs)",
        "map(torch.exp)",
        "def f(x):\n    return solve(x)\nf(x)",
        "def f(x):\n    return f(x)\nf(x)",
        "def f(x):\n    return 1\ndef f(x):\n    return 2\nf(x)",
        "def f(x):\n    x.a = 3\n    return x\nf(x)",
        "def f(x):\n    x[0] = 3\n    return x\nf(x)",
        "def f(x):\n    del x[0]\n    return x\nf(x)",
        "def f(x):\n    global y\n    y = x\nf(x)",
        "def f(x):\n    yield x\nf(x)",
        "def f(xs):\n    kept.append(xs)\nf(xs)",
        "def f(xs, out):\n    out.append(xs)\nf(xs)",
        "def f(xs):\n    out = []\n    out = xs\n    out.append(3)\nf(xs)",
        "def f(xs):\n    out = [xs]\n    out.append(3)\nf(xs)",
        "def f(x):\n    x += 1\n    return x\nf(x)",
        "def f(x):\n    y = x\n    y += 1\n    return y\nf(x)",
        "def f(x):\n    y = 0\n    y = x\n    y += 1\n    return y\nf(x)",
        "net = nn.BatchNorm1d(3)\nnet(x)",
        "net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))\nnet(x)",
        "net = mine.Linear(3, 4)\nnet(x)",
        "net = nn.linear(3, 4)\nnet(x)",
        "net = nn.TransformerEncoder(mine(), 4)\nnet(x)",
        "net = nn.TransformerEncoder(*layers)\nnet(x)",
        "net = load()\nnet(x)",
        "net = nn.Linear(3, 4)\nnet = nn.Linear(4, 4)\nnet(x)",
        "def run(net):\n    pass\nnet = nn.Linear(3, 4)\nnet(x)",
        "for net in nets:\n    pass\nnet(x)",
        "class N(nn.Module):\n    def forward(self, x):\n        self.kept = x\n        return x\nnet = N()\nnet(x)",
        "class N(nn.Module):\n    pass\nnet = N()\nnet(x)",
        "class N(nn.Module):\n    def forward(self, x):\n        return x\nnet = N.made()\nnet(x)",
        "class N(nn.Module):\n    def encode(self, x):\n        self.kept = x\nnet = N()\nnet.encode(x)",
    ],
)
def test_calls_that_may_keep_something(source: str) -> None:
    assert not knows(source)


def test_a_method_may_be_another_one_in_a_class_that_is_derived() -> None:
    source = "class A(nn.Module):\n    def forward(self, x):\n        return x.exp()\n"
    source += "class B(A):\n    def encode(self, x):\n        return x.exp()\n"
    assert not knows(source + "net = A()\nnet(x)")
    assert knows(source.replace("B(A)", "B(nn.Module)") + "net = A()\nnet(x)")


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def f(x):\n    return x * scale\nf(x)", {"scale"}),
        ("def f(x, scale):\n    return x * scale\nf(x)", set()),
        ("def f(x):\n    scale = 3\n    return x * scale\nf(x)", set()),
        ("def f(x):\n    return g(x) * a\ndef g(x):\n    return x * b\nf(x)", {"a", "b", "g"}),
        ("def f(x):\n    return solve(x) * scale\nf(x)", set()),
        ("f(x)", set()),
    ],
)
def test_what_functions_read_from_outside(source: str, names: set[str]) -> None:
    calls, call = last_call(source)
    assert calls.reads_in(call.func) == names


def test_which_functions_and_modules_a_call_runs() -> None:
    source = "class N(nn.Module):\n    def forward(self, x):\n        return x\n"
    for made, run in (("N()", ["forward"]), ("nn.Sequential(N(), nn.Tanh())", ["forward"]), ("nn.Tanh()", [])):
        calls, call = last_call(f"{source}net = {made}\nnet(x)")
        assert [each.name for each in calls.runs(call)] == run
        assert made in [ast.unparse(each) for each in calls.makers(call)]
    calls, call = last_call(f"{source}net = N()\nmap(net, xs)")
    assert [each.name for each in calls.runs(call)] == ["forward"]
    calls, call = last_call("def f(x):\n    return x\nf(x)")
    assert [each.name for each in calls.runs(call)] == ["f"] and calls.makers(call) == []


@pytest.mark.parametrize(
    ("made", "many"),
    [
        ("nn.Sequential(*[nn.Linear(3, 3) for _ in range(4)])", True),
        ("nn.Sequential(*(nn.Linear(3, 3) for _ in range(4)))", True),
        ("nn.Sequential(nn.Linear(3, 3))", False),
        ("nn.Linear(3, 3)", False),
    ],
)
def test_modules_that_a_loop_made_are_many(made: str, many: bool) -> None:
    calls, call = last_call(f"net = {made}\nnet(x)")
    assert calls.is_many(call) is many
