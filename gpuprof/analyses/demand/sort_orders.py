"""Along which axis a looked-at sort runs, and which way."""

from __future__ import annotations

from typing import NamedTuple

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.demand import operator_names as names
from gpuprof.analyses.demand.looked import operators_of


class SortOrder(NamedTuple):
    """`descending`: the largest first."""

    dim: int
    descending: bool


def sort_order(results: Results, row: int) -> SortOrder | None:
    """Of that row of looked_operators; None where it is no sort, or its arguments are not known."""
    operator = operators_of(results.trace)[row]
    if names.plain(operator.name) == "msort":
        return SortOrder(0, descending=False)
    # sort(x, dim, descending), and sort.stable(x, stable, dim, descending)
    given = list(operator.arguments or ())[-2:]
    if names.plain(operator.name) not in ("sort", "argsort") or len(given) < 2:
        return None
    dim, descending = given
    known = isinstance(dim, int) and not isinstance(dim, bool) and isinstance(descending, bool)
    return SortOrder(dim, descending) if known else None
