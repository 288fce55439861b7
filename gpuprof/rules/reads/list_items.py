"""What the items of a list are, by its text and by what its names stood for."""

from __future__ import annotations

import ast

from gpuprof.model.operands import Operand
from gpuprof.rules.cell.cell_bindings import dotted

ARRAY = "numpy.ndarray"
_MAKE_ARRAYS = ("zeros", "ones", "full", "empty", "asarray", "array", "stack", "concatenate", "zeros_like", "ones_like")


def item_kind(given: ast.expr, seen: dict[str, Operand]) -> str:
    """What the items of a list are; empty where that is not known."""
    found = seen.get(dotted(given))
    if found is not None:
        return found.items
    if not isinstance(given, ast.ListComp):
        return ""
    element = given.elt
    if isinstance(element, ast.Call) and isinstance(element.func, ast.Attribute):
        root, _, name = dotted(element.func).partition(".")
        made = element.func.attr == "numpy" or (root in ("np", "numpy") and name in _MAKE_ARRAYS)
        return ARRAY if made else ""
    part = _part_kind(given, seen)
    if part:
        return part
    if isinstance(element, ast.Subscript) and not isinstance(element.slice, ast.Slice):
        # only of the first item it is known what it is, and the parts of a row may be of several kinds
        if isinstance(element.slice, ast.Constant) and element.slice.value != 0:
            return ""
        over = seen.get(dotted(element.value))
        return over.items if over is not None else ""
    item = seen.get(dotted(element))
    return item.kind if item is not None else ""


def _part_kind(given: ast.ListComp, seen: dict[str, Operand]) -> str:
    """Of `[row["wave"] for row in rows]` and `[wave for wave, label in rows]`, by the parts of the first row."""
    only, element = given.generators[0], given.elt
    over = seen.get(dotted(only.iter)) if len(given.generators) == 1 else None
    parts = dict(over.parts) if over is not None else {}
    if isinstance(only.target, ast.Name) and isinstance(element, ast.Subscript):
        of_item = isinstance(element.value, ast.Name) and element.value.id == only.target.id
        place = element.slice.value if isinstance(element.slice, ast.Constant) else None
        return parts.get(repr(place), "") if of_item else ""
    if isinstance(only.target, ast.Tuple) and isinstance(element, ast.Name):
        named = [each.id if isinstance(each, ast.Name) else "" for each in only.target.elts]
        starred = any(isinstance(each, ast.Starred) for each in only.target.elts)
        return parts.get(str(named.index(element.id)), "") if element.id in named and not starred else ""
    return ""
