"""Losses that are kept after their step, without the graph of that step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import libcst as cst

from gpuprof.code_edits.syntax import matching as m
from gpuprof.code_edits.syntax.tree import CellTree, Changes

_BACKWARD = m.Call(m.Attribute(attr=m.Name("backward")))
_COLLECTS = m.OneOf(*(m.Name(each) for each in ("append", "add", "insert", "appendleft")))


def detach_kept(source: str, lines: Sequence[int]) -> str | None:
    """`total += loss` and `losses.append(loss)` at these lines with `loss.detach()`.

    None unless all of them can be changed, or where `backward()` is called on anything but a loss of such a line:
    what is kept may be needed with its graph.
    """
    tree = CellTree.of(source)
    if tree is None:
        return None
    losses = {name for call in tree.all(_BACKWARD) for name in _losses_of(tree, call.func.value)}
    changes: Changes = {}
    for line in lines:
        kept = _kept_at(tree, line, losses)
        if not kept:
            return None
        changes |= {name: lambda made: _detached(made) for name in kept}
    containers = {tree.code(each) for line in lines for each in _containers(tree, line)}
    if losses != {name.value for name in changes if isinstance(name, cst.Name)} or containers & losses:
        return None
    return tree.changed(changes)


def _kept_at(tree: CellTree, line: int, losses: set[str]) -> list[cst.Name]:
    """The losses that the line adds to a sum or puts into a list, as they stand there alone."""
    values = [added.value for added in _at(tree, line, m.AugAssign(operator=m.AddAssign()))]
    for assign in _at(tree, line, m.Assign(value=m.BinaryOperation(operator=m.Add()))):
        values += [assign.value.left, assign.value.right]
    for call in _at(tree, line, m.Call(m.Attribute(attr=_COLLECTS))):
        given = [arg.value for arg in call.args]
        values += [part.value for each in given if isinstance(each, cst.Tuple | cst.List) for part in each.elements]
        values += given
    return [each for each in values if isinstance(each, cst.Name) and each.value in losses]


def _containers(tree: CellTree, line: int) -> list[cst.BaseExpression]:
    sums = [each.target for each in _at(tree, line, m.AugAssign())]
    return sums + [each.targets[0].target for each in _at(tree, line, m.Assign())]


def _at(tree: CellTree, line: int, matcher: m.Pattern) -> list[Any]:
    return [each for each in tree.all(matcher) if tree.place(each)[0] == line]


def _losses_of(tree: CellTree, value: cst.BaseExpression) -> set[str]:
    """`loss` of `loss.backward()`, `(loss / 4).backward()`, `scaler.scale(loss).backward()`."""
    if isinstance(value, cst.Name):
        return {value.value}
    return {name.value for name in tree.names(value) if not isinstance(tree.parent(name), cst.Attribute)}


def _detached(name: cst.Name) -> cst.Call:
    return cst.Call(cst.Attribute(value=name, attr=cst.Name("detach")))
