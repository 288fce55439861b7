"""Whole numbers of a text, and the names that stand for them."""

from __future__ import annotations

import ast


def whole_number(tree: ast.AST, node: ast.expr) -> int | None:
    """The number that an expression stands for, where the text gives it once."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = whole_number(tree, node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    values = given(tree, _name(node))
    return whole_number(tree, values[0]) if len(values) == 1 and isinstance(values[0], ast.Constant) else None


def given(tree: ast.AST, name: str) -> list[ast.expr]:
    """All that a text assigns to a dotted name."""
    if not name:
        return []
    found = [
        pair
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        for pair in _pairs(target, node.value)
    ]
    return [value for target, value in found if _name(target) == name]


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """Each with what it is given: `SIZE, CROP = 256, 96` gives two."""
    several = ast.Tuple | ast.List
    if isinstance(target, several) and isinstance(value, several) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def _name(node: ast.expr) -> str:
    """Of a name, or an attribute of something."""
    return ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""
