"""Values of a state that a loop changes now and then, kept from one iteration to the next."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from gpuprof.code_edits.syntax.cell_text import Edit, Variable
from gpuprof.code_edits.syntax.changing import Changed
from gpuprof.code_edits.syntax.parts import called, stays
from gpuprof.code_edits.syntax.reading import CellReading


@dataclass(frozen=True)
class _Pair:
    """`f(state)`, and `f(new)` of what the loop puts in its place: `taken` (`state = new`)."""

    of_state: ast.Call
    of_new: ast.Call
    new: ast.Name
    taken: ast.Assign


def keep_value(source: str, lines: Iterable[int]) -> str | None:
    """`f(state)` computed once before the loop, where each iteration of it computes that and `f(new)`, and then may
    take `state = new`: what was computed for `new` is kept with it.

    None where the state gets a value in another way, where `f` reads anything else that changes, or where it may have
    an effect of its own.
    """
    reading = CellReading.of(source)
    if reading is None:
        return None
    for line in lines:
        statement = reading.statement_at(line)
        loop = _loop(reading, statement)
        pairs = _pairs(reading, statement, loop) if statement is not None and loop is not None else []
        changes = (reading.text.changed(_edits(reading, pair, loop)) for pair in pairs if loop is not None)
        changed = next((each for each in changes if each is not None), None)
        if changed is not None:
            return changed
    return None


def _loop(reading: CellReading, statement: ast.stmt | None) -> ast.For | ast.While | None:
    """The loop whose body the statement stands in."""
    loop = reading.text.parent(statement) if statement is not None else None
    return loop if isinstance(loop, ast.For | ast.While) and statement in loop.body else None


def _pairs(reading: CellReading, statement: ast.stmt, loop: ast.For | ast.While) -> list[_Pair]:
    """The state is what the statement calls a function of, and another call of it of what takes its place."""
    calls = [each for part in loop.body for each in ast.walk(part) if isinstance(each, ast.Call)]
    mine = [each for each in calls if reading.text.holds(statement, each)]
    found = []
    for one in mine:
        for other in calls:
            pair = _pair(reading, one, other, loop)
            if pair is not None and _is_kept(reading, pair, loop):
                found.append(pair)
    return found


def _pair(reading: CellReading, one: ast.Call, other: ast.Call, loop: ast.For | ast.While) -> _Pair | None:
    if reading.steady.modules.function(one) is None or ast.dump(one.func) != ast.dump(other.func) or one is other:
        return None
    if one.keywords or other.keywords or len(one.args) != len(other.args):
        return None
    differing = [(a, b) for a, b in zip(one.args, other.args, strict=True) if ast.dump(a) != ast.dump(b)]
    if len(differing) != 1:
        return None
    state, new = differing[0]
    if not isinstance(state, ast.Name) or not isinstance(new, ast.Name):
        return None
    text = reading.text
    given = _stored(reading, text.variable(state), loop)
    taken = text.statement(given[0]) if len(given) == 1 else None
    if not isinstance(taken, ast.Assign) or len(taken.targets) != 1 or taken.targets[0] is not given[0]:
        return None
    value = taken.value
    is_new = isinstance(value, ast.Name) and text.variable(value) == text.variable(new)
    return _Pair(one, other, new, taken) if is_new and text.stands_alone(taken) else None


def _stored(reading: CellReading, variable: Variable, loop: ast.AST) -> list[ast.Name]:
    mentions = reading.text.mentions(variable)
    return [each for each in mentions if not isinstance(each.ctx, ast.Load) and reading.text.holds(loop, each)]


def _is_kept(reading: CellReading, pair: _Pair, loop: ast.For | ast.While) -> bool:
    """Whether each of both gives the same until the other takes its place, whichever of the branches runs."""
    text, steady = reading.text, reading.steady
    if not steady.is_steady(pair.of_state) or not steady.is_steady(pair.of_new):
        return False
    if reading.graphs.may_have_graph(pair.of_state) or not all(stays(reading, each) for each in _both(pair)):
        return False
    if any(text.statement(each) not in loop.body for each in _both(pair)):
        return False
    (state,), new = reading.given_by(pair.taken), text.variable(pair.new)
    changed = reading.changing.by(loop)
    own = Changed(changed.bound - {state, new}, changed.grown, changed.inside, changed.trains, changed.unclear)
    reads = steady.reads(pair.of_state) | steady.reads(pair.of_new)
    if own.unclear or own.trains or reading.changing.any_of(reads, own):
        return False
    given = _stored(reading, new, loop)
    made = text.statement(given[0]) if len(given) == 1 else None
    first, last = (pick(each.lineno for each in _both(pair)) for pick in (min, max))
    before = isinstance(made, ast.Assign) and made in loop.body and made.lineno < first
    return before and pair.taken.lineno > last and text.scope(pair.taken) is text.scope(loop)


def _both(pair: _Pair) -> tuple[ast.Call, ast.Call]:
    return pair.of_state, pair.of_new


def _edits(reading: CellReading, pair: _Pair, loop: ast.For | ast.While) -> list[Edit]:
    text, name = reading.text, called(pair.of_state)
    kept, computed = text.new_name(f"kept_{name}"), text.new_name(f"new_{name}")
    first = text.statement(pair.of_new)
    assert first is not None
    indent, inner, end = text.indent(loop), text.indent(first), pair.taken.end_lineno or pair.taken.lineno
    return [
        Edit(loop.lineno, loop.lineno - 1, (f"{indent}{kept} = {text.text(pair.of_state)}",)),
        Edit(first.lineno, first.lineno - 1, (f"{inner}{computed} = {text.text(pair.of_new)}",)),
        *text.replaced([(pair.of_state, kept), (pair.of_new, computed)]),
        Edit(end + 1, end, (f"{text.indent(pair.taken)}{kept} = {computed}",)),
    ]
