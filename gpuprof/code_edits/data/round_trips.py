"""Conversions that are undone in the same expression."""

from __future__ import annotations

import ast

from gpuprof.code_edits.syntax.cell_modules import root_of
from gpuprof.code_edits.syntax.parts import stays
from gpuprof.code_edits.syntax.pure_names import words
from gpuprof.code_edits.syntax.reading import CellReading

_CONVERTS = words("bfloat16 cpu cuda double float half int long short to type type_as")


_SAID = {"float64": ("double",), "float32": ("float()",), "float16": ("half",), "int64": ("long",), "int32": ("int()",)}


def drop_round_trip(source: str, line: int, through: str) -> str | None:
    """`x` instead of `x.double().float()` in the statement at that line; that it gives the same is for the run to say.

    `through`: the type or device that it has meanwhile (`float64`, `cuda:0`). None where the text does not name it,
    where several such pairs stand there, or where it matters that `x` and what was a copy of it are now one.
    """
    reading = CellReading.of(source)
    statement = reading.statement_at(line) if reading is not None else None
    if reading is None or statement is None:
        return None
    pairs = [each for each in ast.walk(statement) if isinstance(each, ast.Call) and _converted(each) is not None]
    if len(pairs) != 1 or not stays(reading, pairs[0]):
        return None
    kept = _converted(pairs[0])
    if kept is None or not _says(pairs[0], through):
        return None
    root = root_of(kept)
    if root is not None and reading.changing.inside({reading.text.variable(root)}, reading.ever):
        return None
    text = reading.text.text(kept)
    plain = isinstance(kept, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
    return reading.text.changed(reading.text.replaced([(pairs[0], text if plain else f"({text})")]))


def _says(call: ast.Call, through: str) -> bool:
    """Whether the first of both conversions is to that."""
    inner = call.func.value if isinstance(call.func, ast.Attribute) else call
    name = inner.func.attr if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) else ""
    given = ", ".join(map(ast.unparse, inner.args)) if isinstance(inner, ast.Call) else ""
    said = f"{name}({given})"
    return any(each in said for each in (through.partition(":")[0], *_SAID.get(through, ())))


def _converted(call: ast.Call) -> ast.expr | None:
    """`x` of `x.double().float()`."""
    inner = _of(call)
    return _of(inner) if isinstance(inner, ast.Call) else None


def _of(call: ast.Call) -> ast.expr | None:
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _CONVERTS:
        return None
    return call.func.value
