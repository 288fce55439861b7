"""The targets of a loss, in the cell's own names."""

from __future__ import annotations

import ast

from gpuprof.analyses.loops.written_loops import parsed


def targets_at(source: str, line: int) -> str:
    """`labels` of `cross_entropy(logits.view(-1, V), labels.view(-1))` in that line; empty where the text says none."""
    tree = parsed(source)
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call)] if tree is not None else []
    losses = [each for each in calls if each.lineno <= line <= (each.end_lineno or each.lineno)]
    given = [_targets(each) for each in losses if "entropy" in ast.unparse(each.func)]
    found = {_root(each) for each in given if each is not None}
    return found.pop() if len(found) == 1 else ""


def _targets(call: ast.Call) -> ast.expr | None:
    named = next((each.value for each in call.keywords if each.arg == "target"), None)
    return named or (call.args[1] if len(call.args) > 1 else None)


def _root(node: ast.expr) -> str:
    """`labels` of `labels.view(-1).long()`: parts of it have another mask."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
    return node.id if isinstance(node, ast.Name) else ""
