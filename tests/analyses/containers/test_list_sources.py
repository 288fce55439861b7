"""What a list is made of, by the text."""

from __future__ import annotations

import ast

import pytest

from gpuprof.analyses.containers.list_sources import UNKNOWN, ListSource, source_of


def source(text: str) -> ListSource | None:
    """Of the list that the last line makes."""
    tree = ast.parse(text)
    functions = {each.name: each for each in tree.body if isinstance(each, ast.FunctionDef)}
    return source_of(tree.body[-1], functions, tree)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("xs = list(loader)", "loader"),
        ("xs: list = sorted(read(path))", "read(path)"),
        ("def parts():\n    yield read()\nxs = list(parts())", "parts()"),
        (
            "def parts():\n    seen = []\n    for x in data:\n        yield x\n    seen.append(1)\nxs = list(parts())",
            "parts()",
        ),
        ("loader = Loader(3)\nxs = list(loader)", "loader"),
        ("other[0] = list(y)\nxs = list(loader)", "loader"),
    ],
)
def test_an_iterator_through_which_a_loop_could_go(text: str, expected: str) -> None:
    assert source(text) == ListSource(expected)


def test_a_comprehension_could_be_a_generator() -> None:
    assert source("xs = [net(x) for x in data]") == ListSource("[net(x) for x in data]", comprehension=True)


@pytest.mark.parametrize("text", ["xs = list()", "xs = []", "xs = other", "xs += list(y)", "list(y)"])
def test_what_is_neither(text: str) -> None:
    assert source(text) is UNKNOWN


@pytest.mark.parametrize(
    "text",
    [
        # another list has them all
        "ys = [1, 2]\nxs = list(ys)",
        "ys = (a, b)\nxs = list(ys)",
        "ys = [f(y) for y in z]\nxs = list(ys)",
        "ys = sorted(z)\nxs = list(ys)",
        # so has the function that makes them
        "def parts():\n    return [read()]\nxs = list(parts())",
        "def parts():\n    seen = []\n    for x in data:\n        seen.append(x)\n        yield x\nxs = list(parts())",
        "def parts():\n    own = []\n    for i, x in d:\n        own.append(x)\n        yield i, x\nxs = list(parts())",
        "def parts():\n    def inner():\n        yield 1\n    return inner\nxs = list(parts())",
    ],
)
def test_what_is_kept_all_together_anyway(text: str) -> None:
    assert source(text) is None
