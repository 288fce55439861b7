"""Calls that a loop is better off without."""

from __future__ import annotations

import re

import libcst as cst

from gpuprof.code_edits.syntax import matching as m
from gpuprof.code_edits.syntax.tree import CellTree, Changes

_MEASURES = re.compile(r"perf_counter|\btime\s*\(|process_time|monotonic|elapsed_time")


def drop_calls(source: str, *names: str) -> str | None:
    """The cell without the statements that call one of `names` (`torch.cuda.empty_cache`) in every round of a loop.

    Only statements that are nothing but that call and stand in the loop's own body; what is under an `if` is rare
    already. None where there is none, or where one is all that a loop does.
    """
    tree = CellTree.of(source)
    if tree is None:
        return None
    changes: Changes = {}
    for statement in _calling(tree, names):
        block = tree.parent(statement)
        if not isinstance(block, cst.IndentedBlock) or not isinstance(tree.parent(block), cst.For | cst.While):
            continue
        if all(each in changes or each is statement for each in block.body):
            return None
        changes[statement] = lambda _: cst.RemovalSentinel.REMOVE
    return tree.changed(changes)


def drop_synchronising(source: str) -> str | None:
    """The cell without `torch.cuda.synchronize()` in its loops; None also where one of them measures time, since its
    figures would then mean something else."""
    tree = CellTree.of(source)
    name = "torch.cuda.synchronize"
    if tree is None:
        return None
    loops = [loop for statement in _calling(tree, (name,)) for loop in tree.loops(statement)]
    if any(_MEASURES.search(tree.code(loop)) for loop in loops):
        return None
    return drop_calls(source, name)


def _calling(tree: CellTree, names: tuple[str, ...]) -> list[cst.SimpleStatementLine]:
    matcher = m.SimpleStatementLine(body=[m.Expr(m.Call())])
    return [each for each in tree.all(matcher) if _name(tree, each.body[0].value.func) in names]


def _name(tree: CellTree, called: cst.BaseExpression) -> str | None:
    """By the imports of this cell; as it stands where an earlier cell imported its root."""
    imported = tree.imported_as(called)
    if imported is not None:
        return imported
    root = tree.code(called).partition(".")[0]
    return None if tree.all(m.AssignTarget(m.Name(root))) else tree.code(called)
