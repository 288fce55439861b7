"""What a library calls the user's Python back for, by the library's functions: each window, row, pair."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from enum import Enum

from gpuprof.analyses.accounts.library_callbacks import LibraryCallback
from gpuprof.model.operands import Operand
from gpuprof.rules.cell.callback_text import CallbackText

# an item of so many numbers is computed in the time of a few calls
_SMALL = 1000
# to be seen so often means that it is called again and again
OFTEN = 8
# outside of it, of what a call takes: 2 to 20 µs for a window or row, 50 to 200 µs for a group
_BETWEEN = 0.2
_BETWEEN_ROWS = 0.1
# of the call: then the model is what takes the time
_TORCH = 0.1
_NUMBERS = ("numpy.ndarray", "pandas.")
_OTHER_THAN_NUMBERS = ("builtins.", "numpy.str_", "collections.", "datetime.", "pathlib.", "PIL.", "torch.")


class CallbackKind(Enum):
    """What each call gets."""

    WINDOW = "window"
    GROUP = "group"
    ROW = "row"
    VALUE = "value"
    ELEMENT = "element"
    SLICE = "slice"
    PAIR = "pair"
    NEIGHBORHOOD = "neighborhood"


# the first that fits: windows of groups are windows
_BY_FUNCTION: tuple[tuple[CallbackKind, tuple[str, ...]], ...] = (
    (CallbackKind.WINDOW, ("pandas.core.window.",)),
    (CallbackKind.GROUP, ("pandas.core.groupby.", "pandas.core.resample.")),
    (CallbackKind.ROW, ("pandas.core.apply.FrameColumnApply.",)),
    (
        CallbackKind.VALUE,
        ("pandas.core.apply.SeriesApply.", "pandas.core.algorithms.map_array", "pandas.core.base.IndexOpsMixin._map"),
    ),
    (CallbackKind.PAIR, ("scipy.spatial.distance.", "sklearn.metrics.pairwise.", "sklearn.neighbors.")),
    (CallbackKind.NEIGHBORHOOD, ("scipy.ndimage.",)),
    (CallbackKind.SLICE, ("numpy.lib._shape_base_impl.apply_along_axis", "numpy.lib.shape_base.apply_along_axis")),
    (CallbackKind.ELEMENT, ("numpy.lib._function_base_impl.vectorize", "numpy.lib.function_base.vectorize")),
)
# these get single numbers, or what holds a few of them
_OF_NUMBERS = frozenset({CallbackKind.VALUE, CallbackKind.ELEMENT, CallbackKind.ROW})


def kind_of(found: LibraryCallback, nodes: Sequence[ast.AST] = ()) -> CallbackKind | None:
    """What it is called for; None where a callback is the point (an optimizer, a pipeline), or called seldom. `nodes`:
    of the statement that calls."""
    for kind, prefixes in _BY_FUNCTION:
        if any(name.startswith(prefixes) for name in found.below):
            return kind
    # pandas calls rows and columns back in one place
    is_frame = any(name.startswith("pandas.core.apply.FrameApply.") for name in found.below)
    return CallbackKind.ROW if is_frame and any(_is_along_rows(each) for each in nodes) else None


def _is_along_rows(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "apply":
        return False
    given = [each.value for each in node.keywords if each.arg == "axis"] or node.args[1:2]
    return any(isinstance(each, ast.Constant) and each.value in (1, "columns") for each in given)


def given_to(found: LibraryCallback, text: CallbackText | None) -> tuple[Operand, ...]:
    """What its arguments stood for, of those of which there is something to say: numbers have none."""
    names = text.arguments if text is not None else ()
    return tuple(each for each in found.operands if each.name in names and not each.callable)


def is_per_item(kind: CallbackKind, found: LibraryCallback, text: CallbackText | None) -> bool:
    """Whether it is called again and again for little work: it was seen to be, or its text and what it is given say
    so."""
    given = given_to(found, text)
    if found.torch_share >= _TORCH or any(_is_large(each) for each in given):
        return False
    if kind is CallbackKind.VALUE or kind is CallbackKind.ELEMENT:
        # of texts and objects there is no arithmetic with whole columns
        if any(each.kind.startswith(_OTHER_THAN_NUMBERS) for each in given):
            return False
        return text is not None and text.is_arithmetic
    least = _BETWEEN_ROWS if kind in (CallbackKind.WINDOW, CallbackKind.ROW) else _BETWEEN
    if found.stays >= OFTEN and found.library_share >= least:
        return True
    if text is None:
        return False
    if kind in _OF_NUMBERS:
        return text.is_arithmetic
    return text.is_straight and any(_is_small(each) for each in given)


def removed_ns(kind: CallbackKind, found: LibraryCallback, text: CallbackText | None) -> float:
    """The time that a change leaves out: what the library takes, and the callback's own work where arrays do it, too.

    What pandas does with one row or window below a callback is as much for two numbers as for many.
    """
    if text is not None and (
        text.is_arithmetic or text.is_built_in or (text.is_straight and kind is not CallbackKind.GROUP)
    ):
        return float(found.ns)
    inner = found.inner_share if kind in (CallbackKind.WINDOW, CallbackKind.ROW) else 0.0
    return found.ns * (found.library_share + inner)


def _is_large(given: Operand) -> bool:
    return given.kind.startswith(_NUMBERS) and (given.least or 0) > _SMALL


def _is_small(given: Operand) -> bool:
    return given.kind.startswith(_NUMBERS) and given.most is not None and given.most <= _SMALL
