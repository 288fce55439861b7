"""What a loop's names go over."""

from __future__ import annotations

import ast

import pytest

from gpuprof.rules.cell.cell_bindings import _pairs, dotted


@pytest.mark.parametrize(
    ("loop", "pairs"),
    [
        ("for each in layers: pass", {"each": "layers"}),
        ("for each in reversed(layers): pass", {"each": "layers"}),
        ("for each in chosen(layers): pass", {"each": "chosen(layers)"}),
        ("for each in reversed(): pass", {"each": "reversed()"}),
        ("for a, b in zip(first, second): pass", {"a": "first", "b": "second"}),
        ("for a, b in zip(first): pass", {}),
        ("for a, b in both(first, second): pass", {}),
        ("for at, each in enumerate(layers): pass", {"each": "layers"}),
        ("for at, each in enumerate(reversed(layers), 1): pass", {"each": "layers"}),
        ("for at, each, more in enumerate(layers): pass", {}),
        ("for at, each in enumerate(): pass", {}),
        ("for at, (a, b) in enumerate(zip(first, second)): pass", {"a": "first", "b": "second"}),
        ("for held[0] in layers: pass", {}),
    ],
)
def test_what_each_name_goes_over(loop: str, pairs: dict[str, str]) -> None:
    node = ast.parse(loop).body[0]
    assert isinstance(node, ast.For)
    assert {name.id: ast.unparse(over) for name, over in _pairs(node.target, node.iter)} == pairs


@pytest.mark.parametrize(
    ("text", "name"),
    [("model", "model"), ("self.net.head", "self.net.head"), ("made().head", ""), ("held[0]", ""), ("made()", "")],
)
def test_names_and_attributes_are_joined(text: str, name: str) -> None:
    assert dotted(ast.parse(text, mode="eval").body) == name
