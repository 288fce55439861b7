"""Calls of a library that take one item of a loop each, though the library takes all of them in one call."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from gpuprof.analyses.accounts.host_work import WorkLine
from gpuprof.model.operands import Operand
from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.cell.item_scopes import ItemScope, item_scopes
from gpuprof.rules.host.item_vocabulary import BUILT_IN, NO_WAY, VOCABULARY, AllAtOnce
from gpuprof.rules.host.operations import Family, Operation

OperandsAt = Callable[[int], Sequence[Operand]]

# fewer are not worth another way
_MANY = 32
# an item with so many parts is itself what a call is given at a time
_LARGE = 64
_MOSTLY = 0.5
_TABLES = ("numpy.ndarray", "pandas.")
_NUMBERS = ("builtins.int", "builtins.float", "builtins.bool", "numpy.float", "numpy.int")
_SEQUENCES = ("numpy.ndarray", "builtins.list", "builtins.tuple", "pandas.core.frame.", "torch.")


def item_call(line: WorkLine, nodes: Sequence[ast.AST], source: str, operands_at: OperandsAt) -> Operation | None:
    """The call that takes most of that line, once for each item of a loop with many; `nodes` of its statement,
    `operands_at`: what the names around a line of its file stood for."""
    for call in nodes:
        if not isinstance(call, ast.Call):
            continue
        entry = _entry(line, call)
        for scope in item_scopes(source, call, line.cell_lines if line.is_cell else ()) if entry else ():
            found = _of_scope(line, call, scope, operands_at)
            if entry is None or found is None:
                continue
            over, count = found
            if entry.each_ns is not None and line.ns > entry.each_ns * count:
                continue
            if entry.of_array and not _is_of_array(call, scope, over, line):
                continue
            if entry.of_numbers and not _is_given_numbers(call, scope, over):
                continue
            name = ast.unparse(call.func)
            advice = entry.change.format(name=_last(call), call=name)
            return Operation(Family.ITEMS, name, over, advice=advice, sure=entry.known)
    return None


def _entry(line: WorkLine, call: ast.Call) -> AllAtOnce | None:
    """By the function of that name in which most of the line's time was seen; else by what the name stands for."""
    name = _last(call)
    # an object that is called, such as an interpolation
    called = any(each.name == dotted(call.func) and not each.callable for each in line.operands)
    names = (name, "__call__") if called else (name,)
    seen = [full for full, share in line.below if share >= _MOSTLY and full.rpartition(".")[2] in names]
    for function in (full for full in seen if "vectorize" not in full):
        for each in VOCABULARY:
            if each.holds(function) and (each.known or name not in NO_WAY):
                return each
    if line.own_share < _MOSTLY:
        return _by_module(line, call)
    kinds = {each.name: each.kind for each in line.operands}
    owner = kinds.get(dotted(call.func.value), "") if isinstance(call.func, ast.Attribute) else ""
    stands_for = (kinds.get(dotted(call.func), ""), f"{owner}.{name}", dotted(call.func))
    return next((each for each in BUILT_IN if any(each.holds(kind) for kind in stands_for)), None)


def _by_module(line: WorkLine, call: ast.Call) -> AllAtOnce | None:
    """Of entries for whole modules: the line's time was seen in one, under another name (`strptime`, a tokenizer)."""
    whole = [each for each in VOCABULARY if each.known and not each.names]
    only = sum(line.below_share(*each.modules) >= _MOSTLY for each in whole)
    found = next((each for each in whole if line.below_share(*each.modules) >= _MOSTLY), None)
    return found if only == 1 and _last(call) in ("strptime", "parse", "Timestamp", "encode", "tokenize") else None


def _of_scope(
    line: WorkLine, call: ast.Call, scope: ItemScope, operands_at: OperandsAt
) -> tuple[Operand | None, int] | None:
    """What the loop goes over and how many items that has; None where the call is given no single item of many."""
    given = [*call.args, *(each.value for each in call.keywords)]
    own = {each.id for each in ast.walk(call.func) if isinstance(each, ast.Name)}
    if scope.is_carried(call) or own & scope.items or not any(scope.is_item(each) for each in given):
        return None
    kinds = {each.name: each for each in line.operands}
    read = {name for each in given for name in _read(each)}
    if any(_is_large(kinds[name]) for name in read & scope.items & set(kinds)):
        return None
    seen = {each.name: each for each in operands_at(scope.line)}
    over = [seen[name] for name in scope.over if name in seen]
    if scope.times is None and not over:
        over = [seen[name] for each in given for name in scope.indexed(each) if name in seen]
    longest = max(over, key=lambda each: each.most or 0, default=None)
    known = longest.most or 0 if longest is not None else 0
    count = known if scope.times is None else min(scope.times, known) if longest is not None else scope.times
    return (longest, count) if count >= _MANY else None


def _is_of_array(call: ast.Call, scope: ItemScope, over: Operand | None, line: WorkLine) -> bool:
    """Whether the items are of one array, or are the numbers of a list."""
    if over is not None and over.kind.startswith(_TABLES):
        return True
    known = {each.name for each in line.operands if not each.callable}
    read = {name for each in call.args for name in _read(each)} & scope.items
    return over is not None and over.items.startswith(_NUMBERS) and not read & known


def _is_given_numbers(call: ast.Call, scope: ItemScope, over: Operand | None) -> bool:
    """Whether no argument is a row or a column of an item."""
    of_parts = over is not None and over.items.startswith(_SEQUENCES)
    for each in call.args:
        parts = [node for node in ast.walk(each) if isinstance(node, ast.Subscript)]
        if any(isinstance(node, ast.Slice) for part in parts for node in ast.walk(part.slice)):
            return False
        if of_parts and scope.is_item(each) and not any(isinstance(part.slice, ast.Constant) for part in parts):
            return False
    return True


def _read(node: ast.expr) -> Iterator[str]:
    yield from (each.id for each in ast.walk(node) if isinstance(each, ast.Name))


def _is_large(over: Operand) -> bool:
    return over.kind.startswith(_SEQUENCES) and (over.most or 0) > _LARGE


def _last(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else dotted(call.func)
