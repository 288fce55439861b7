"""The diff of a finding: an edit of the profiled cell, where its source is known."""

from __future__ import annotations

from collections.abc import Callable

from gpuprof.analyses.basics.result import Results
from gpuprof.code_edits.syntax.diff import as_typed, unified_diff


def known_models(results: Results) -> frozenset[str]:
    """The names of the notebook's variables that hold models, as far as the run weighed them."""
    parts = (part for each in results.context.compositions for part in each.modules)
    return frozenset(part.name.partition(".")[0] for part in parts)


def cell_diff(results: Results, edit: Callable[[str], str | None]) -> str | None:
    """The unified diff, on the cell as it was typed, of what `edit` makes of its source; None where it makes nothing.

    The edit imports what it needs of `gpuprof.code_edits` itself: most reports need no syntax tree.
    """
    cell = results.context.cell
    if cell is None:
        return None
    try:
        after = edit(cell.source)
    except Exception:  # noqa: BLE001 - the boundary to the syntax tree: the advice in words must stand without it
        return None
    return unified_diff(as_typed(cell.source), as_typed(after)) or None if after is not None else None
