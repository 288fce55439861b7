"""The targets of a loss, in the cell's own names."""

from __future__ import annotations

import ast

from gpuprof.analyses.loops.written_loops import parsed

_PREDICTION_AND_TARGETS = 2


def targets_at(source: str, line: int) -> str:
    """`labels` of `cross_entropy(logits.view(-1, V), labels.view(-1))` in that line; empty where the text says none."""
    tree = parsed(source)
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call)] if tree is not None else []
    found = {
        _root(given)
        for each in calls
        if each.lineno <= line <= (each.end_lineno or each.lineno) and "entropy" in ast.unparse(each.func)
        for given in [*each.args, *(one.value for one in each.keywords if one.arg == "target")][1:2]
        if len(each.args) >= _PREDICTION_AND_TARGETS or each.keywords
    }
    found.discard("")
    return found.pop() if len(found) == 1 else ""


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Call | ast.Attribute | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
