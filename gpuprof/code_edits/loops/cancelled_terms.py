"""Terms of a sum that a factor of exactly 1 cancels."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from gpuprof.code_edits.syntax.cell_text import Edit, Variable
from gpuprof.code_edits.syntax.reading import CellReading


@dataclass(frozen=True)
class _Mix:
    """`first + factor * (second - first)`."""

    first: ast.Name
    second: ast.Name
    factor: ast.Name


def only_with_factor(source: str, line: int) -> str | None:
    """`y = u + scale * (c - u)` at `line`, with the statement before it that computes `u`, in `if scale != 1:`, and
    otherwise `y = c`.

    None where the text does not say that `scale` is a number and that `u` and `c` come from the same call, where
    anything else reads `u`, where computing it may have an effect of its own, or where `y` is changed in place.
    """
    reading = CellReading.of(source)
    statement = reading.statement_at(line) if reading is not None else None
    if reading is None or not isinstance(statement, ast.Assign):
        return None
    text, mix, target = reading.text, _mix(statement.value), reading.given_by(statement)
    block = text.block(statement)
    at = block.index(statement) if statement in block else 0
    before = block[at - 1] if at else None
    tests = [each.test for each in text.around(statement) if isinstance(each, ast.If | ast.While)]
    if mix is None or any(each.id == mix.factor.id for test in tests for each in text.names(test)):
        return None
    if len(target) != 1 or not isinstance(before, ast.Assign):
        return None
    if reading.given_by(before) != [text.variable(mix.first)] or not reading.free.is_steady(before.value):
        return None
    if not _is_read_here_alone(reading, text.variable(mix.first), before, statement):
        return None
    if not is_number(reading, mix.factor) or not _is_alike(reading, mix.second, before.value):
        return None
    if reading.changing.inside({*target, text.variable(mix.second)}, reading.ever):
        return None
    if not all(map(text.stands_alone, (before, statement))):
        return None
    indent = text.indent(statement)
    inner = f"{indent}    "
    computed = (*text.moved(before, inner), *text.moved(statement, inner))
    other = f"{inner}{text.text(statement.targets[0])} = {text.text(mix.second)}"
    lines = (f"{indent}if {mix.factor.id} != 1:", *computed, f"{indent}else:", other)
    return text.changed([Edit(before.lineno, statement.end_lineno or statement.lineno, lines)])


def _is_alike(reading: CellReading, second: ast.Name, value: ast.expr) -> bool:
    """Whether another call of the same function gives both, so that they have one shape."""
    other = reading.text.value_of(reading.text.variable(second))
    if not isinstance(other, ast.Call) or not isinstance(value, ast.Call):
        return False
    return ast.dump(other.func) == ast.dump(value.func)


def _mix(value: ast.expr) -> _Mix | None:
    """With its terms and factors in any order."""
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Add):
        return None
    for first, product in ((value.left, value.right), (value.right, value.left)):
        if (
            not isinstance(first, ast.Name)
            or not isinstance(product, ast.BinOp)
            or not isinstance(product.op, ast.Mult)
        ):
            continue
        for factor, part in ((product.left, product.right), (product.right, product.left)):
            if not isinstance(factor, ast.Name) or not isinstance(part, ast.BinOp) or not isinstance(part.op, ast.Sub):
                continue
            if isinstance(part.right, ast.Name) and part.right.id == first.id and isinstance(part.left, ast.Name):
                return _Mix(first, part.left, factor)
    return None


def _is_read_here_alone(reading: CellReading, variable: Variable, before: ast.stmt, statement: ast.stmt) -> bool:
    text = reading.text
    return all(text.holds(before, each) or text.holds(statement, each) for each in text.mentions(variable)) and not any(
        isinstance(each.ctx, ast.Load) and text.holds(before, each) for each in text.mentions(variable)
    )


def is_number(reading: CellReading, name: ast.Name) -> bool:
    """Whether the text gives it nothing but numbers."""
    text, variable = reading.text, reading.text.variable(name)
    value = text.value_of(variable)
    given = [value] if value is not None else text.given(variable) or []
    for each in given:
        if isinstance(each, ast.Name) and each.id != name.id and is_number(reading, each):
            continue
        if not isinstance(each, ast.Constant) or not isinstance(each.value, int | float):
            return False
    stored = any(not isinstance(each.ctx, ast.Load) for each in text.mentions(variable))
    return bool(given) and (value is not None or not stored)
