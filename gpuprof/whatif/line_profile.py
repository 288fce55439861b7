"""The causal line profile: what the run gains when one line gets faster, which its time alone does not tell.

After coz (Curtsinger and Berger, SOSP 2015), by simulation instead of slowing the rest down: docs/design/whatif.md,
formula 13.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.line_costs import LineCosts
from gpuprof.analyses.lines.line_places import LinePlaces, issued_at
from gpuprof.analyses.loading.input_pipeline import InputPipeline
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace
from gpuprof.whatif.changes.graph_edits import GraphEdit, together
from gpuprof.whatif.changes.trace_changes import host_time_scaled, operations_scaled
from gpuprof.whatif.grade import Nature, grade
from gpuprof.whatif.predict import MINOR_SHARE, Replay
from gpuprof.whatif.retime import span_ns

# How much faster a line is made; the second is the one that lines are judged by: halving a time is often possible.
FASTER_SHARES = (0.25, 0.5, 0.75, 1.0)
HALVED = 1
# Of the run, on the host or on the device: from there on a reader of the source would begin with the line.
HOT_SHARE = 0.10
# A hot line is critical where halving it gains what a finding must gain, lest it be minor.
CRITICAL_SHARE = MINOR_SHARE
# Lines of less cannot gain more than that: they are not simulated.
NOTABLE_SHARE = 0.02
# Each takes as many simulations as FASTER_SHARES has.
MOST_LINES = 10
# Of the run with the device idle for want of a batch: then a faster line may only wait longer for the next one.
LATE_BATCHES_SHARE = 0.05


class LineKind(Enum):
    """What can be said of a line: whether it is hot (HOT_SHARE), and whether a faster one would make the run shorter
    (CRITICAL_SHARE). UNKNOWN: hot, but what it gains cannot be said."""

    CRITICAL = "hot and critical"
    HIDDEN = "hot and hidden"
    COOL = "not hot"
    UNKNOWN = "hot, gain unknown"


@dataclass(frozen=True)
class LineGain:
    """One line. `source_file` and `line` as in LineCosts; `host_ns` its own time on the main thread, `device_ns` of
    the device work launched from it, `cost_share` the larger one over the run, 0..

    `gain_ns`: by how much the run gets shorter with the line made FASTER_SHARES faster, on both; None where unknown.
    """

    source_file: int
    line: int
    host_ns: int
    device_ns: int
    cost_share: float
    gain_ns: tuple[int, ...] | None
    kind: LineKind


@dataclass(frozen=True)
class LineProfile(Result):
    """The lines of notable cost, costliest first; MOST_LINES at most.

    `run_ns`: the span that gains are shares of (see `Replay`), `recorded_ns` that of costs. `grade`: how far to trust
    the gains, with its `reasons`; under D, and where nothing can be simulated (None), there are no `lines`.
    `late_batches`: batches from workers come late, so that what other lines gain is unknown.
    """

    lines: tuple[LineGain, ...]
    run_ns: int
    recorded_ns: int
    grade: str | None
    reasons: tuple[str, ...]
    late_batches: bool = False

    def at(self, source_file: int, line: int) -> LineGain | None:
        """That line's, if it has one."""
        return next((each for each in self.lines if (each.source_file, each.line) == (source_file, line)), None)

    def share(self, ns: float) -> float:
        """Of the run, 0..1."""
        return ns / self.run_ns if self.run_ns else 0.0

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """Re-time the run with each line faster: all its host time on the main thread, all work launched from it."""
        table = results.get(LineCosts).table
        if not len(table):
            return cls((), 0, 0, None, ("no line was followed",))
        replay = results.get(Replay)
        if not replay.possible:
            return cls((), 0, 0, None, ("host calls and the device work that they launched were not both recorded",))
        found = grade(replay.facts, Nature(False, False, calibrated=replay.calibration is not None))
        recorded_ns, late = replay.graph.recorded_span_ns, _batches_come_late(results)
        if found.letter == "D" or not replay.baseline_ns:
            return cls((), replay.run_ns, recorded_ns, found.letter, found.reasons)
        cost = np.maximum(table["host_ns"], table["device_ns"])
        order = np.argsort(-cost, kind="stable")[:MOST_LINES]
        chosen = order[cost[order] >= NOTABLE_SHARE * recorded_ns]
        placed, lines = _Placed.of(trace, results), []
        for row in chosen.tolist():
            file, line = int(table["source_file"][row]), int(table["line"][row])
            gains = None
            if not late or table["input_wait_ns"][row]:
                gains = tuple(_gain(replay, placed.faster(file, line, 1 - share)) for share in FASTER_SHARES)
            share = float(cost[row]) / recorded_ns
            kind = _kind(share, None if gains is None else gains[HALVED] / replay.run_ns)
            own = int(table["host_ns"][row]), int(table["device_ns"][row])
            lines.append(LineGain(file, line, *own, share, gains, kind))
        return cls(tuple(lines), replay.run_ns, recorded_ns, found.letter, found.reasons, late)


@dataclass(frozen=True, eq=False)
class _Placed:
    """Where each line was: on the main thread, and as the row of `events` that launched each device event (-1)."""

    places: LinePlaces
    launched: Array

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        places = results.get(LinePlaces)
        return cls(places, places.at(*issued_at(trace, trace.device_events)))

    def faster(self, file: int, line: int, factor: float) -> GraphEdit:
        events = self.places.events
        mine = (events["source_file"] == file) & (events["line"] == line)
        held = mine & (self.places.thread == self.places.main_thread)
        mine_ns = intervals.union(Intervals(events["time_ns"][held], self.places.end_ns[held]))
        within = intervals.intersect(mine_ns, self.places.within)
        work = np.flatnonzero((self.launched >= 0) & mine[self.launched])
        return together(host_time_scaled(within, factor), operations_scaled(work, factor))


def _gain(replay: Replay, edit: GraphEdit) -> int:
    """Of the run, ns; replayed against replayed."""
    left = span_ns(edit(replay.graph)) / replay.baseline_ns
    return round((1 - left) * replay.run_ns)


def _kind(cost_share: float, gain_share: float | None) -> LineKind:
    if cost_share < HOT_SHARE:
        return LineKind.COOL
    if gain_share is None:
        return LineKind.UNKNOWN
    return LineKind.CRITICAL if gain_share >= CRITICAL_SHARE else LineKind.HIDDEN


def _batches_come_late(results: Results) -> bool:
    """Batches from worker processes, which the graph keeps at the times that they took."""
    pipeline = results.get(InputPipeline)
    idle = pipeline.device_idle_in_wait_ns or 0
    return not pipeline.in_process and idle >= LATE_BATCHES_SHARE * max(results.trace.span_ns, 1)
