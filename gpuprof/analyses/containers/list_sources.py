"""What a list that one statement makes is made of: a generator, a loader, or a comprehension, through which a loop
could go itself."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from gpuprof.analyses.containers.item_aliases import ItemAliases, put_in
from gpuprof.analyses.memory.kept_graphs import filled_in

_LISTS = {"list", "tuple", "sorted"}
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True)
class ListSource:
    """`text`: the iterator of `list(text)`, or a list comprehension; empty where it is neither."""

    text: str = ""
    comprehension: bool = False


UNKNOWN = ListSource()


def source_of(bound: ast.stmt, functions: dict[str, ast.FunctionDef], tree: ast.Module) -> ListSource | None:
    """Of `name = list(…)` or of a comprehension; None where its items are kept all together anyway, by another list or
    by the function that makes them."""
    value = bound.value if isinstance(bound, ast.Assign | ast.AnnAssign) else None
    if isinstance(value, ast.ListComp):
        return ListSource(ast.unparse(value), comprehension=True)
    if not isinstance(value, ast.Call) or not value.args:
        return UNKNOWN
    given = value.args[0]
    called = given.func if isinstance(given, ast.Call) else None
    function = functions.get(called.id) if isinstance(called, ast.Name) else None
    if function is not None:
        kept = not _yielded(function) or _keeps_items(function, functions)
    else:
        kept = isinstance(given, ast.Name) and any(_binds_list(node, given.id) for node in ast.walk(tree))
    return None if kept else ListSource(ast.unparse(given))


def _yielded(function: ast.FunctionDef) -> list[ast.Yield | ast.YieldFrom]:
    return [each for each in _own(function) if isinstance(each, ast.Yield | ast.YieldFrom)]


def _keeps_items(generator: ast.FunctionDef, functions: dict[str, ast.FunctionDef]) -> bool:
    """Whether the generator itself keeps what it yields."""
    values = [each.value for each in _yielded(generator) if each.value is not None]
    parts = [each for value in values for each in (value.elts if isinstance(value, ast.Tuple) else [value])]
    items = ItemAliases({each.id for each in parts if isinstance(each, ast.Name)}, functions)
    fills = (node for node in _own(generator) if filled_in(node) is not None)
    return any(items.may_be_item(value) for node in fills for value in put_in(node))


def _binds_list(node: ast.AST, name: str) -> bool:
    if not isinstance(node, ast.Assign):
        return False
    if not any(isinstance(each, ast.Name) and each.id == name for each in node.targets):
        return False
    called = getattr(node.value.func, "id", "") if isinstance(node.value, ast.Call) else ""
    return called in _LISTS or isinstance(node.value, ast.List | ast.ListComp | ast.Tuple)


def _own(function: ast.AST) -> list[ast.AST]:
    """What is in a function, without functions inside it."""
    found = list[ast.AST]()
    for node in ast.iter_child_nodes(function):
        if not isinstance(node, _FUNCTIONS):
            found += [node, *_own(node)]
    return found
