from __future__ import annotations

import ast

import pytest

from gpuprof.analyses.lines.statements import expressions_at
from gpuprof.rules.cell.used_part import uses_few


def few(source: str, line: int = 1) -> bool:
    """Of the call of `f`."""
    nodes = expressions_at(source, line)
    (call,) = (node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "f")
    return uses_few(source, nodes, call)


@pytest.mark.parametrize(
    "text",
    [
        "y = f(x)[:10]",
        "y = f(x)[-k:]",
        "y = f(x)[::-1][:k]",
        "y = f(x)[:, :k]",
        "y = f(x)[..., -5:]",
        "y = f(x)[0]",
        "y = f(x).head(3)",
        "y = f(x).iloc[:3]",
        "y = f(x)\nz = y[:k]\nshow(y[0])",
        "y = f(x)[::-1]\nz = y[:k]",
    ],
)
def test_the_first_few(text: str) -> None:
    assert few(text)


@pytest.mark.parametrize(
    "text",
    [
        "y = f(x)",
        "y = f(x)[10:]",
        "y = f(x)[:-1]",
        "y = f(x)[i]",
        "y = f(x)[::-1]",
        "y = f(x)[:5000]",
        "half = len(x) // 2\ny = f(x)[:half]",
        "y = f(x)\nz = y[:k]\nw = y[k:]",
        "y = f(x)\nz = y[:k]\nsave(y)",
        "y = f(x)\nz = y[:k]\ny = 3",
        "y = x[f(x)][:k]",
        "y = z = f(x)\nw = y[:k]\nsave(z)",
        "show(f(x))",
    ],
)
def test_all_or_not_known(text: str) -> None:
    lines = text.splitlines()
    assert not few(text, next(number for number, each in enumerate(lines, 1) if "f(x)" in each))


def test_of_a_function_only_its_own_names_count() -> None:
    source = "def best(x):\n    y = f(x)\n    return y[:k]\n\ny = 3\nprint(y)\n"
    assert few(source, 2)
