"""Losses that a loop adds up for one backward pass: a backward pass for each of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from gpuprof.code_edits.syntax import matching as m
from gpuprof.code_edits.syntax.statements import block_of
from gpuprof.code_edits.syntax.tree import CellTree

_BACKWARD = m.Call(m.Attribute(attr=m.Name("backward")))
# what changes or reads gradients, or needs to know which backward pass is the last
_OF_GRADIENTS = re.compile(r"zero_grad|\.grad\b|\.step\(|\.backward\(")
_OF_PASSES = re.compile(r"DistributedDataParallel|no_sync|register_hook|register_full_backward|autograd\.grad")
_NOTHING = re.compile(r"(?:0|0\.0*|0\.|torch\.zeros\(.*\)|torch\.tensor\((?:0|0\.0*|0\.)(?:,.*)?\))", re.DOTALL)


def backward_for_each(source: str, added: int, backward: int) -> str | None:
    """`loss = loss + EXPR` at line `added` as `loss_part = EXPR`, `loss_part.backward()`, `loss = loss +
    loss_part.detach()`, without the `loss.backward()` at line `backward`.

    None unless the sum begins at zero before the loop, gradients are zeroed before it, too, and nothing else in the
    loop, or between it and the backward pass, uses the sum or the gradients.
    """
    tree = None if _OF_PASSES.search(source) else CellTree.of(source)
    if tree is None:
        return None
    line, call = _line_at(tree, added), _line_at(tree, backward)
    summed = _summed(line) if line is not None else None
    loop = tree.nearest(line, cst.For) if line is not None else None
    if line is None or call is None or summed is None or loop is None or loop.orelse is not None:
        return None
    name, loss = summed
    part = f"{name}_part"
    if block_of(tree, line) is not loop.body or not _calls(call, name) or not _fits(tree, loop, line, call, name):
        return None
    if part in source or "detach" in tree.code(loss) or ".item()" in tree.code(loss):
        return None
    codes = (f"{part} = {tree.code(loss)}\n", f"{part}.backward()\n", f"{name} = {name} + {part}.detach()\n")
    made = [cst.parse_statement(code) for code in codes]
    made[0] = made[0].with_changes(leading_lines=line.leading_lines)
    made[2] = made[2].with_changes(body=_detached(line, part))
    return tree.changed({line: lambda _: cst.FlattenSentinel(made), call: lambda _: cst.RemoveFromParent()})


def _line_at(tree: CellTree, line: int) -> cst.SimpleStatementLine | None:
    found = [each for each in tree.all(m.SimpleStatementLine()) if tree.place(each)[0] == line]
    return found[0] if len(found) == 1 and len(found[0].body) == 1 else None


def _summed(line: cst.SimpleStatementLine) -> tuple[str, cst.BaseExpression] | None:
    """`loss` and `EXPR` of `loss = loss + EXPR` and `loss += EXPR`."""
    statement = line.body[0]
    if isinstance(statement, cst.AugAssign) and isinstance(statement.target, cst.Name):
        return (statement.target.value, statement.value) if m.matches(statement.operator, m.AddAssign()) else None
    if not isinstance(statement, cst.Assign) or len(statement.targets) != 1:
        return None
    target, value = statement.targets[0].target, statement.value
    if not isinstance(target, cst.Name) or not m.matches(value, m.BinaryOperation(m.Name(target.value), m.Add())):
        return None
    return (target.value, value.right) if isinstance(value, cst.BinaryOperation) else None


def _detached(line: cst.SimpleStatementLine, part: str) -> Sequence[cst.BaseSmallStatement]:
    """The statement that adds up, with `part.detach()` in place of what it adds."""
    statement, value = line.body[0], cst.parse_expression(f"{part}.detach()")
    if isinstance(statement, cst.Assign) and isinstance(statement.value, cst.BinaryOperation):
        value = statement.value.with_changes(right=value)
    return [statement.with_changes(value=value)]


def _calls(call: cst.SimpleStatementLine, name: str) -> bool:
    wanted = m.Expr(m.Call(m.Attribute(value=m.Name(name), attr=m.Name("backward")), args=[]))
    return m.matches(call.body[0], wanted)


def _fits(
    tree: CellTree, loop: cst.For, line: cst.SimpleStatementLine, call: cst.SimpleStatementLine, name: str
) -> bool:
    """Whether gradients and the sum are zero before the loop, and left alone until the backward pass after it."""
    block = block_of(tree, loop)
    if block is None or block is not block_of(tree, call):
        return False
    statements = list(block.body)
    at, end = statements.index(loop), statements.index(call)
    before, between = statements[:at], statements[at + 1 : end]
    if end < at or any(_OF_GRADIENTS.search(tree.code(each)) for each in (*loop.body.body, *between)):
        return False
    zeroed = [each for each in before if ".zero_grad(" in tree.code(each)]
    stepped = [each for each in before if re.search(r"\.step\(|\.backward\(", tree.code(each))]
    if not zeroed or (stepped and statements.index(stepped[-1]) > statements.index(zeroed[-1])):
        return False
    uses = [each for each in statements[:end] if each is not loop and _uses(tree, each, name)]
    if not uses or not _begins(tree, uses[-1], name) or statements.index(uses[-1]) > at:
        return False
    others = [each for each in tree.names(loop) if each.value == name and tree.place(each)[0] not in tree.lines(line)]
    others += [each for each in tree.names(line) if each.value == name][2 - isinstance(line.body[0], cst.AugAssign) :]
    calls = [each for each in tree.all(_BACKWARD) if name in tree.code(each)]
    return not others and len(calls) == 1


def _uses(tree: CellTree, statement: cst.CSTNode, name: str) -> bool:
    return any(each.value == name for each in tree.names(statement))


def _begins(tree: CellTree, statement: cst.CSTNode, name: str) -> bool:
    """Whether it is `loss = 0.0`, or as much."""
    wanted = m.Assign(targets=[m.AssignTarget(m.Name(name))])
    line = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1 else None
    return isinstance(line, cst.Assign) and m.matches(line, wanted) and bool(_NOTHING.fullmatch(tree.code(line.value)))
