"""Several backward passes run over the same graph, and their gradients are added up.

What it finds
    Nodes of the autograd graph that a later pass runs once more and adds to the gradients of an earlier one, with
    nothing between that could have read them: `loss.backward(retain_graph=True)` for one loss after another. It takes
    at least 5 % of the steps' time.

Why it costs
    Each pass goes through the part of the model that the losses share, and does it again in full. Gradients add up: one
    pass from the sum of the losses leaves the same ones.

What to do
    `(loss_a + loss_b).backward()`, or `sum(losses).backward()`. The graph need not be retained then, which frees its
    memory earlier, too.

When to leave it
    When the gradient of each loss is used by itself (to weigh tasks by their gradients, say), or a hook on a gradient
    is to see each pass.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.recorded_parts import RecordedPart
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.training.repeated_passes import RepeatedPasses
from gpuprof.model import intervals
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.saving.retimed import retimed
from gpuprof.rules.saving.scope import Scope, graded, worst
from gpuprof.rules.training.backward_text import added_up
from gpuprof.whatif.changes.parts_of_operators import parts_left_out

_ONCE = "`(loss_a + loss_b).backward()`"
_AT_WORST = 0.7  # the sum of the losses, and caches


@dataclass(frozen=True)
class RepeatedBackward(Rule):
    """See the module."""

    cost_share: float = threshold(0.05, "of the steps' time: less does not matter")
    medium_share: float = threshold(0.08, "of the steps' time: then the change is worth its line")
    high_share: float = threshold(0.20, "of the steps' time: then it is the first thing to mend")
    nodes: float = threshold(3, "that run again in each pass: fewer are losses, not a model")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the time in which nodes run once more."""
        found, scope = results.get(RepeatedPasses), Scope.of(results)
        again = intervals.intersect(found.again, scope.within)
        share = scope.share(again.total_ns)
        if found.nodes < self.nodes or share < self.cost_share:
            return None
        if results.get(DeviceActivity).recorded is False:
            return without_device(self.name, results, "the kernels of the backward passes")
        times = units.plural(found.repeats, "backward pass", "backward passes")
        lines, cell = results.get(LinePlaces).cell_lines(again), results.context.cell
        once = added_up(cell.source, lines) if cell is not None else ""
        finding = Finding(
            rule=self.name,
            severity=graded(share, self.high_share, self.medium_share),
            title=f"Backward runs over the same graph again, for {units.percent(share)} of {scope.words}",
            explanation=(
                f"{times} ran nodes of the graph that an earlier pass had run, and added to the same gradients: such a "
                f"node ran {found.passes:.0f} times. The later times took "
                f"{units.duration(again.total_ns)}."
            ),
            evidence={
                "passes_that_repeat": found.repeats,
                "runs_of_a_node": round(found.passes),
                "again_ms": units.milliseconds(again.total_ns),
                "again_share": round(share, 4),
            },
            where=Where(lines=lines, ranges_ns=worst(again)),
            change=f"Add the losses up, with their weights, and go back once: {once or _ONCE}. The gradients are the "
            "same, and `retain_graph=True` is not needed any more.",
            saving=scope.saving(
                _AT_WORST * again.total_ns,
                again.total_ns,
                again.total_ns,
                "estimate: each node of the graph runs once",
                part_of=again,
            ),
        )
        edit = parts_left_out(results, [RecordedPart(again, 1.0)])
        return retimed(results, finding, edit, "simulated with each node of the graph run once")
