"""Chains of matrix products in another order."""

from __future__ import annotations

from typing import Any, TypeAlias

import libcst as cst

from gpuprof.code_edits.syntax import matching as m
from gpuprof.code_edits.syntax.tree import CellTree

# the number of an operand, from 0, or two parts that are multiplied
Parts: TypeAlias = "int | tuple[Parts, Parts]"
_PRODUCT = m.BinaryOperation(operator=m.MatrixMultiply())


def order_products(source: str, line: int, ran: Parts, wanted: Parts) -> str | None:
    """The operands that `line` joins by `@`, in parentheses that give the order `wanted` instead of `ran`.

    None where the line has another number of such chains than one, where that does not run in the order `ran`, or
    where an operand is anything but a name or an attribute of one.
    """
    tree = CellTree.of(source)
    if tree is None:
        return None
    found = [each for each in tree.all(_PRODUCT) if line in tree.lines(each)]
    whole = [each for each in found if tree.parent(each) not in found]
    if len(whole) != 1 or len(tree.lines(whole[0])) != 1:
        return None
    operands = list[cst.BaseExpression]()
    if _parts(whole[0], operands) != ran or not all(_is_plain(each) for each in operands):
        return None

    def reordered(made: Any) -> cst.BaseExpression:
        again = _joined(wanted, operands)
        return again.with_changes(lpar=made.lpar, rpar=made.rpar)

    return tree.changed({whole[0]: reordered})


def _parts(node: cst.BaseExpression, operands: list[cst.BaseExpression]) -> Parts:
    if m.matches(node, _PRODUCT) and isinstance(node, cst.BinaryOperation):
        return _parts(node.left, operands), _parts(node.right, operands)
    operands.append(node)
    return len(operands) - 1


def _is_plain(node: cst.BaseExpression) -> bool:
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name) and not node.lpar


def _joined(parts: Parts, operands: list[cst.BaseExpression]) -> cst.BaseExpression:
    if isinstance(parts, int):
        return operands[parts]
    left, right = (
        each if isinstance(part, int) else each.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        for part, each in ((part, _joined(part, operands)) for part in parts)
    )
    return cst.BinaryOperation(left, cst.MatrixMultiply(), right)
