"""What the cell calls the matrices that a line multiplies."""

from __future__ import annotations

import ast
from collections.abc import Sequence

_LONGEST = 24
_OF_A_VECTOR = ("diag", "diag_embed")


def operand_names(source: str, line: int, order: object, diagonal: Sequence[bool]) -> tuple[str, ...] | None:
    """The operands of the one chain of `@` at that line, if it runs in this order: names, attributes, short calls.

    Of a diagonal matrix the vector that `torch.diag` is given. None where it cannot be told.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    found = [each for node in ast.walk(tree) if (each := _product(node)) is not None and each.lineno == line]
    inner = {id(side) for each in found for side in (each.left, each.right)}
    whole = [each for each in found if id(each) not in inner]
    operands = list[ast.expr]()
    if len(whole) != 1 or _order(whole[0], operands) != order or len(operands) != len(diagonal):
        return None
    names = [_name(each, vector) for each, vector in zip(operands, diagonal, strict=True)]
    return None if None in names else tuple(str(name) for name in names)


def _product(node: ast.AST) -> ast.BinOp | None:
    return node if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult) else None


def _order(node: ast.expr, operands: list[ast.expr]) -> object:
    made = _product(node)
    if made is not None:
        return _order(made.left, operands), _order(made.right, operands)
    operands.append(node)
    return len(operands) - 1


def _name(node: ast.expr, diagonal: bool) -> str | None:
    if diagonal:
        if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
            return None
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        node = node.args[0] if called in _OF_A_VECTOR else node
        if not isinstance(node, ast.Name | ast.Attribute):
            return None
    text = ast.unparse(node)
    return text if isinstance(node, ast.Name | ast.Attribute | ast.Call) and len(text) <= _LONGEST else None
