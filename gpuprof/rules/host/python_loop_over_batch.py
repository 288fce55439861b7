"""A Python loop runs the same operators for one sample of the batch after the other.

What it finds
    The same short sequence of operators with a slice such as `x[i]`, at least ten times in a row within a step and as
    often as a batch of the DataLoader has samples, where the slices walk along the first dimension and leave no other
    of that size. Loops over time (`x[:, t]`), channels or heads look the same but for that: without the recorded shapes
    (`%%gpuprofile --shapes`) nothing is said. Without a DataLoader a batch is what the loss is computed of, and the
    loop has to stand in the profiled cell, with a text that shows that no turn needs another.

Why it costs
    Each turn pays Python, dispatch and (on a GPU) the launches again, for a piece of work that is far too small, and
    autograd pays once more for each turn in `backward()`. The same operators on the whole batch cost hardly more than
    one turn.

What to do
    Give the operators the whole batch: most of torch's functions take it as it is. Otherwise `torch.vmap(f)(x)`,
    `torch.bmm` for products, `torch.where` for branches, padding for different lengths.

When to leave it
    When each turn depends on the one before (recurrences, sampling step by step), or the samples differ in shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.loops.batch_sizes import BatchSizes
from gpuprof.analyses.loops.loop_cost import LoopCost, LoopCosts, cost_within
from gpuprof.analyses.loops.python_loops import Loop, Repetition
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.rules.base.finding import Abstention, Finding, Saving, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_lines import loops_over_samples
from gpuprof.rules.cell.source_loops import independent_lines
from gpuprof.rules.host.loops import AT_ONCE, batch_sizes, is_hidden, is_over_batch, named_operators
from gpuprof.rules.saving.retimed import retimed
from gpuprof.rules.saving.scope import Scope, graded, worst
from gpuprof.whatif.changes.host_loops import turns_at_once

# What the whole batch takes of the loop's time on the CPU: the most, the median of what was measured for elementwise
# operators, norms, products and two linear layers of 16 to 512 features, for 16 to 64 samples, with and without
# backward (one thread, torch 2.13: 2 to 31 %, nine in ten below 20 %). At best the batch takes as long as a sample.
_LEFT_ON_CPU = (0.31, 0.1)


@dataclass(frozen=True)
class PythonLoopOverBatch(Rule):
    """See the module."""

    loop_share: float = threshold(0.05, "of the step: less is hardly worth a change")
    high_share: float = threshold(0.20, "of the step: then it is the first thing to mend")
    busy_share: float = threshold(0.80, "of the loop: a device that is busy that long in it is not held up by it")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the costliest loop over slices."""
        scope = Scope.of(results)
        for cost in results.get(LoopCosts).costs:
            loop = cost.loop
            if scope.share(cost.inside.total_ns) < self.loop_share:
                continue
            if is_hidden(results, cost.inside, self.busy_share):
                continue
            sizes = batch_sizes(results, loop)
            runs = [run for run in loop.runs if is_over_batch(run, sizes)]
            if len(runs) * 2 >= len(loop.runs):
                outer = tuple(run for run in loop.outer if is_over_batch(run, sizes))
                if outer:
                    cost = cost_within(results, loop, outer)
                found = self._finding(results, cost, _turns(outer))
                turns = _turns(loop.runs) * _turns(outer)
                return retimed(results, found, turns_at_once(results, turns, cost.inside), AT_ONCE)
            if all(run.walks is None for run in loop.runs):
                return Abstention(
                    self.name,
                    "the shapes: a loop over slices was seen, but not whether it is over the batch",
                    "Record the shapes (`%%gpuprofile --shapes`, `record_shapes=True`).",
                )
            if not sizes and any(walk.dimension == 0 for run in loop.runs for walk in run.walks or ()):
                return Abstention(
                    self.name,
                    "the batch size: a loop over slices was seen, but not whether it is over the batch",
                    "Take the batches from a DataLoader with a `batch_size`, in a cell with `%%gpuprofile --shapes`.",
                )
        return None

    def _finding(self, results: Results, cost: LoopCost, outer: float) -> Finding:
        """`outer`: how often the loop runs in a row, 1 where it is in no other loop over the batch."""
        scope, loop, inside = Scope.of(results), cost.loop, cost.inside
        names, turns = named_operators(loop), _turns(loop.runs)
        sure = (
            "" if results.get(BatchSizes).of_loaders else " The loss is computed of as many, and no turn needs another."
        )
        around = f" This loop itself runs {outer:.0f} times in a row, once a sample as well." if outer > 1 else ""
        share, behind = scope.share(inside.total_ns), intervals.intersect(cost.backward, scope.within).total_ns
        its = f", {units.duration(behind)} of it in what backward does for them" if behind else ""
        return Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"A Python loop over the batch takes {units.percent(share)} of {scope.words}",
            explanation=(
                f"The operators {names} run {turns:.0f} times in a row, once a sample, in "
                f"{units.plural(len(loop.runs), 'place')} of the run: {units.duration(inside.total_ns)} in all{its}."
                f"{sure}{around}"
            ),
            evidence={
                "loop_ms": units.milliseconds(inside.total_ns),
                "loop_share": round(share, 4),
                **({"backward_ms": units.milliseconds(behind)} if behind else {}),
                "turns_per_loop": round(turns, 1),
                "loops": len(loop.runs),
                **({"loops_in_a_row": round(outer, 1)} if outer > 1 else {}),
                "operators_per_turn": len(loop.names),
                "operators": names,
            },
            where=Where(
                lines=results.get(LinePlaces).cell_lines(cost.forward) or _written(results, loop),
                ranges_ns=worst(inside),
            ),
            change="Give these operators the whole batch instead of `x[i]`; where that is not possible as it stands, "
            "`torch.vmap(f)(x)`, `torch.bmm` for products or `torch.where` for branches.",
            saving=_saving(results, inside, turns * outer),
        )


def _saving(results: Results, spent: Intervals, turns: float) -> Saving:
    spent_ns, scope = spent.total_ns, Scope.of(results)
    bound = spent_ns * (1 - 1 / turns)
    if results.get(DeviceActivity).recorded is not None:
        basis = "upper bound: the whole batch takes as long as one sample now"
        return scope.saving(bound * 0.3, bound, bound, basis)
    most, usual = _LEFT_ON_CPU
    return scope.saving(
        min(spent_ns * (1 - most), bound),
        min(spent_ns * (1 - usual), bound),
        bound,
        f"estimate: the whole batch takes {units.percent(usual)} of the loop’s time, {units.percent(most)} at most",
        part_of=spent,
    )


def _turns(runs: Sequence[Repetition]) -> float:
    """The mean; 1 where there is no run."""
    return sum(run.turns for run in runs) / len(runs) if runs else 1.0


def _written(results: Results, loop: Loop) -> tuple[int, ...]:
    cell = results.context.cell
    return (independent_lines(cell.source, loop.names) or loops_over_samples(cell.source)) if cell else ()
