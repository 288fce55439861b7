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
    part = "" if names else _index_at(tree, chosen)
    wanted = set(names) or _names(part)
    if inner is outer:
        return Reach(part, "", 0, _late(outer or tree, wanted, computed, chosen))
    if inner is None:
        return None
    call = max((line for line in _calls(tree, outer or tree, inner.name) if line <= chosen), default=0)
    return Reach(part, inner.name, call, _late(outer or tree, wanted, call, chosen)) if call else None


def _function_at(tree: ast.Module, line: int) -> _Function | None:
    around = [each for each in ast.walk(tree) if isinstance(each, _Function)]
    around = [each for each in around if each.lineno <= line <= (each.end_lineno or each.lineno)]
    return max(around, key=lambda each: each.lineno, default=None)


def _index_at(tree: ast.Module, line: int) -> str:
    """Of the one part that is taken in that line of something named or called."""
    statements = [each for each in ast.walk(tree) if isinstance(each, ast.stmt) and not hasattr(each, "body")]
    inside = [each for each in statements if each.lineno <= line <= (each.end_lineno or each.lineno)]
    parts = {
        ast.unparse(node.slice).strip("()")
        for statement in inside
        for node in ast.walk(statement)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
        if isinstance(node.value, ast.Name | ast.Call)
    }
    return parts.pop() if len(parts) == 1 else ""


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
