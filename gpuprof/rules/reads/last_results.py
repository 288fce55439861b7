"""Which statements of a text compute, in each iteration of a loop, what only its last iteration is read of."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.cell.effects import has_effects
from gpuprof.rules.cell.known_calls import imported, only_known
from gpuprof.rules.reads.changed_later import changed_later

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Given = ast.Assign | ast.AugAssign | ast.AnnAssign


@dataclass(frozen=True)
class LastResult:
    """The statement in lines `first` to `last` (from 1) gives `names` a value in each iteration of the loop in line
    `loop`; `call`: what it calls. `known`: the text has the functions that it calls, or imports them from a library of
    data, and what else these call computes without gradients. `reader`: the line that reads it, where that is not
    after the loop in the text: of an attribute that a method gives a value; or that of the condition that lets one of
    `every` iterations read it. `every` is None where only the last one is read.

    `passed_on`: the lines of the statements of the loop that read it on the way. `inner`: one of all these is not a
    statement of the loop itself: an inner loop or a condition is around it. `changed_at`: a later line of the loop that
    may change what they read. `test`: the condition under which it is read, where that is the same at `first`; `after`:
    a line behind the loop that reads it as well."""

    first: int
    last: int
    names: tuple[str, ...]
    loop: int
    call: str
    known: bool = False
    reader: int | None = None
    every: int | None = None
    passed_on: tuple[int, ...] = ()
    inner: bool = False
    changed_at: int | None = None
    test: str | None = None
    after: int | None = None

    @property
    def of_object(self) -> bool:
        """Whether it is an attribute, which a method gives a value."""
        return any("." in each for each in self.names)


@lru_cache(maxsize=16)
def last_results(source: str) -> tuple[LastResult, ...]:
    """Those of the loops over something of known length, without an early end. What may have another effect than its
    result is left out, and what a condition of its own makes rare. Empty where the text is not Python."""
    tree = parsed(source)
    try:
        return _of_tree(tree) if tree is not None else ()
    except RecursionError:  # an expression of a thousand terms
        return ()


def _of_tree(tree: ast.Module) -> tuple[LastResult, ...]:
    functions = {each.name: each for each in ast.walk(tree) if isinstance(each, _Function)}
    outside = _read_in(list(functions.values()))
    reads = [each for each in ast.walk(tree) if isinstance(each, ast.Name) and _loads(each)]
    modules = imported(tree)
    found = list[LastResult]()
    for loop in ast.walk(tree):
        if isinstance(loop, ast.For) and not _ends_early(loop):
            after = {each.id for each in reads if each.lineno > (loop.end_lineno or loop.lineno)}
            found += _of_loop(loop, outside, after, functions, modules)
    return tuple(found)


def _of_loop(
    loop: ast.For, outside: set[str], after: set[str], functions: dict[str, _Function], modules: dict[str, str]
) -> Iterator[LastResult]:
    """`outside`: names that functions may read; `after`: those that are read after the loop; `modules`: what the text
    imports."""
    given = [each for each in _within(loop) if isinstance(each, _Given) and _targets(each)]
    around = {id(each): ifs for each, ifs in _with_conditions(loop.body, ())}
    names = {name for each in given for name in _targets(each)} - _stored_otherwise(loop, given) - outside
    before = -1
    while len(names) != before:
        before = len(names)
        kept = [each for each in given if names.issuperset(_targets(each))]
        names -= _loaded_elsewhere(loop, kept)
        names -= {name for name in names if not _is_new(name, loop, given, around)}
    kept = [each for each in given if names.issuperset(_targets(each)) and not isinstance(each, ast.AugAssign)]
    # what nobody reads here may be meant for another cell: of which iteration is not known
    for each in kept if not names.isdisjoint(after) else ():
        calls = [node for node in ast.walk(each) if isinstance(node, ast.Call)]
        if calls and not any(_is_rare(test) for test in around[id(each)]) and not has_effects(each, functions):
            end, known = each.end_lineno or each.lineno, only_known(each, functions, modules)
            moved = [each, *_passed_on(each, given, names)]
            yield LastResult(
                *(each.lineno, end, _targets(each), loop.lineno, dotted(calls[0].func), known),
                passed_on=tuple(one.lineno for one in moved[1:]),
                inner=any(one not in loop.body for one in moved),
                changed_at=changed_later(loop.body, moved, functions, modules),
            )


def _passed_on(statement: _Given, given: list[_Given], names: set[str]) -> list[_Given]:
    """The statements that read what it gives, or what these give, as far as only the last of that is read."""
    found, read = list[_Given](), set(_targets(statement))
    while True:
        more = [
            each
            for each in given
            if each is not statement
            and each not in found
            and names.issuperset(_targets(each))
            and any(_loads(node) and node.id in read for node in ast.walk(each) if isinstance(node, ast.Name))
        ]
        if not more:
            return sorted(found, key=lambda each: each.lineno)
        found += more
        read |= {name for each in more for name in _targets(each)}


def _within(node: ast.AST) -> Iterator[ast.AST]:
    """Everything in a loop's body, in the order of the text."""
    for each in ast.iter_child_nodes(node):
        yield each
        yield from _within(each)


