"""Which lines of a source run without gradients, and which functions are there to evaluate."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

_WITHOUT_GRADIENTS = ("no_grad", "inference_mode")
_MORE_THAN_THAT = re.compile(r"train|fit|main|run")
_EVALUATING = re.compile(r"(^|_)(eval|evaluate|evaluation|val|valid|validate|validation|test)(_|$)")


@lru_cache(maxsize=64)
def lines_without_gradients(source: str) -> frozenset[int]:
    """The lines in `with torch.no_grad()` (or `inference_mode`) blocks, and in functions so decorated.

    Empty where the source does not parse.
    """
    found: set[int] = set()
    for node in _nodes(source):
        marks: list[ast.expr] = []
        if isinstance(node, (ast.With, ast.AsyncWith)):
            marks = [item.context_expr for item in node.items]
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            marks = node.decorator_list
        if any(_name(mark) in _WITHOUT_GRADIENTS for mark in marks):
            found.update(range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1))  # type: ignore[attr-defined]
    return frozenset(found)


def evaluates(function: str) -> bool:
    """Whether its name says that it evaluates, and nothing else: `evaluate`, `val_epoch`, not `train_and_test`."""
    name = function.rsplit(".", 1)[-1].lower()
    return bool(_EVALUATING.search(name)) and not _MORE_THAN_THAT.search(name)


def _nodes(source: str) -> list[ast.AST]:
    # a magic on the first line is not Python
    lines = ["" if line.startswith(("%", "!")) else line for line in source.splitlines()]
    try:
        return list(ast.walk(ast.parse("\n".join(lines))))
    except (SyntaxError, ValueError):
        return []


def _name(mark: ast.expr) -> str:
    if isinstance(mark, ast.Call):
        mark = mark.func
    return mark.attr if isinstance(mark, ast.Attribute) else mark.id if isinstance(mark, ast.Name) else ""
