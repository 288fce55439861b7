"""Python fills or reads a tensor one number at a time.

What it finds
    At least a hundred accesses a step to single numbers of a tensor (`table[i, j] = value`, `x[i].item()`,
    `float(x[i][j])`, `for value in x` with a read), one after the other, outside the DataLoader. What they take counts
    with Python between them, as long as that is short. In a cell without steps, and outside of them, the close look
    shows such accesses: a hundred of them in a row or in one function.

Why it costs
    Each access is a slice or two and an operator of their own, microseconds for a number that takes a nanosecond to
    store. For a tensor on a GPU each is a copy, too, for which the host waits.

What to do
    Compute the values with operators on whole tensors (`torch.arange`, broadcasting, `torch.where`, indexing by a
    tensor). Where each value needs the one before, compute with Python’s own numbers: `values = x.tolist()` once, and
    `torch.tensor(values)` once at the end; values with gradients need `torch.stack(values)`. What does not change from
    step to step belongs before the loop.

When to leave it
    When the values come from code that takes longer than the accesses, or the cell runs for a moment only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.looked_time import LookedTime
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.demand.looked_numbers import LookedNumbers
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.loops.repeats import Repeats
from gpuprof.analyses.loops.scalar_indexing import Accesses, ScalarIndexing
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_lines import elements_written, loops_over_samples
from gpuprof.rules.host.loops import is_hidden
from gpuprof.rules.needless.looked import cell_lines
from gpuprof.rules.needless.unread import at
from gpuprof.rules.saving.of_looked_operators import valued
from gpuprof.rules.saving.retimed import retimed
from gpuprof.rules.saving.scope import Scope, graded, worst
from gpuprof.whatif.changes.host_loops import accesses_at_once

# Of the time of the accesses, what the same takes on whole tensors: 0.4 % for 1,000 numbers `x[i] = math.sin(i)`, 6 %
# for 100 (one thread, torch 2.13); 9 and 11 % by a list. Beyond that the code between the accesses may have to stay.
_LEFT = 0.05
_NAMED = 3
_MOST_WRITTEN = 3  # lines: of more it is not known which


@dataclass(frozen=True)
class TensorByElement(Rule):
    """See the module."""

    accesses: float = threshold(100, "a step to single numbers: fewer are quickly done")
    steps_share: float = threshold(0.5, "of the steady steps make as many: a habit of the loop")
    access_share: float = threshold(0.05, "of the step: less is hardly worth a change")
    high_share: float = threshold(0.20, "of the step: then it is the first thing to mend")
    busy_share: float = threshold(0.80, "of the accesses’ time: a device that is busy that long is not held up by them")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the accesses that are certain, of the close look or of the steps, then those that may be."""
        found, looked = results.get(ScalarIndexing), results.get(LookedNumbers)
        seen = looked.accesses >= self.accesses and looked.share >= self.access_share
        # of the whole cell, with what Python does in the same lines; what a GPU does meanwhile only the recording has
        whole = seen and results.get(DeviceActivity).primary is None and results.get(LookedTime).known
        if not whole and self._costs(results, found.known):
            return self._finding(results, found.known)
        if seen:
            return self._looked(results, looked)
        if self._costs(results, found.possible):
            return Abstention(
                self.name,
                "the shapes: a tensor is written piece by piece, but not whether a piece is a single number",
                "Record the shapes (`%%gpuprofile --shapes`, `record_shapes=True`).",
            )
        return None

    def _costs(self, results: Results, runs: Accesses) -> bool:
        scope, repeats = Scope.of(results), results.get(Repeats)
        steady = repeats.steady
        if not steady.any():
            return False  # printing a tensor reads it as well
        habit = float((runs.per_step(repeats.count)[steady] >= self.accesses).mean())
        inside = _inside(results, runs)[0]
        return (
            habit > self.steps_share
            and scope.share(inside.total_ns) >= self.access_share
            and not is_hidden(results, inside, self.busy_share)
        )

    def _looked(self, results: Results, found: LookedNumbers) -> Finding:
        places = found.places[:_NAMED]
        where = at(results, places[0]) if places else "a library"
        done = _done(found.writes, found.accesses)
        finding = Finding(
            rule=self.name,
            severity=graded(found.share, self.high_share),
            title=f"Tensors are {done} one number at a time at {where}",
            explanation=(
                f"In the close look {units.count(found.accesses)} numbers are {done} by Python one after the other, "
                f"each through slices of its own, most at {where}. They take {units.percent(found.share)} of "
                "the operators’ time seen."
            ),
            evidence={"accesses": found.accesses, "writes": found.writes, "access_share": round(found.share, 4)},
            where=Where(lines=cell_lines(results, places)),
            change=_change(found.writes > 0, found.writes < found.accesses, found.graph),
        )
        assert found.rows is not None
        among = np.ones(len(results.get(ValueGraph).operators), bool)
        return valued(results, finding, found.share, [found.rows], among, part=1 - _LEFT)

    def _finding(self, results: Results, runs: Accesses) -> Finding:
        scope, (inside, behind_ns) = Scope.of(results), _inside(results, runs)
        share, repeats = scope.share(inside.total_ns), results.get(Repeats)
        rate = float(np.median(runs.per_step(repeats.count)))
        writes, number = int(runs.writes.sum()), int(runs.number.sum())
        done = _done(writes, number)
        its = f", {units.duration(behind_ns)} of it in what backward does for them" if behind_ns else ""
        finding = Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"Tensors are {done} one number at a time for {units.percent(share)} of {scope.words}",
            explanation=(
                f"{units.count(round(rate))} numbers {repeats.each} are {done} by Python one after the other, "
                f"{units.plural(number, 'access', 'accesses')} in all, each through slices of its own: "
                f"{units.duration(inside.total_ns)}{its}."
            ),
            evidence={
                f"accesses_per_{repeats.noun}": round(rate, 1),
                "writes": writes,
                "reads": number - writes,
                "access_ms": units.milliseconds(inside.total_ns),
                "access_share": round(share, 4),
                **({"backward_ms": units.milliseconds(behind_ns)} if behind_ns else {}),
            },
            where=Where(
                lines=results.get(LinePlaces).cell_lines(intervals.union(runs.within)) or _by_text(results, writes > 0),
                ranges_ns=worst(inside),
            ),
            change=_change(writes > 0, writes < number, behind_ns > 0),
            saving=scope.saving(
                min(float(runs.operators_ns.sum()), inside.total_ns * (1 - _LEFT)),
                inside.total_ns * (1 - _LEFT),
                inside.total_ns,
                "estimate: the same values by operators on whole tensors, or made once",
                part_of=inside,
            ),
        )
        return retimed(
            results, finding, accesses_at_once(results, inside, _LEFT), "simulated with these accesses at once"
        )