def _with_conditions(
    body: list[ast.stmt], tests: tuple[ast.expr, ...]
) -> Iterator[tuple[ast.stmt, tuple[ast.expr, ...]]]:
    """Each statement with the conditions that it depends on within the loop."""
    for each in body:
        yield each, tests
        inner = (*tests, each.test) if isinstance(each, ast.If | ast.While) else tests
        for part in ("body", "orelse", "finalbody"):
            yield from _with_conditions(getattr(each, part, []), inner)
        for handler in getattr(each, "handlers", []):
            yield from _with_conditions(handler.body, (*inner, ast.Constant(None)))


def _is_new(name: str, loop: ast.For, given: list[_Given], around: dict[int, tuple[ast.expr, ...]]) -> bool:
    """Whether an iteration reads nothing of it that the one before gave it."""
    mine = [each for each in given if name in _targets(each)]
    first, counters = mine[0], _names(loop.target)
    if isinstance(first, ast.AugAssign) or any(not _is_counted(test, counters, loop) for test in around[id(first)]):
        return False
    reads = [each for each in _within(loop) if isinstance(each, ast.Name) and _loads(each, name)]
    return all((each.lineno, each.col_offset) > (first.end_lineno, first.end_col_offset) for each in reads)


def _is_counted(test: ast.expr, counters: set[str], loop: ast.For) -> bool:
    """`step % 10 == 9`: known before the loop begins."""
    stored = {each.id for each in _within(loop) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)}
    calls = any(isinstance(each, ast.Call) for each in ast.walk(test))
    return not calls and _names(test) <= counters | (_names(test) - stored) and bool(_names(test))


def _is_rare(test: ast.expr) -> bool:
    """`epoch == last`: once. `step % 10 == 9` is not."""
    compared = [each for each in ast.walk(test) if isinstance(each, ast.Compare)]
    parts = any(isinstance(each, ast.BinOp) and isinstance(each.op, ast.Mod) for each in ast.walk(test))
    return bool(compared) and not parts


def _loaded_elsewhere(loop: ast.For, kept: list[_Given]) -> set[str]:
    inside = {id(node) for each in kept for node in ast.walk(each)}
    return {node.id for node in _within(loop) if isinstance(node, ast.Name) and _loads(node) and id(node) not in inside}


def _stored_otherwise(loop: ast.For, given: list[_Given]) -> set[str]:
    inside = {id(node) for each in given for node in ast.walk(each)}
    stored = (node for node in ast.walk(loop) if isinstance(node, ast.Name) and not _loads(node))
    return {node.id for node in stored if id(node) not in inside}


def _read_in(functions: list[_Function]) -> set[str]:
    """Names that functions read and do not give a value themselves: a loop outside may be what they read it from."""
    found = set[str]()
    for each in functions:
        given = {node.arg for node in ast.walk(each.args) if isinstance(node, ast.arg)}
        stored = {node.id for node in ast.walk(each) if isinstance(node, ast.Name) and not _loads(node)}
        found |= _names(each) - given - stored
    return found


def _ends_early(loop: ast.For) -> bool:
    """By `break` or `return`, or it holds functions of its own: which iteration is the last is then not known."""
    return any(isinstance(each, ast.Break | ast.Return | _Function | ast.Lambda | ast.Yield) for each in _within(loop))


def _targets(node: _Given) -> tuple[str, ...]:
    """The names that it gives a value; empty where it gives one to anything else."""
    parts = list(node.targets) if isinstance(node, ast.Assign) else [node.target]
    flat = [inner for each in parts for inner in (each.elts if isinstance(each, ast.Tuple | ast.List) else [each])]
    names = [each.id for each in flat if isinstance(each, ast.Name)]
    return tuple(names) if len(names) == len(flat) and node.value is not None else ()


def _loads(node: ast.AST, name: str | None = None) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and name in (None, node.id)


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
