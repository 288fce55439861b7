"""What the text of a notebook says of forward hooks: which functions are registered, and what they fill."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.analyses.memory.kept_graphs import filled_in

_HOOKING = ("register_forward_hook", "register_forward_pre_hook")


def hooks_in(source: str) -> Iterator[tuple[str, str]]:
    """`(function, name)` where a function that the text registers as a forward hook fills `name`."""
    tree = parsed(source)
    nodes = list(ast.walk(tree)) if tree else []
    given = {
        name.id
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _HOOKING
        for each in (*node.args, *(given.value for given in node.keywords))
        for name in ast.walk(each)
        if isinstance(name, ast.Name)
    }
    for node in nodes:
        if isinstance(node, ast.FunctionDef) and node.name in given:
            for inner in ast.walk(node):
                target = filled_in(inner)
                if target is not None:
                    yield node.name, ast.unparse(target).partition(".")[0].partition("[")[0]


def lines_of_hook(source: str, hook: str) -> Iterator[int]:
    """The lines that fill something in the function of that name."""
    tree = parsed(source)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.FunctionDef) and node.name == hook:
            yield from (inner.lineno for inner in ast.walk(node) if filled_in(inner))  # type: ignore[attr-defined]
