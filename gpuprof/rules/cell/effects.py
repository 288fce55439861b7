"""Whether a statement of a text may change something else than its own variables."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.cell.known_calls import is_mode
from gpuprof.rules.cell.pure_calls import words

_Function = ast.FunctionDef | ast.AsyncFunctionDef
# what changes something else than its result: a model, an iterator, a file, what somebody reads
_EFFECTS = words(
    """
    add append backward display dump extend fit load_state_dict log next partial_fit pop print push put save seed show
    step train update write zero_grad
    """
)
_DEEPEST = 4
_NUMERIC = ("torch", "np", "numpy", "math", "jnp")


def has_effects(node: ast.AST, functions: Mapping[str, _Function], depth: int = 0) -> bool:
    """Whether it, or what it calls of the text, may change more than its own variables."""
    own = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)}
    for each in ast.walk(node):
        if isinstance(each, ast.Global | ast.Nonlocal | ast.Yield | ast.YieldFrom | ast.Await | ast.NamedExpr):
            return True
        if (
            isinstance(each, ast.Attribute | ast.Subscript)
            and not isinstance(each.ctx, ast.Load)
            and _root(each) not in own
        ):
            return True
        if not isinstance(each, ast.Call):
            continue
        name = each.func.attr if isinstance(each.func, ast.Attribute) else dotted(each.func)
        inside = isinstance(each.func, ast.Attribute) and (_root(each.func) in own or _just_made(each.func.value))
        if name in _EFFECTS and not inside and not is_mode(each, node) and not _is_logarithm(each):
            return True
        called = functions.get(dotted(each.func))
        if (
            called is not None
            and called is not node
            and (depth == _DEEPEST or has_effects(called, functions, depth + 1))
        ):
            return True
    return False


def _is_logarithm(call: ast.Call) -> bool:
    """`x.log()` and `np.log(x)`; what a logger logs is an argument."""
    name, _, function = dotted(call.func).rpartition(".")
    is_log = isinstance(call.func, ast.Attribute) and call.func.attr == "log"
    return is_log and (not (call.args or call.keywords) or (function == "log" and name in _NUMERIC))


def _just_made(node: ast.expr) -> bool:
    """Whether it has just been made: `KNNImputer(5)` of `KNNImputer(5).fit(x)`."""
    return isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2][:1].isupper()


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
