"""What one model gives to the loss of another, without autograd's graph."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from gpuprof.code_edits.syntax.cell_text import Edit
from gpuprof.code_edits.syntax.reading import CellReading

# gradients by other means: of inputs, of second order, through a graph that is kept
_OTHERS = ("autograd", "retain_graph", "create_graph", "retain_grad", "register_hook", "jacobian")
_ASKS = ("requires_grad_", "requires_grad", "grad", "grad_fn")
_MAY_NEED_IT = ("enable_grad", "set_grad_enabled", "checkpoint")


def without_graph(source: str, lines: Iterable[int], backward: int) -> str | None:
    """The first of these lines that is `x = model(z)` in `with torch.no_grad():`; `backward` is the line of the one
    backward pass that goes through it, of whose gradients nobody reads those before `x`.

    None where a later loss may use `x`, too, or where the cell asks for gradients in other ways.
    """
    reading = CellReading.of(source)
    if reading is None or any(each in source for each in _OTHERS):
        return None
    for line in lines:
        edits = _edits(reading, line, backward)
        changed = reading.text.changed(edits) if edits is not None else None
        if changed is not None:
            return changed
    return None


def _edits(reading: CellReading, line: int, backward: int) -> list[Edit] | None:
    text, statement = reading.text, reading.statement_at(line)
    names, last = reading.given_by(statement), reading.statement_at(backward)
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call) or len(names) != 1:
        return None
    if last is None or last.lineno <= statement.lineno or not _is_after(reading, last, statement):
        return None
    if not _says_torch(reading) or reading.graphs.is_without(statement) or not text.stands_alone(statement):
        return None
    outer = (text.parent(each) for each in text.mentions(names[0]))
    if any(isinstance(each, ast.Attribute) and each.attr in _ASKS for each in outer):
        return None
    if not all(_is_before(reading, each, statement, last) for each in text.mentions(names[0])):
        return None
    indent = text.indent(statement)
    if any(each in "\n".join(text.lines) for each in _MAY_NEED_IT):
        return text.replaced([(statement.value, f"{text.text(statement.value)}.detach()")])
    lines = (f"{indent}with torch.no_grad():", *text.moved(statement, f"{indent}    "))
    return [Edit(statement.lineno, statement.end_lineno or statement.lineno, lines)]


def _is_after(reading: CellReading, last: ast.stmt, statement: ast.stmt) -> bool:
    """Whether it runs after the statement each time that this one runs: in the same block, and the only such call."""
    block = reading.text.block(statement)
    calls = [each for each in block if each.lineno > statement.lineno and "backward" in _attributes(each)]
    return last in block and bool(calls) and calls[0] is last


def _attributes(node: ast.AST) -> set[str]:
    return {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}


def _is_before(reading: CellReading, name: ast.Name, statement: ast.stmt, last: ast.stmt) -> bool:
    """Whether a mention reads nothing of what the statement gave it after the backward pass."""
    text = reading.text
    if text.scope(name) is not text.scope(statement):
        return False
    if not isinstance(name.ctx, ast.Load) or statement.lineno <= name.lineno <= (last.end_lineno or last.lineno):
        return True
    # given another value before, each time
    for each in text.mentions(text.variable(name)):
        given = text.statement(each)
        if isinstance(given, ast.Assign) and given is not statement and not isinstance(each.ctx, ast.Load):
            block = text.block(given)
            later = block[block.index(given) + 1 :]
            between = given.lineno < statement.lineno < name.lineno
            if not between and any(text.holds(part, name) for part in later):
                return True
    return _is_outside(reading, name, statement)


def _is_outside(reading: CellReading, name: ast.Name, statement: ast.stmt) -> bool:
    """Whether it is read before, and no loop leads from the statement back to it."""
    text = reading.text
    loops = [each for each in text.around(statement) if isinstance(each, ast.For | ast.While)]
    return name.lineno < statement.lineno and not any(text.holds(each, name) for each in loops)


def _says_torch(reading: CellReading) -> bool:
    found = [each for each in reading.text.names() if each.id == "torch"]
    return bool(found) and all(reading.text.full_name(each) == "torch" for each in found)
