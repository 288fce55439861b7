"""Lists of arrays that torch reads number by number, joined in NumPy first."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import libcst as cst

from gpuprof.code_edits.syntax import matching as m
from gpuprof.code_edits.syntax.tree import CellTree, Changes


def stack_arrays(source: str, given: Collection[tuple[int, str]]) -> str | None:
    """`torch.tensor(rows)` as `torch.tensor(np.stack(rows))` wherever a call at a line, from 1, of `given` gets what
    is written there: the same values in the same type.

    None where one of them is not found, or where the cell does not import NumPy.
    """
    tree = CellTree.of(source)
    numpy = _numpy(tree) if tree else None
    if tree is None or numpy is None or not given:
        return None
    changes, found = Changes(), set[tuple[int, str]]()
    for call in tree.all(m.Call(m.Attribute())):
        if not call.args or call.args[0].keyword is not None or call.args[0].star:
            continue
        first = call.args[0].value
        if not (tree.imported_as(call.func) or tree.code(call.func)).startswith("torch."):
            continue
        places = {(line, text) for line, text in given if line in tree.lines(call) and _same(tree.code(first), text)}
        if places:
            found |= places
            changes[first] = _stacked(numpy)
    return tree.changed(changes) if found == set(given) else None


def _numpy(tree: CellTree) -> str | None:
    """The name that the cell imports NumPy by."""
    for each in tree.all(m.ImportAlias(m.Name("numpy"))):
        return each.asname.name.value if each.asname else "numpy"
    return None


def _same(code: str, text: str) -> bool:
    return "".join(code.split()).replace('"', "'") == "".join(text.split()).replace('"', "'")


def _stacked(numpy: str) -> Callable[[Any], Any]:
    function = cst.parse_expression(f"{numpy}.stack")
    return lambda made: cst.Call(function, [cst.Arg(made)])
