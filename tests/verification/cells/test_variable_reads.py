"""What a cell reads from outside is found in the order in which it runs."""

from __future__ import annotations

import pytest

from gpuprof.verification.cells.variable_reads import global_names, read_names


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("model = make()\nmodel(x)", {"make", "x"}),
        ("for x, y in loader:\n    loss = model(x)\n    loss.backward()\nprint(loss)", {"loader", "model", "print"}),
        ("total += 1", {"total"}),
        ("if new:\n    model = make()\nmodel(1)", {"new", "make", "model"}),
        ("if new:\n    model = 1\nelse:\n    model = 2\nmodel(1)", {"new"}),
        ("try:\n    a = f()\nexcept E:\n    raise\na", {"f", "E"}),
        ("try:\n    a = f()\nexcept E:\n    pass\na", {"f", "E", "a"}),
        ("with open(p) as f, g() as (a, b):\n    f, a, b", {"open", "p", "g"}),
        ("def train():\n    model(x)\nmodel = 1\ntrain()", {"x"}),
        ("def train():\n    model(x)\ntrain()\nmodel = 1", {"model", "x"}),
        ("def train():\n    return 1", set()),
        ("@wrap\ndef train():\n    model(x)", {"wrap", "model", "x"}),
        ("def f():\n    g()\ndef g():\n    y\nf()", {"y"}),
        ("class D(Base):\n    n = size\n    def get(self):\n        return data[0]\nd = D()", {"Base", "size", "data"}),
        ("s = sum(w * k for w in weights if w)", {"sum", "weights", "k"}),
        ("f = lambda a, b=c: a + d", {"c", "d"}),
        ("print(y := 3, y)", {"print"}),
        ("import torch.nn as nn, os.path\nnn.Linear, os", set()),
        ("del x", {"x"}),
        ("match p:\n    case [a, *rest] if a > q:\n        a, rest", {"p", "q"}),
        ("x.y[z] = 1", {"x", "z"}),
        ("globals()['a']", None),
    ],
)
def test_names(source: str, names: set[str] | None) -> None:
    assert read_names(source) == names


def test_globals_of_code_reach_into_inner_functions_but_not_attributes() -> None:
    def outer(a):
        return [math_like(b.attribute) for b in a] and (lambda: other)  # noqa: F821

    assert global_names(outer.__code__) == {"math_like", "other"}
