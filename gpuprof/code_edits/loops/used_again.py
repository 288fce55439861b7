"""Results that are computed again although they are at hand: within an iteration, and from the one before."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from gpuprof.code_edits.syntax.cell_text import Edit, Variable
from gpuprof.code_edits.syntax.changing import Changed
from gpuprof.code_edits.syntax.parts import called, head, is_conditional, is_worth_it, stays
from gpuprof.code_edits.syntax.reading import CellReading

_GRADIENTS = ("backward", "grad")


def use_again(source: str, lines: Iterable[int], *, without_backward: bool = False) -> str | None:
    """The largest expression at the first of `lines` that another statement of the same block computes, too, computed
    once, before the first of them, and used in all of them.

    None where the text does not show that nothing that it reads changes in between, that it has no effect of its own,
    that nobody changes what it gives, and that one backward pass goes through it at most (`without_backward`: none).
    """
    reading = CellReading.of(source)
    if reading is None:
        return None
    for line in lines:
        statement = reading.statement_at(line)
        for part in _parts(reading, statement) if statement is not None else ():
            found = _found(reading, part, without_backward)
            changed = reading.text.changed(_once(reading, found)) if found else None
            if changed is not None:
                return changed
    return None


def _parts(reading: CellReading, statement: ast.stmt) -> Iterator[ast.expr]:
    """The largest first, of what is computed each time that the statement runs."""
    todo: list[ast.AST] = list(head(statement))
    while todo:
        node = todo.pop(0)
        if isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            continue
        if isinstance(node, ast.Call | ast.BinOp) and is_worth_it(node) and reading.steady.is_steady(node):
            yield node
        todo += [each for each in ast.iter_child_nodes(node) if not is_conditional(node, each)]


def _found(reading: CellReading, part: ast.expr, without: bool) -> list[ast.expr]:
    """All places of the block that compute it, from the same as this one does, in order; empty where it is alone."""
    statement = reading.text.statement(part)
    block, same = reading.text.block(statement) if statement is not None else [], ast.dump(part)
    places = [
        (at, each)
        for at, other in enumerate(block)
        if not isinstance(other, ast.While)
        for each in _parts(reading, other)
        if ast.dump(each) == same
    ]
    places.sort(key=lambda place: (place[0], place[1].lineno, place[1].col_offset))
    for first in range(len(places)):
        for last in range(len(places), first + 1, -1):
            some = places[first:last]
            if any(each is part for _, each in some) and _is_shared(reading, block, some, without):
                return [each for _, each in some]
    return []


def _is_shared(reading: CellReading, block: list[ast.stmt], places: list[tuple[int, ast.expr]], without: bool) -> bool:
    """Whether one result may stand for all of them."""
    first, last, part = places[0][0], places[-1][0], places[0][1]
    reads = reading.steady.reads(part)
    for at in range(first, last + 1):
        changed = reading.changing.by(block[at])
        if at == last and first != last and isinstance(block[at], ast.Assign):
            # it gets its value after the expression was computed
            changed = Changed(set(), changed.grown, changed.inside, changed.trains, changed.unclear)
        if changed.unclear or changed.trains or reading.changing.any_of(reads, changed):
            return False
    graph = not without and reading.graphs.may_have_graph(part)
    if graph and not _one_backward(reading, block[first : last + 1]):
        return False
    return all(stays(reading, each) for _, each in places)


def _one_backward(reading: CellReading, between: list[ast.stmt]) -> bool:
    calls = [each.func for each in reading.text.nodes if isinstance(each, ast.Call)]
    passes = [each for each in calls if isinstance(each, ast.Attribute) and each.attr in _GRADIENTS]
    return len(passes) <= 1 and not any(reading.text.holds(part, each) for part in between for each in passes)


def _once(reading: CellReading, found: list[ast.expr]) -> list[Edit]:
    text, first = reading.text, reading.text.statement(found[0])
    assert first is not None
    given = reading.given_by(first)
    if (
        isinstance(first, ast.Assign)
        and first.value is found[0]
        and len(given) == 1
        and _keeps(reading, given[0], found)
    ):
        return text.replaced([(each, given[0].name) for each in found[1:]])
    name, indent, value = text.new_name(f"once_{called(found[0])}"), text.indent(first), text.text(found[0])
    value = f"({value})" if "\n" in value else value
    added = Edit(first.lineno, first.lineno - 1, (f"{indent}{name} = {value}",))
    return [added, *text.replaced([(each, name) for each in found])]


def _keeps(reading: CellReading, variable: Variable, found: list[ast.expr]) -> bool:
    """Whether the name still has that value where the last of them is computed."""
    text, last = reading.text, found[-1]
    end = (text.statement(last) or last).lineno
    stored = [each for each in text.mentions(variable) if not isinstance(each.ctx, ast.Load)]
    return not any(found[0].lineno < each.lineno < end for each in stored)
