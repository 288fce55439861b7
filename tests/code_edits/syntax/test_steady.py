"""Which expressions give the same each time and change nothing."""

from __future__ import annotations

import ast

import pytest

from gpuprof.code_edits.syntax.cell_text import CellText
from gpuprof.code_edits.syntax.reading import CellReading
from gpuprof.code_edits.syntax.steady import Steady


def last_of(source: str) -> tuple[Steady, ast.expr]:
    text = CellText.of(source)
    assert text is not None
    last = text.tree.body[-1]
    assert isinstance(last, ast.Expr)
    return Steady(text), last.value


def is_steady(source: str) -> bool:
    steady, value = last_of(source)
    return steady.is_steady(value)


@pytest.mark.parametrize(
    "value",
    [
        "a @ b + 1",
        "torch.linalg.inv(K)[0, 1:]",
        "F.softmax(a, dim=-1).argmax(1)",
        "np.fft.rfft(a).real",
        "math.sqrt(len(a))",
        "{'x': [a.sum(), (b,)]}",
        "a.abs() if a is not None else b",
        "[a[k].sum() for k in range(3)]",
        "torch.distributions.Normal(a, b).log_prob(a)",
        "copy.deepcopy(a)",
    ],
)
def test_what_only_computes_is_steady(value: str) -> None:
    assert is_steady(f"import copy\n{value}\n")


@pytest.mark.parametrize(
    "value",
    [
        "torch.rand(3)",
        "np.random.rand(3)",
        "random.choice(a)",
        "F.dropout(a)",
        "torch.normal(a, b)",
        "a.normal_()",
        "a.add_(1)",
        "a.sort()",
        "torch.add(a, b, out=a)",
        "F.relu(a, inplace=True)",
        "torch.foo(a)",
        "other(a)",
        "a.other()",
        "a.grad",
        "net.training",
        "next(a)",
        "list(a)",
        "sum(a)",
        "print(a)",
        "lambda: a",
        "(yield)",
        "f'{a}'",
        "f(*a)",
        "torch.stack(*a)",
        "torch.zeros(3, **a)",
        "[x for x in a]",
        "[x for x in loader]",
        "nn.Linear(3, 4)",
        "multivariate.logpdf(a)",
    ],
)
def test_what_may_do_more_is_not(value: str) -> None:
    assert (
        not is_steady(f"def gen():\n    {value}\n\n" + ("0\n" if "yield" in value else f"{value}\n"))
        or "yield" in value
    )


def test_functions_of_the_cell_are_followed() -> None:
    body = (
        "def f(x, n):\n    rows = []\n    for k in range(n):\n        rows.append(x * k)\n    y = torch.stack(rows)\n"
    )
    body += "    y += 1\n    y[0] = 0\n    if n > 2:\n        return g(y)\n    return y\ndef g(y):\n    return y + c\n"
    assert is_steady(f"{body}f(a, 3)\n")
    steady, call = last_of(f"{body}f(a, 3)\n")
    assert {each.name for each in steady.reads(call)} >= {"a", "c"}
    for old, new in (
        ("y += 1", "x += 1"),
        ("y[0] = 0", "x[0] = 0"),
        ("y[0] = 0", "self.y = 0"),
        ("rows = []", "rows = kept"),
        ("return y + c", "print(y)"),
        ("return y + c", "return f(y, 1)"),
        ("return y + c", "yield y"),
        ("for k in range(n)", "for k in n"),
        ("def g(y)", "@cache\ndef g(y)"),
    ):
        assert old in body
        assert not is_steady(f"{body.replace(old, new)}f(a, 3)\n"), new


def test_modules_of_the_cell_are_followed() -> None:
    head = "class Net(nn.Module):\n    def __init__(self):\n        self.a, self.b = nn.Linear(3, 3), "
    tail = "\n    def forward(self, x):\n        return self.b(torch.tanh(self.a(x)))\nnet = Net().to(0)\nnet(x)\n"
    for made in ("nn.GELU()", "nn.Sequential(nn.Linear(3, 3), nn.Flatten())", "nn.GRU(3, 3, dropout=0.0)"):
        assert is_steady(f"{head}{made}{tail}"), made
    for made in ("nn.Dropout()", "nn.BatchNorm1d(3)", "nn.GRU(3, 3, dropout=0.5)", "Other()", "nn.ReLU(inplace=True)"):
        assert not is_steady(f"{head}{made}{tail}"), made
    assert not is_steady(f"{head}nn.GELU(){tail}".replace("net = Net()", "net = other()"))
    assert not is_steady(f"{head}nn.GELU(){tail}".replace("net(x)\n", "net.b = y\nnet(x)\n"))
    assert not is_steady(f"{head}nn.GELU(){tail}".replace("net(x)\n", "net.a.register_forward_hook(f)\nnet(x)\n"))


def test_where_only_effects_matter_gradients_may_be_read() -> None:
    reading = CellReading.of("net.weight.grad.abs()\n")
    assert reading is not None
    (statement,) = reading.text.tree.body
    assert isinstance(statement, ast.Expr)
    assert reading.free.is_steady(statement.value) and not reading.steady.is_steady(statement.value)
