"""Where a cell evaluates, in words and as lines of the cell."""

from __future__ import annotations

from gpuprof.analyses.accounts.evaluations import EvaluationPlace


def lines_of_cell(places: tuple[EvaluationPlace, ...]) -> tuple[int, ...]:
    """The lines of the profiled cell, or those that led to the code."""
    lines = (place.line if place.in_cell else place.cell_line for place in places)
    return tuple(sorted({line for line in lines if line is not None}))


def in_other_cell(places: tuple[EvaluationPlace, ...]) -> str:
    """`Most of it is in line 180 of In [2].`; nothing for the profiled cell, whose line is shown anyway."""
    first = places[0] if places else None
    if first is None or first.in_cell or first.execution_count is None:
        return ""
    return f"Most of it is in line {first.line} of In [{first.execution_count}]."
