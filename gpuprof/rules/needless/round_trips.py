"""Tensors are converted to another type, device or layout, and straight back.

What it finds
    In the close look, conversions (`.to()`, `.double()`, `.cpu()`, `.contiguous()`) whose result is converted back with
    nothing computed in between, so that the same numbers come back; they take 3% of the operators' time or more.
    Conversions that round, and what a backward pass brings back to the device, do not count.

Why it costs
    Each conversion reads the whole tensor and writes a copy of it; to another device it also waits.

What to do
    Use the tensor as it was before, and convert only what a function really needs in the other form.

When to leave it
    When a library in between needs the other form and changes the tensor in ways that torch does not see.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.conversion_trips import ConversionTrips, Trip
from gpuprof.analyses.dataflow.looked_lines import LookedLines
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.needless.looked import SEEN_SHARE, cell_lines, line_words, without_look
from gpuprof.rules.saving.of_looked_operators import valued
from gpuprof.rules.saving.scope import graded

_NAMED = 3


@dataclass(frozen=True)
class RoundTrips(Rule):
    """See the module."""

    guard = Guard.EXACT

    trip_share: float = threshold(0.03, "of the operators’ time: less is not worth a change")
    low_share: float = threshold(0.10, "of the operators’ time: less matters little")
    high_share: float = threshold(0.30, "of the operators’ time: then fix it first")
    seen_share: float = threshold(SEEN_SHARE, "of the operators of the looked-at iterations: else they are not like it")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the conversions that are undone."""
        lacking = without_look(self.name, results, self.seen_share)
        if lacking is not None:
            return lacking
        found = results.get(ConversionTrips)
        if not found.trips or found.share < self.trip_share:
            return None
        first, count = found.trips[0], sum(trip.count for trip in found.trips)
        places = tuple(dict.fromkeys(p for trip in found.trips[:_NAMED] for p in (trip.out, trip.back) if p >= 0))
        finding = Finding(
            rule=self.name,
            severity=graded(found.share, self.high_share, self.low_share),
            title=f"Tensors are converted and converted back: {units.percent(found.share)} of the operators’ time",
            explanation=" ".join(_words(results, trip) for trip in found.trips[:_NAMED]),
            evidence={
                "round_trips": count,
                "conversion_share": round(found.share, 4),
                "bytes_each": first.each_bytes,
                "conversions": _way(first),
            },
            where=Where(lines=cell_lines(results, places)),
            change="Use the tensor as it was before the conversion. Convert only what a function needs in the other "
            "form, and only once.",
            diff=_diff(results, first),
        )
        return valued(
            results,
            finding,
            found.share,
            (found.needless,),
            np.ones(len(results.get(ValueGraph).operators), bool),
        )


def _words(results: Results, trip: Trip) -> str:
    lines = results.get(LookedLines)
    out, back = line_words(lines.line(trip.out)), line_words(lines.line(trip.back))
    where = f"{out} and {back}" if out != back else out
    convert = "convert" if out != back else "converts"
    return (
        f"{where[0].upper()}{where[1:]} {convert} {units.size(trip.each_bytes)} {_way(trip)} "
        f"({units.plural(trip.count, 'time')} in the looked-at iterations): {units.percent(trip.share)} of the "
        "operators’ time."
    )


def _way(trip: Trip) -> str:
    if trip.home == trip.through:
        return "to another order in memory and back"
    return f"from {trip.home} to {trip.through} and back"


def _diff(results: Results, trip: Trip) -> str | None:
    """Where both conversions stand in one expression of the cell."""
    out, back = (results.get(LookedLines).line(place) for place in (trip.out, trip.back))
    if out is None or out != back or not out.in_cell:
        return None
    return cell_diff(results, lambda source: _edit(source, out.line, trip.through))


def _edit(source: str, line: int, through: str) -> str | None:
    from gpuprof.code_edits.data.round_trips import drop_round_trip

    return drop_round_trip(source, line, through)
