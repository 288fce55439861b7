"""Where the text broadcasts two tensors against each other and reduces the result: `(a[:, None] - b[None]).sum(-1)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.analyses.memory.broadcast_forms import Reduced, reduced_as

_REDUCE = {
    "all", "amax", "amin", "any", "argmax", "argmin", "logsumexp", "max", "mean", "min", "norm", "prod", "std", "sum",
    "var", "vector_norm",
}  # fmt: skip
_COMBINE = {"add", "eq", "maximum", "minimum", "mul", "sub", "where"}
_SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
_LONGEST_CHAIN = 10


@dataclass(frozen=True)
class WrittenBroadcast:
    """In the text of `file` (empty: the profiled cell) line `made` broadcasts two tensors, and line `reduced` reduces
    the result. `lines`: from one to the other, those that hand it on. `becomes`: what the reduction makes of it."""

    file: str
    made: int
    reduced: int
    lines: tuple[int, ...]
    becomes: Reduced


def written_broadcasts(file: str, source: str) -> Iterator[WrittenBroadcast]:
    """Those of a text, scope by scope; only where both sides get a new axis, and not the same one."""
    tree = parsed(source)
    if tree is None:
        return
    scopes: list[ast.AST] = [tree, *(node for node in ast.walk(tree) if isinstance(node, _SCOPES))]
    for scope in scopes:
        nodes = sorted(_inside(scope), key=lambda node: (getattr(node, "lineno", 0), getattr(node, "col_offset", 0)))
        for node in nodes:
            sides = _sides(node)
            if sides is not None and isinstance(node, ast.expr) and _is_outer(*sides):
                found = _reduced(nodes, node)
                if found is not None:
                    yield WrittenBroadcast(file, node.lineno, found[-1], tuple(found), reduced_as(scope, node))


def _inside(scope: ast.AST) -> Iterator[ast.AST]:
    """What belongs to a scope, without the scopes in it."""
    for node in ast.iter_child_nodes(scope):
        if not isinstance(node, _SCOPES):
            yield node
            yield from _inside(node)


def _sides(node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    if isinstance(node, ast.BinOp):
        return node.left, node.right
    if isinstance(node, ast.Call) and _called(node) in _COMBINE and len(node.args) >= 2:
        return node.args[-2], node.args[-1]
    return None


def _is_outer(left: ast.expr, right: ast.expr) -> bool:
    first, second = _new_axis(left), _new_axis(right)
    return first is not None and second is not None and first != second


def _new_axis(node: ast.expr) -> int | None:
    """The place of the `None` in `x[:, None, :]`, or the argument of `x.unsqueeze(1)`."""
    if isinstance(node, ast.Subscript):
        index = node.slice
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        places = [at for at, part in enumerate(parts) if _is_none(part)]
        return places[0] if len(places) == 1 else None
    if isinstance(node, ast.Call) and _called(node) == "unsqueeze" and node.args:
        try:
            return int(ast.literal_eval(node.args[-1]))
        except (ValueError, TypeError, SyntaxError):
            return None
    return None


def _is_none(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return node.value is None
    return isinstance(node, ast.Attribute | ast.Name) and ast.unparse(node).endswith("newaxis")


def _reduced(nodes: list[ast.AST], made: ast.expr) -> list[int] | None:
    """The lines from the one that makes it to the one that reduces it, those between that take it included."""
    first = after = made.lineno
    names: list[str] = []
    for _ in range(_LONGEST_CHAIN):
        name = names[-1] if names else None
        call = next((node for node in nodes if _reduces(node, made, name, after)), None)
        if call is not None:
            last = getattr(call, "end_lineno", None) or after
            named = {node.lineno for node in nodes if isinstance(node, ast.Name) and node.id in names}
            return sorted({first, last, *(line for line in named if first <= line <= last)})
        assign = next((node for node in nodes if _hands_on(node, made, name, after)), None)
        target = assign.targets[0] if isinstance(assign, ast.Assign) else None
        if assign is None or not isinstance(target, ast.Name):
            return None
        names.append(target.id)
        after = assign.end_lineno or after
    return None


def _reduces(node: ast.AST, made: ast.AST, name: str | None, after: int) -> bool:
    if not isinstance(node, ast.Call) or _called(node) not in _REDUCE or (node.end_lineno or 0) < after:
        return False
    return _holds(node, made, name)


def _hands_on(node: ast.AST, made: ast.AST, name: str | None, after: int) -> TypeGuard[ast.Assign]:
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return False
    later = node.lineno > after if name else (node.end_lineno or 0) >= after
    return later and _holds(node.value, made, name)


def _holds(node: ast.AST, made: ast.AST, name: str | None) -> bool:
    if name is None:
        return any(inner is made for inner in ast.walk(node))
    return any(isinstance(inner, ast.Name) and inner.id == name for inner in ast.walk(node))


def _called(node: ast.AST) -> str:
    function = getattr(node, "func", None)
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
