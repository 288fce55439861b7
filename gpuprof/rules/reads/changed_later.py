"""Which later line of a loop may change what a statement reads: after the loop it would give something else."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.cell.effects import has_effects
from gpuprof.rules.cell.known_calls import only_known
from gpuprof.rules.cell.pure_calls import words

_Function = ast.FunctionDef | ast.AsyncFunctionDef
# what tells or keeps something, and leaves it as it is
_TELL = words("add_scalar append display dump extend info log print save set_description set_postfix show write")


def changed_later(
    body: Sequence[ast.stmt],
    moved: Sequence[ast.stmt],
    functions: Mapping[str, _Function],
    modules: Mapping[str, str],
) -> int | None:
    """Of a loop's statements, behind the first of the `moved` ones, the line that may change what these read: what is
    known to change something before what nobody knows. None where there is none, or they are not of the loop itself."""
    first = next((at for at, each in enumerate(body) if each in moved), None)
    if first is None:
        return None
    own = {name for each in moved for name in _names(each, ast.Store)}
    read = {name for each in moved for name in _reads(each, functions)} - own
    later = [node for each in body[first + 1 :] if each not in moved for node in ast.walk(each)]
    calls = [each for each in later if isinstance(each, ast.Call) and _bare(each) not in _TELL]
    sure = [each.lineno for each in calls if has_effects(each, functions)]
    sure += [each.lineno for each in later if isinstance(each, ast.expr) and _stored(each) in read]
    unknown = [each.lineno for each in calls if not only_known(each, functions, modules)]
    return min(sure or unknown, default=None)


def _reads(statement: ast.AST, functions: Mapping[str, _Function]) -> set[str]:
    """The names that it reads, those of the functions that it calls included."""
    found, waiting, seen = set[str](), [statement], set[str]()
    while waiting:
        names = _names(waiting.pop(), ast.Load)
        found |= names
        waiting += [functions[each] for each in names & functions.keys() - seen]
        seen |= names
    return found


def _stored(node: ast.expr) -> str:
    """The name of what gets a value, or of which a part gets one; empty where nothing does."""
    if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript) or isinstance(node.ctx, ast.Load):
        return ""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _names(node: ast.AST, context: type[ast.expr_context]) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, context)}


def _bare(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else dotted(call.func)
