"""Looks that begin later: whatever an analysis says of the first operator, it says of each of them once."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np

from gpuprof.analyses.basics.result import Results
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Source, Trace, empty_tables
from tests.support.figures import Plain, analyses, brief, plain
from tests.support.looks.inside import of_demand

_ROOMS = ("analyses.dataflow.", "analyses.demand.", "analyses.training.")
OF_LOOKS = tuple(kind for kind in analyses() if kind.__module__.removeprefix("gpuprof.").startswith(_ROOMS))
"""The analyses of looks, by name."""


def cut(trace: Trace, first: int) -> Trace:
    """Without the first operators, and without values that none of the others reads or makes."""
    operators, values = trace.tables["looked_operators"], trace.tables["looked_values"]
    sides = {name: trace.tables[name] for name in ("looked_reads", "looked_results")}
    sides = {name: side.take(side["operator"] >= first) for name, side in sides.items()}
    used = np.unique(np.concatenate([side["value"] for side in sides.values()]))
    used = used[used >= 0]
    number = np.full(len(values) + 1, -1)
    number[used] = np.arange(len(used))
    kept = values.take(used)
    gone = np.where(kept["gone_at"] >= 0, np.maximum(kept["gone_at"] - first, 0), -1)
    tables: dict[str, Table] = {
        "looked_operators": operators.take(np.arange(first, len(operators))),
        "looked_values": kept.replace(made_by=_later(kept["made_by"], first), gone_at=gone),
    }
    rest = tables["looked_operators"]
    tables["looked_operators"] = rest.replace(forward_operator=_later(rest["forward_operator"], first))
    for name, side in sides.items():
        tables[name] = side.replace(operator=side["operator"] - first, value=number[side["value"]])
    return replace(trace, tables={**trace.tables, **tables})


def _later(rows: Array, first: int) -> Array:
    moved: Array = np.where(rows >= first, rows - first, -1)
    return moved


def of_cuts(results: Results) -> dict[str, dict[str, Plain]]:
    """What is said where it begins after a few operators, after a third, and after half of them, in brief."""
    count = len(results.trace.tables["looked_operators"])
    begins = sorted({1 + count // 7, count // 3, count // 2})
    return {str(first): _in_brief(cut(results.trace, first)) for first in begins}


def _in_brief(trace: Trace) -> dict[str, Plain]:
    results = Results(trace)
    told = {kind.__name__: plain(results.get(kind)) for kind in OF_LOOKS}
    own = {name: brief(each) for name, each in told.items() if each != _of_nothing()[name]}
    return own | {name: brief(each) for name, each in of_demand(results).items() if each}


@functools.cache
def _of_nothing() -> dict[str, Plain]:
    results = Results(Trace(Source("empty.json"), (), empty_tables(), 0, 0))
    return {kind.__name__: plain(results.get(kind)) for kind in OF_LOOKS}
