"""Whether what a part is chosen by is known where the whole is computed: in that function, and by then."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from gpuprof.analyses.loops.written_loops import parsed

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_MODULES = frozenset({"torch", "np", "numpy", "F", "nn"})


@dataclass(frozen=True)
class Reach:
    """From where a part is chosen to where the whole is computed.

    `part`: the index, as it is written; empty where it is none. `function`: where the whole is computed, if that is
    another function, and `call`: the line that calls it from here. `late`: lines between, which give the names that
    choose the part their values.
    """

    part: str
    function: str
    call: int
    late: tuple[int, ...]


def reach(source: str, computed: int, chosen: int, names: Collection[str] = ()) -> Reach | None:
    """Between these two lines of a text; `names`: what the part is chosen by, instead of the index in line `chosen`.

    None where the text cannot be read, or no line of the choosing function leads to the other one.
    """
    tree = parsed(source)
    if tree is None:
        return None
    inner, outer = _function_at(tree, computed), _function_at(tree, chosen)
    scope = outer or tree
    if inner is not None and inner is not outer:
        call = max((line for line in _calls(tree, scope, inner.name) if line <= chosen), default=0)
    else:
        call = computed if inner is outer else 0
    if not call:
        return None
    part = "" if names else _index_at(tree, chosen, call)
    late = _late(scope, set(names) or _names(part), call, chosen)
    return Reach(part, inner.name, call, late) if inner is not None and inner is not outer else Reach(part, "", 0, late)


def _function_at(tree: ast.Module, line: int) -> _Function | None:
    around = [each for each in ast.walk(tree) if isinstance(each, _Function)]
    around = [each for each in around if each.lineno <= line <= (each.end_lineno or each.lineno)]
    return max(around, key=lambda each: each.lineno, default=None)


def _index_at(tree: ast.Module, line: int, made: int) -> str:
    """Of the one part that is taken in a line: of what line `made` gives a name, else of anything named or called."""
    parts = {
        (node.value.id if isinstance(node.value, ast.Name) else "", ast.unparse(node.slice).strip("()"))
        for statement in _statements(tree, line)
        for node in ast.walk(statement)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
        if isinstance(node.value, ast.Name | ast.Call)
    }
    given = {
        node.id
        for statement in _statements(tree, made)
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    of_it = {part for name, part in parts if name in given} or {part for _, part in parts}
    return of_it.pop() if len(of_it) == 1 else ""


def _statements(tree: ast.Module, line: int) -> list[ast.stmt]:
    found = [each for each in ast.walk(tree) if isinstance(each, ast.stmt) and not hasattr(each, "body")]
    return [each for each in found if each.lineno <= line <= (each.end_lineno or each.lineno)]


def _names(part: str) -> set[str]:
    tree = parsed(f"_[{part}]") if part else None
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} if tree is not None else set()
    return found - _MODULES - {"_"}


def _late(scope: ast.AST, names: set[str], after: int, until: int) -> tuple[int, ...]:
    """Lines from `after` on that give one of these names a value; loops around give theirs before."""
    stored = (node for node in ast.walk(scope) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return tuple(sorted({node.lineno for node in stored if node.id in names and after <= node.lineno < until}))


def _calls(tree: ast.Module, scope: ast.AST, function: str) -> Iterator[int]:
    """Lines that call it by its name, as a method, or as the object whose `forward` or `__call__` it is."""
    kinds = {each.name for each in ast.walk(tree) if isinstance(each, ast.ClassDef) and _has(each, function)}
    objects = function in ("forward", "__call__")
    made = {
        target.id
        for node in ast.walk(tree)
        if objects and isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        for target in node.targets
        if isinstance(target, ast.Name) and _last(node.value.func) in kinds
    }
    for node in ast.walk(scope):
        if isinstance(node, ast.Call) and _last(node.func) in {function, *made, *(("self",) if objects else ())}:
            yield node.lineno


def _has(owner: ast.ClassDef, function: str) -> bool:
    return any(isinstance(each, _Function) and each.name == function for each in owner.body)


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
