"""A Python loop takes one slice of a tensor after the other, though its turns do not depend on one another.

What it finds
    The same operators at least ten times in a row in most steps, on slices along a dimension that is not the batch
    (`x[:, k]`: classes, channels, heads, time), by a loop in the profiled cell whose text shows that no turn needs
    another: it only adds up, appends, or writes to places of its own. Recurrences are never meant; where the text does
    not tell (a module of your own may keep a state), nothing is said.

Why it costs
    Each turn pays Python, dispatch and (on a GPU) the launches again, and in `backward()` each slice makes a gradient
    of the size of the whole tensor, which are added up.

What to do
    Give the operators the whole tensor: sums over the other dimensions (`x.sum(dim=(0, 2, 3))`), broadcasting,
    `torch.einsum`, `torch.bmm` for products, `torch.vmap(f, in_dims=1)` for the rest.

When to leave it
    When the whole tensor at once would not fit: what the turns make one after the other then lies in memory together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.loops.loop_cost import LoopCost, LoopCosts
from gpuprof.analyses.loops.python_loops import LEAST_TURNS, Loop, Repetition
from gpuprof.analyses.loops.slice_walks import Walk
from gpuprof.model import intervals
from gpuprof.rules.base.finding import Abstention, Finding, Saving, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.source_loops import independent_lines
from gpuprof.rules.host.loops import AT_ONCE, batch_sizes, is_hidden, is_over_batch, named_operators
from gpuprof.rules.saving.retimed import retimed
from gpuprof.rules.saving.scope import Scope, graded, worst
from gpuprof.whatif.changes.host_loops import turns_at_once

# What an operator takes however little it does, with Python around it; measured 3 to 6 µs (recorded, torch 2.13). What
# is longer is work on the elements, which remains: unlike samples, such slices are often large.
_OPERATOR_NS = 5_000
# `range(1, classes)` leaves one out, and the first and last turn may look different.
_MOST_LEFT_OUT = 2


@dataclass(frozen=True)
class PythonLoopOverSlices(Rule):
    """See the module."""

    loop_share: float = threshold(0.05, "of the step: less is hardly worth a change")
    high_share: float = threshold(0.20, "of the step: then it is the first thing to mend")
    steps_share: float = threshold(0.5, "of the steady steps have the loop: a habit")
    busy_share: float = threshold(0.80, "of the loop: a device that is busy that long in it is not held up by it")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the costliest loop that is not over the batch."""
        scope, cell = Scope.of(results), results.context.cell
        for cost in results.get(LoopCosts).costs:
            loop = cost.loop
            costly = scope.share(cost.inside.total_ns) >= self.loop_share and self._is_habit(results, loop)
            if not costly or is_hidden(results, cost.inside, self.busy_share):
                continue
            sizes = batch_sizes(results, loop)
            if 2 * sum(is_over_batch(run, sizes) for run in loop.runs) >= len(loop.runs):
                continue
            known, walk = any(run.walks is not None for run in loop.runs), _walk(loop)
            if known and walk is None:
                continue
            if cell is None:
                return Abstention(
                    self.name,
                    "the text of the cell: a loop over slices was seen, but not whether its turns need one another",
                    "Profile the cell with `%%gpuprofile`; a trace file does not hold its text.",
                )
            lines = independent_lines(cell.source, loop.names)
            if lines and walk is None:
                return Abstention(
                    self.name,
                    "the shapes: a loop over slices was seen, but not which dimension it is over",
                    "Record the shapes (`%%gpuprofile --shapes`, `record_shapes=True`).",
                )
            if lines and walk is not None:
                found = self._finding(results, cost, walk, lines)
                return retimed(
                    results, found, turns_at_once(results, loop.turns / len(loop.runs), cost.inside), AT_ONCE
                )
        return None

    def _is_habit(self, results: Results, loop: Loop) -> bool:
        steady = np.flatnonzero(results.get(StepTime).steady)
        return len(steady) > 0 and float(np.isin(steady, [run.step for run in loop.runs]).mean()) > self.steps_share

    def _finding(self, results: Results, cost: LoopCost, walk: Walk, lines: tuple[int, ...]) -> Finding:
        scope, loop, inside = Scope.of(results), cost.loop, cost.inside
        names, turns = named_operators(loop), loop.turns / len(loop.runs)
        share, behind = scope.share(inside.total_ns), intervals.intersect(cost.backward, scope.within).total_ns
        its = f", {units.duration(behind)} of it in what backward does for them" if behind else ""
        sizes = "×".join(str(size) for size in (*walk.rest[: walk.dimension], walk.size, *walk.rest[walk.dimension :]))
        return Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"A Python loop over slices takes {units.percent(share)} of {scope.words}",
            explanation=(
                f"The operators {names} run {turns:.0f} times in a row, once for each index of dimension "
                f"{walk.dimension} of a tensor of {sizes}, in {units.plural(len(loop.runs), 'place')} of the run: "
                f"{units.duration(inside.total_ns)} in all{its}. No turn needs another."
            ),
            evidence={
                "loop_ms": units.milliseconds(inside.total_ns),
                "loop_share": round(share, 4),
                **({"backward_ms": units.milliseconds(behind)} if behind else {}),
                "turns_per_loop": round(turns, 1),
                "loops": len(loop.runs),
                "dimension": walk.dimension,
                "shape": sizes,
                "operators_per_turn": len(loop.names),
                "operators": names,
            },
            where=Where(lines=lines, ranges_ns=worst(inside)),
            change=f"Give these operators the whole tensor instead of one index of dimension {walk.dimension}: sums "
            "over the other dimensions, broadcasting, `torch.einsum`, `torch.bmm` for products, or "
            f"`torch.vmap(f, in_dims={walk.dimension})`.",
            saving=_saving(results, cost, turns),
        )


def _walk(loop: Loop) -> Walk | None:
    """Along which dimension, the whole of it, most runs of the loop walk; None where they walk otherwise."""
    found = [next((walk for walk in run.walks or () if _is_whole(walk, run)), None) for run in loop.runs]
    whole = [walk for walk in found if walk is not None]
    return max(set(whole), key=whole.count) if 2 * len(whole) > len(loop.runs) else None


def _is_whole(walk: Walk, run: Repetition) -> bool:
    return walk.size >= LEAST_TURNS and 0 <= walk.size - run.turns <= _MOST_LEFT_OUT


def _saving(results: Results, cost: LoopCost, turns: float) -> Saving:
    """At worst only Python between the operators and the gradients of the slices go, at best all turns take as one."""
    scope, spent_ns = Scope.of(results), cost.inside.total_ns
    bound = spent_ns * (1 - 1 / turns)
    if results.get(DeviceActivity).recorded is not None:
        return scope.saving(bound * 0.3, bound, bound, "upper bound: all turns take as long as one now")
    return scope.saving(
        min(spent_ns - cost.operators_ns(), bound),
        min(spent_ns - cost.operators_ns(_OPERATOR_NS), bound),
        bound,
        "estimate: what the operators take beyond 5 µs each remains",
        part_of=cost.inside,
    )