def _done(writes: int, number: int) -> str:
    return "written" if writes >= number else "written and read" if writes else "read"


def _inside(results: Results, runs: Accesses) -> tuple[Intervals, int]:
    """The time of the accesses in the steps and of what backward does for them; ns of the latter."""
    within = Scope.of(results).within
    forward = intervals.union(runs.within)
    behind = intervals.intersect(runs.behind, within)
    return intervals.intersect(intervals.joined(forward, behind), within), behind.total_ns


def _by_text(results: Results, writes: bool) -> tuple[int, ...]:
    """Where no line was seen: by the text of the cell."""
    cell = results.context.cell
    if cell is None:
        return ()
    written = elements_written(cell.source) if writes else ()
    return written if 0 < len(written) <= _MOST_WRITTEN else loops_over_samples(cell.source)


def _change(writes: bool, reads: bool, graph: bool) -> str:
    whole = "Compute the values with operators on whole tensors (`torch.arange`, broadcasting, `torch.where`, an index)"
    if graph and writes:
        kept = "collect the values and `torch.stack` them: `torch.tensor(values)` would drop their gradients"
        return f"{whole}; where that cannot be, {kept}."
    if graph:
        return f"{whole}."
    made = "collect the places and values in lists, and write them at once (`x[places] = torch.tensor(values)`)"
    read = "read what is needed at once (`values = x[places].tolist()`) and compute with Python’s numbers"
    both = f"{read}, then {made}" if writes and reads else made if writes else read
    once = " What does not change from step to step belongs before the loop." if writes else ""
    return f"{whole}; where that cannot be, {both}.{once}"
