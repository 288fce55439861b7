"""Loops that go on though everything is decided."""

from __future__ import annotations

import libcst as cst

from gpuprof.code_edits.syntax import matching as m
from gpuprof.code_edits.syntax.tree import CellTree


def end_when_decided(source: str, line: int, flag: str, *, sets: bool) -> str | None:
    """`if flag.all(): break` (of flags that are cleared `if not flag.any(): break`) at the top of the `for` loop that
    begins at `line`: there nothing of an iteration is left half done.

    None where there is no such loop, where it has an `else`, or where the name is bound anew in it.
    """
    tree = CellTree.of(source)
    loops = [each for each in tree.all(m.For()) if tree.place(each)[0] == line] if tree else []
    if tree is None or len(loops) != 1:
        return None
    loop = loops[0]
    if loop.orelse is not None or not isinstance(loop.body, cst.IndentedBlock):
        return None
    if any(name.value == flag for name in tree.names(loop.target)):
        return None
    test = f"{flag}.all()" if sets else f"not {flag}.any()"
    added = cst.parse_statement(f"if {test}:\n    break\n")
    return tree.changed({loop.body: lambda made: made.with_changes(body=[added, *made.body])})
