"""What stands on one line of a text."""

from __future__ import annotations

import ast
from functools import lru_cache

from gpuprof.analyses.loops.written_loops import parsed


def expressions_at(source: str, line: int) -> list[ast.AST]:
    """The nodes of the innermost statement on that line, of a compound one those of its head. Empty where none is
    known."""
    tree = parsed(source)
    found = [node for node in (ast.walk(tree) if tree else ()) if isinstance(node, ast.stmt) and _holds(node, line)]
    inner = max(found, key=lambda node: (node.lineno, -(node.end_lineno or node.lineno)), default=None)
    try:
        return _of_head(inner) if inner is not None else []
    except RecursionError:  # an expression of a thousand terms
        return []


@lru_cache(maxsize=16)
def imported_names(source: str) -> frozenset[str]:
    """The names that stand for what a text imports."""
    tree = parsed(source)
    imports = [node for node in (ast.walk(tree) if tree else ()) if isinstance(node, ast.Import | ast.ImportFrom)]
    return frozenset(each.asname or each.name.partition(".")[0] for node in imports for each in node.names)


def _holds(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _of_head(node: ast.AST) -> list[ast.AST]:
    found = [node]
    for each in ast.iter_child_nodes(node):
        if not isinstance(each, ast.stmt | ast.ExceptHandler | ast.match_case):
            found += _of_head(each)
    return found
