"""Where the text of a cell makes the values of a variable: assignments, and calls that are handed to a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MODULE = "<module>"
Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = ast.Module | Function
_Given = ast.Assign | ast.AnnAssign


@dataclass(frozen=True)
class ValueMaker:
    """An expression in lines `first` to `last` that makes the values of `names` by `calls`, the outermost first.

    `function`: the one that it is in, empty outside of any. `handed_on`: it is an argument of a call on the same lines,
    so that of their time only what these calls take is meant.
    """

    function: str
    first: int
    last: int
    names: tuple[str, ...]
    calls: tuple[ast.Call, ...]
    handed_on: bool = False

    @property
    def called(self) -> frozenset[str]:
        """The bare names of what it calls."""
        return frozenset(bare_name(each) for each in self.calls)


def bare_name(call: ast.Call) -> str:
    """`fit` of `scaler.fit(x)`."""
    return ast.unparse(call.func).rpartition(".")[2]


def makers(tree: ast.Module, function: str, first: int) -> Iterator[ValueMaker]:
    """Of the variables of that function, which begins in that line (decorators included), or of the text itself."""
    scope = scope_of(tree, function, first)
    if scope is None:
        return
    within = "" if function == MODULE else function
    for node in own_nodes(scope):
        if isinstance(node, _Given) and node.value is not None and (names := _given(node)):
            yield from _maker(within, node, node.value, names)
    if not isinstance(scope, ast.Module):
        yield from _arguments(tree, scope)


def _maker(
    function: str, node: ast.stmt | ast.expr, value: ast.expr, names: tuple[str, ...], *, handed_on: bool = False
) -> Iterator[ValueMaker]:
    calls = tuple(each for each in ast.walk(value) if isinstance(each, ast.Call))
    if calls:
        yield ValueMaker(function, node.lineno, node.end_lineno or node.lineno, names, calls, handed_on)


def scope_of(tree: ast.Module, function: str, first: int) -> Scope | None:
    """The function of that name that begins in that line, its decorators included; the text itself for its own code."""
    if function == MODULE:
        return tree
    functions = [node for node in ast.walk(tree) if isinstance(node, Function) and node.name == function]
    begins = [min([node.lineno, *(each.lineno for each in node.decorator_list)]) for node in functions]
    return next((node for node, line in zip(functions, begins, strict=True) if line == first), None)


def own_nodes(scope: Scope) -> Iterator[ast.AST]:
    """What is in the function itself, without what is in functions inside it."""
    waiting: list[ast.AST] = list(scope.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(node))


def _given(node: _Given) -> tuple[str, ...]:
    """The names (`x`, `self.x`) that the statement gives a value to; empty where it gives one to something else as
    well."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    parts = [part for each in targets for part in (each.elts if isinstance(each, ast.Tuple | ast.List) else [each])]
    names = tuple(ast.unparse(each) for each in parts if _is_named(each))
    return names if len(names) == len(parts) else ()


def _is_named(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) or (isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name))


def _arguments(tree: ast.Module, scope: Function) -> Iterator[ValueMaker]:
    """The calls that every call of the function hands to it for an argument."""
    given = [each.arg for each in (*scope.args.posonlyargs, *scope.args.args)]
    sites = [(each, within) for each, within in _calls_with_scope(tree, "") if bare_name(each) == scope.name]
    for name in (*given, *(each.arg for each in scope.args.kwonlyargs)):
        handed = [(_handed(call, given, name), within) for call, within in sites]
        if all(isinstance(each, ast.Call) for each, _ in handed):
            for each, within in handed:
                if each is not None:
                    yield from _maker(within, each, each, (name,), handed_on=True)


def _calls_with_scope(node: ast.AST, within: str) -> Iterator[tuple[ast.Call, str]]:
    for each in ast.iter_child_nodes(node):
        inner = each.name if isinstance(each, Function) else within
        if isinstance(each, ast.Call):
            yield each, within
        yield from _calls_with_scope(each, inner)


def _handed(call: ast.Call, given: Sequence[str], name: str) -> ast.expr | None:
    """What a call hands on for that argument, of a method without its object."""
    for each in call.keywords:
        if each.arg == name:
            return each.value
    is_method = isinstance(call.func, ast.Attribute) and given[:1] in (["self"], ["cls"])
    at = list(given).index(name) - is_method if name in given else -1
    if not 0 <= at < len(call.args) or any(isinstance(each, ast.Starred) for each in call.args[: at + 1]):
        return None
    return call.args[at]
