"""Whether the sampler of stacks agrees with exact line events, on Python 3.12 and newer.

python -m benchmarks.observer.exact_lines [NAME ...] [--rounds 3] [--programs FOLDER]

A program is recorded for as long as it may be, so that both see the same seconds of the same run. What the machine does
meanwhile is the same for both: only how few the samples are sets them apart.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.observer.cells import Cells
from benchmarks.observer.figures import LONG_LINE, MOST_POINTS
from benchmarks.observer.measure import repeated
from benchmarks.observer.programs import default_folder, programs
from benchmarks.observer.worker import EXACT, folded
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.lines.stack_lines import StackLines
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_OWN = ("cell", "notebook")
_TIMEOUT_S = 900.0
_HEAD = (
    "| program | seconds | samples | lines above 5 % | within 5 points | worst line | by events | by samples | points "
    "| chance |"
)


@dataclass(frozen=True)
class LineShares:
    """Of one statement: its shares of the time (0..1) by line events and by samples, and the standard error that so few
    samples at random times have."""

    place: str
    exact: float
    sampled: float
    error: float

    @property
    def points(self) -> float:
        """By how many points they differ."""
        return 100 * abs(self.exact - self.sampled)


def both_of(trace: Trace, cells: Cells) -> dict[str, Any]:
    """The time that was sampled and followed alike, `seconds`, and how many `samples` are of it; by statement (see
    `folded`) the seconds by line events, `exact`, and by samples, `sampled`. Empty where there is no such time."""
    stacks, rows = trace.context.stacks, trace.stack_samples
    results = Results(trace)
    places, lines = results.get(LinePlaces), results.get(StackLines)
    if stacks is None or places.how != "monitoring" or not len(rows):
        return {}
    ahead_ns = trace.context.sampling.get("clock_offset_ns") or 0
    seen = Intervals(rows["start_ns"] + ahead_ns, rows["start_ns"] + rows["duration_ns"] + ahead_ns)
    both = intervals.intersect(intervals.union(seen), places.within)
    stays = (places.thread == places.main_thread) & (places.events["line"] > 0)
    followed = Intervals(places.events["time_ns"][stays], places.end_ns[stays])
    exact = _summed(both, followed, np.minimum(places.events["source_file"][stays], 1), places.events["line"][stays])
    known = rows["node"] >= 0
    known[known] = lines.source_file[rows["node"][known]] >= 0
    node, kinds = rows["node"][known], [int(each.kind != "cell") for each in stacks.files if each.kind in _OWN]
    file = np.array(kinds, np.int64)[lines.source_file[node]]
    sampled = _summed(both, Intervals(seen.starts[known], seen.ends[known]), file, lines.line[node])
    seconds = both.total_ns / 1e9
    found = {"seconds": seconds, "samples": seconds * stacks.rate_hz}
    return {**found, "exact": folded(exact, cells), "sampled": folded(sampled, cells)}


def _summed(within: Intervals, stays: Intervals, file: Array, line: Array) -> dict[tuple[int, int], float]:
    """Seconds of each line's stays in that time."""
    found: dict[tuple[int, int], float] = defaultdict(float)
    spent = intervals.covered(within, stays.starts, stays.ends) / 1e9
    for place, seconds in zip(zip(file.tolist(), line.tolist(), strict=True), spent.tolist(), strict=True):
        found[place] += seconds
    return dict(found)


def long_lines(rounds: Sequence[Mapping[str, Any]]) -> list[LineShares]:
    """The statements above 5 % by either in all rounds together, the longest first."""
    seconds, samples = (sum(each[name] for each in rounds) for name in ("seconds", "samples"))
    shares = []
    for name in ("exact", "sampled"):
        spent: dict[str, float] = defaultdict(float)
        for each in rounds:
            for place, part in each[name].items():
                spent[place] += part / seconds
        shares.append(spent)
    exact, sampled = shares
    found = []
    for place in {*exact, *sampled}:
        share, told = exact.get(place, 0.0), sampled.get(place, 0.0)
        if max(share, told) > LONG_LINE:
            found.append(LineShares(place, share, told, (share * (1 - share) / max(samples, 1.0)) ** 0.5))
    return sorted(found, key=lambda each: (-each.exact, each.place))


def row(name: str, rounds: Sequence[Mapping[str, Any]]) -> str:
    """One row of the table."""
    lines = long_lines(rounds)
    seconds, samples = (sum(each[of] for each in rounds) for of in ("seconds", "samples"))
    start = f"| {name} | {seconds:.1f} | {samples:.0f} | {len(lines)} |"
    if not lines:
        return f"{start} | | | | | |"
    worst, near = max(lines, key=lambda each: each.points), sum(each.points <= MOST_POINTS for each in lines)
    shares = " | ".join(f"{100 * each:.1f} %" for each in (worst.exact, worst.sampled))
    return f"{start} {near} | {worst.place} | {shares} | {worst.points:.1f} | {100 * worst.error:.1f} |"


def main(arguments: Sequence[str]) -> int:
    """Print the table; 1 where a program could not be measured."""
    parser = argparse.ArgumentParser(description="the sampler of stacks against exact line events")
    parser.add_argument("names", nargs="*", choices=[[], *programs()], metavar="NAME")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--programs", type=Path, default=default_folder())
    chosen = parser.parse_args(arguments)
    print(f"{_HEAD}\n{'|---' * (_HEAD.count('|') - 1)}|", flush=True)
    failed = 0
    for name in chosen.names or programs():
        done = repeated(name, EXACT, chosen.rounds, chosen.programs, timeout_s=_TIMEOUT_S)
        rounds = [each["both"] for each in done if each.get("both")]
        print(row(name, rounds) if rounds else f"{name}: {done[0].get('error', 'no line was followed')}", flush=True)
        for note in {note for each in done for note in each.get("notes", ())}:
            print(f"  {note}", file=sys.stderr)
        failed += not rounds
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
