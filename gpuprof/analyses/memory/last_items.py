"""Lists of which the text reads the last few items alone, though they grow with each turn of a loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeGuard

from gpuprof.analyses.containers.written_numbers import whole_number
from gpuprof.analyses.loops.written_loops import parsed

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_DEEPEST = 3
_GROWS = ("append",)


class LastItems(NamedTuple):
    """The last `number` items are all that is read, by a number or name that is written as `text`; `lines` read them.
    `joined`: names of lists that are read beside it by `zip`, itself included: they have to stay as long as it is."""

    text: str
    number: int
    lines: tuple[int, ...]
    joined: tuple[str, ...] = ()


def last_items(texts: Sequence[str], name: str, function: str | None) -> LastItems | None:
    """Of a list of that name, a variable of `function` or (None) of the notebook; None where anything else is read."""
    for text in texts:
        tree = parsed(text)
        scope = _scope(tree, function) if tree is not None else None
        if tree is None or scope is None or not _is_filled(scope, name):
            continue
        found = _of(_ListReading(tree), scope, name)
        beside = [_of(_ListReading(tree), scope, each) for each in found.joined] if found is not None else []
        alike = all(each is not None and found is not None and each.number == found.number for each in beside)
        return found if alike else None
    return None


def _of(reading: _ListReading, scope: ast.AST, name: str) -> LastItems | None:
    found = list(reading.reads(scope, name, 0))
    known = [each for each in found if each is not None]
    if len(known) < len(found) or len({each.number for each in known}) != 1:
        return None
    lines, joined = {line for each in known for line in each.lines}, {one for each in known for one in each.joined}
    return LastItems(known[0].text, known[0].number, tuple(sorted(lines)), tuple(sorted(joined)))


def _scope(tree: ast.Module, function: str | None) -> ast.Module | _Function | None:
    if function is None:
        return tree
    last = function.rpartition(".")[2]
    found = [each for each in ast.walk(tree) if isinstance(each, _Function) and each.name == last]
    return found[0] if len(found) == 1 else None


def _is_filled(scope: ast.AST, name: str) -> bool:
    """Whether it is appended to in a loop."""
    loops = (each for each in ast.walk(scope) if isinstance(each, ast.For | ast.While))
    return any(_grows(node, name) for loop in loops for node in ast.walk(loop))


def _grows(node: ast.AST, name: str) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr in _GROWS and _is(called.value, name)


def _named(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name)


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


class _ListReading:
    """Of one text."""

    def __init__(self, tree: ast.Module):
        self._tree = tree
        self._parents = {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}

    def reads(self, scope: ast.AST, name: str, depth: int) -> Iterator[LastItems | None]:
        """Each place that reads more than the length: which last items; None where it is anything else."""
        for node in ast.walk(scope):
            if _is(node, name) and isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                yield from self._read(node, depth)

    def _read(self, node: ast.Name, depth: int) -> Iterator[LastItems | None]:
        parent = self._parents[id(node)]
        if isinstance(parent, ast.Attribute):
            call = self._parents.get(id(parent))
            if not (parent.attr in _GROWS and isinstance(call, ast.Call) and call.func is parent):
                yield None
        elif isinstance(parent, ast.Subscript) and parent.value is node:
            yield self._part(parent)
        elif isinstance(parent, ast.Call) and node in parent.args:
            yield from self._handed(parent, node, depth)
        elif not _is_test(parent, node):
            yield None

    def _handed(self, call: ast.Call, node: ast.Name, depth: int) -> Iterator[LastItems | None]:
        called = call.func.id if isinstance(call.func, ast.Name) else ""
        if called == "len":
            return
        if called == "zip":
            yield self._of_joined(call)
            return
        made = [each for each in ast.walk(self._tree) if isinstance(each, _Function) and each.name == called]
        place = call.args.index(node)
        if len(made) != 1 or depth >= _DEEPEST or call.keywords or place >= len(made[0].args.args):
            yield None
            return
        argument = made[0].args.args[place].arg
        inside = ast.Module(made[0].body, [])
        names = [each for each in ast.walk(inside) if _named(each) and each.id == argument]
        if any(not isinstance(each.ctx, ast.Load) for each in names):
            yield None
            return
        here = {one.arg: dotted.id for one, dotted in zip(made[0].args.args, call.args, strict=False) if _named(dotted)}
        for each in self.reads(inside, argument, depth + 1):
            known = each is not None and all(name in here for name in each.joined)
            yield each._replace(joined=tuple(here[name] for name in each.joined)) if each and known else None

    def _of_joined(self, call: ast.Call) -> LastItems | None:
        """`list(zip(a, b))[-8:]`."""
        listed = self._parents.get(id(call))
        if not (isinstance(listed, ast.Call) and _is(listed.func, "list")):
            return None
        part = self._parents.get(id(listed))
        found = self._part(part) if isinstance(part, ast.Subscript) and part.value is listed else None
        names = [each.id for each in call.args if _named(each)]
        return found._replace(joined=tuple(names)) if found and len(names) == len(call.args) else None

    def _part(self, node: ast.Subscript) -> LastItems | None:
        """`[-8:]` and `[-1]`; None for anything else."""
        if not isinstance(node.ctx, ast.Load):
            return None
        begin: ast.expr | None = node.slice
        if isinstance(node.slice, ast.Slice):
            begin = node.slice.lower if node.slice.upper is None and node.slice.step is None else None
        number = whole_number(self._tree, begin) if begin is not None else None
        if number is None or number >= 0 or not isinstance(begin, ast.UnaryOp):
            return None
        return LastItems(ast.unparse(begin.operand), -number, (node.lineno,))


def _is_test(parent: ast.AST, node: ast.Name) -> bool:
    """`if items`, `not items`, `a if items else b`."""
    if isinstance(parent, ast.If | ast.While | ast.IfExp):
        return parent.test is node
    return isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
