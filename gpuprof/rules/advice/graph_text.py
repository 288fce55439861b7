"""What keeps the graphs of results in a list, by the text: the state that goes from one turn into the next."""

from __future__ import annotations

import ast
from typing import NamedTuple, TypeGuard

from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.rules.cell.cell_bindings import dotted

_Loop = ast.For | ast.While
_ADDS = ("append", "extend", "appendleft", "insert")
_DERIVES = ("grad", "jacobian", "hessian", "vjp", "jvp")


class CarriedState(NamedTuple):
    """`name` gets a value in line `line` of a loop, computed from the one it had in the turn before."""

    name: str
    line: int


def carried_into(source: str, results: str) -> CarriedState | None:
    """The state whose values a loop of the text appends to the list `results`: each one’s graph leads to all earlier
    ones, so that copies in the list free nothing."""
    tree = parsed(source)
    return _carried(tree, results) if tree is not None else None


def carried_behind(source: str, name: str) -> CarriedState | None:
    """The same of any list in a function of the text that gives `name` its value."""
    tree = parsed(source)
    nodes = list(ast.walk(tree)) if tree is not None else []
    made = [each.value for each in nodes if isinstance(each, ast.Assign) and _gives(each, name)]
    called = {dotted(each.func) for value in made for each in ast.walk(value) if isinstance(each, ast.Call)}
    functions = (each for each in nodes if isinstance(each, ast.FunctionDef) and each.name in called)
    return next((state for each in functions if (state := _carried(each)) is not None), None)


def _carried(within: ast.AST, results: str | None = None) -> CarriedState | None:
    for loop in ast.walk(within):
        if not isinstance(loop, _Loop):
            continue
        added = [each.args[-1] for each in ast.walk(loop) if _adds_to(each, results)]
        for node in (each for value in added for each in ast.walk(value) if isinstance(each, ast.Name)):
            for each in loop.body:
                if isinstance(each, ast.Assign) and _gives(each, node.id) and _reads(each.value, node.id):
                    return CarriedState(node.id, each.lineno)
    return None


def derives(source: str) -> bool:
    """Whether the text computes derivatives other than by a loss: `torch.no_grad()` would forbid them."""
    tree = parsed(source)
    calls = (each for each in ast.walk(tree) if isinstance(each, ast.Call)) if tree is not None else ()
    return any(dotted(each.func).rpartition(".")[2] in _DERIVES for each in calls)


def _adds_to(node: ast.AST, results: str | None) -> TypeGuard[ast.Call]:
    """Whether it puts something into the list of that name, or into any."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr not in _ADDS:
        return False
    return bool(node.args) and results in (None, dotted(node.func.value))


def _gives(statement: ast.Assign, name: str) -> bool:
    targets = (inner for each in statement.targets for inner in ast.walk(each))
    return any(isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Store) for each in targets)


def _reads(value: ast.expr, name: str) -> bool:
    """Whether it computes with it, and not only with a copy without its graph."""
    detached = {
        id(inner)
        for each in ast.walk(value)
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr == "detach"
        for inner in ast.walk(each.func)
    }
    return any(isinstance(each, ast.Name) and each.id == name and id(each) not in detached for each in ast.walk(value))
