"""Lines of the close look that draw random numbers."""

from __future__ import annotations

import numpy as np

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.demand.looked import operators_of
from gpuprof.analyses.demand.operator_names import plain


def random_at(results: Results, place: int) -> str:
    """The first random operator of a forward pass at that row of the looked places; empty where there is none."""
    operators = results.get(ValueGraph).operators
    rows = np.flatnonzero((operators["place"] == place) & operators["random"] & ~operators["backward"])
    return plain(operators_of(results.trace)[int(rows[0])].name) if len(rows) else ""
