"""Results that a loop computes in each iteration, and that are read seldom or once."""

from __future__ import annotations

import ast

from gpuprof.code_edits.syntax.cell_text import Edit
from gpuprof.code_edits.syntax.reading import CellReading

_ENDS_EARLY = (ast.Break, ast.Continue, ast.Return, ast.Raise, ast.Yield)


def compute_where_read(source: str, line: int, condition: int) -> str | None:
    """The statement at `line` only where the `if` at line `condition`, behind it in the same block, reads its result:
    at the top of that `if`, or, where what it reads changes in between, in an `if` of its own with the same condition.

    None where anything else may read the result, where the statement may have an effect of its own, or where the
    condition may have another outcome there.
    """
    reading = CellReading.of(source)
    found = _assignment(reading, line) if reading is not None else None
    if reading is None or found is None:
        return None
    text, block = reading.text, reading.text.block(found)
    tests = [each for each in block if isinstance(each, ast.If) and each.lineno == condition and not each.orelse]
    if len(tests) != 1 or block.index(tests[0]) <= block.index(found):
        return None
    test, between = tests[0], block[block.index(found) : block.index(tests[0])]
    loads = [name for each in reading.given_by(found) for name in text.mentions(each) if name.ctx.__class__ is ast.Load]
    if not loads or not all(any(text.holds(part, each) for part in test.body) for each in loads):
        return None
    if not reading.free.is_steady(test.test) or any(_changes(reading, test.test, each) for each in between):
        return None
    last = found.end_lineno or found.lineno
    if any(_changes(reading, found.value, each) for each in between[1:]) or not _indented(reading, test):
        indent = text.indent(found)
        head = f"{indent}if {text.text(test.test)}:"
        return text.changed([Edit(found.lineno, last, (head, *text.moved(found, f"{indent}    ")))])
    first = test.body[0]
    added = text.moved(found, text.indent(first))
    return text.changed([Edit(found.lineno, last, ()), Edit(first.lineno, first.lineno - 1, added)])


def compute_after_loop(source: str, line: int) -> str | None:
    """The statement at `line` after the loop whose body it is in, where only the result of the last iteration is read.

    None where the loop may end early or not run at all, where more than the last result is read, where what the
    statement reads changes after it in the loop, or where it may have an effect of its own.
    """
    reading = CellReading.of(source)
    found = _assignment(reading, line) if reading is not None else None
    if reading is None or found is None:
        return None
    text, loop = reading.text, reading.text.parent(found)
    if not isinstance(loop, ast.For) or loop.orelse or found not in loop.body or len(loop.body) < 2:
        return None
    if any(isinstance(each, _ENDS_EARLY) for each in ast.walk(loop)) or not reading.runs(loop):
        return None
    for variable in reading.given_by(found):
        inside = [each for each in text.mentions(variable) if text.holds(loop, each) and not text.holds(found, each)]
        if inside or any(text.holds(found.value, each) for each in text.mentions(variable)):
            return None
    behind = loop.body[loop.body.index(found) + 1 :]
    if any(_changes(reading, found.value, each) for each in behind) or _iterates(reading, loop, found):
        return None
    end = (loop.end_lineno or loop.lineno) + 1
    added = Edit(end, end - 1, text.moved(found, text.indent(loop)))
    return text.changed([Edit(found.lineno, found.end_lineno or found.lineno, ()), added])


def drop_unread(source: str, line: int) -> str | None:
    """The cell without the statement at `line`, whose result nobody reads.

    None where it may have an effect of its own, where the text reads the result anywhere, or where another cell could:
    what a function gives a name is gone when it ends.
    """
    reading = CellReading.of(source)
    found = _assignment(reading, line) if reading is not None else None
    if reading is None or found is None or not isinstance(reading.text.scope(found), ast.FunctionDef):
        return None
    mentions = [name for each in reading.given_by(found) for name in reading.text.mentions(each)]
    if len(reading.text.block(found)) < 2 or any(isinstance(each.ctx, ast.Load) for each in mentions):
        return None
    return reading.text.changed([Edit(found.lineno, found.end_lineno or found.lineno, ())])


def _assignment(reading: CellReading, line: int) -> ast.Assign | None:
    """`x = value` at that line, without an effect of its own, of names that nobody else changes or reads elsewhere."""
    found, text = reading.statement_at(line), reading.text
    variables = reading.given_by(found)
    if not isinstance(found, ast.Assign) or not variables or not text.stands_alone(found):
        return None
    if not isinstance(found.value, ast.Call | ast.BinOp) or not reading.free.is_steady(found.value):
        return None
    for variable in variables:
        for each in text.mentions(variable):
            if text.scope(each) is not text.scope(found):
                return None
            if not isinstance(each.ctx, ast.Load) and not text.holds(found, each):
                return None
    return found


def _changes(reading: CellReading, value: ast.expr, statement: ast.stmt) -> bool:
    """Whether a statement may change what an expression reads, or its gradients or modes."""
    changed, reads = reading.changing.by(statement), reading.free.reads(value)
    attributes = {each.attr for each in ast.walk(statement) if isinstance(each, ast.Attribute)}
    modes = attributes & {"backward", "zero_grad", "train", "eval", "step"} and not reading.steady.is_steady(value)
    return changed.unclear or changed.trains or bool(modes) or reading.changing.any_of(reads, changed)


def _iterates(reading: CellReading, loop: ast.For, found: ast.Assign) -> bool:
    """Whether going on to the next item may change what the statement reads, after the last one."""
    targets = {reading.text.variable(each) for each in reading.text.names(loop.target)}
    reads = reading.free.reads(found.value)
    changed = reading.changing.by(loop.iter)
    known = isinstance(loop.iter, ast.Name | ast.Call)
    return not known or reading.changing.any_of(reads - targets, changed)


def _indented(reading: CellReading, test: ast.If) -> bool:
    return test.body[0].lineno > test.lineno and reading.text.indent(test.body[0]) != reading.text.indent(test)
