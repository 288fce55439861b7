"""The backward pass fills gradients that no optimizer uses.

What it finds
    Backward passes that fill gradients of more weights than all the optimizers together have that step in the cell from
    then on, and go on for a noticeable part of the step after as many gradients as are trained: mostly a backbone that
    was meant to be frozen, of which only the head was given to the optimizer, or a teacher that was trained before.

Why it costs
    Autograd computes what asks for a gradient (`requires_grad`), whoever uses it. For layers that are not trained that
    is about twice their forward pass, and all their activations are kept until then.

What to do
    `backbone.requires_grad_(False)` before the loop, so that backward stops at the head; or run the frozen part under
    `torch.no_grad()`. Where its inputs do not change either (no augmentation), compute its outputs once.

When to leave it
When something other than an optimizer of `torch.optim` uses the gradients: an update by hand, saliency, penalties.
Also when they are collected for an optimizer that steps outside this cell.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.demand.piled_work import PiledWork
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.training.optimizer_steps import OptimizerSteps
from gpuprof.analyses.training.unused_gradients import UnusedGradients
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.rules.base.finding import Abstention, Finding, Saving, Where
from gpuprof.rules.base.known import known
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.saving.of_looked_operators import valued
from gpuprof.rules.saving.retimed import retimed
from gpuprof.rules.saving.scope import Scope, graded, worst
from gpuprof.whatif.changes.gradients import backward_ended

# of the unused gradients: then the look saw what they cost
_MOST_SEEN = 0.5
_OF_ENDED = "estimate: without these gradients, which are the first or the last of each pass"
_BASIS = "upper bound: backward ends at the weights that are trained, if they are the ones nearest to the loss"


@dataclass(frozen=True)
class GradientsUnused(Rule):
    """See the module."""

    beyond_share: float = threshold(0.05, "of the steps: less is hardly worth a change")
    high_share: float = threshold(0.30, "of the steps: then it is the first thing to mend")
    gradients: float = threshold(2, "more than are trained: one may be that of an input")
    more_share: float = threshold(0.1, "more than are trained: a few may be updated by hand")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Compare the number of gradients with that of the weights in optimizers."""
        found, scope = results.get(UnusedGradients), Scope.of(results)
        if found.trained is None:
            if not found.passes or not results.get(OptimizerSteps).uses:
                return None
            return Abstention(
                self.name,
                "how many weights the optimizers have",
                "Profile the cell with `%%gpuprofile`; a trace file does not hold it.",
            )
        if found.filled is None:
            return None
        unused = found.filled - found.trained
        if unused < max(self.gradients, self.more_share * found.trained) or not scope.steps:
            return None
        beyond = intervals.intersect(found.beyond, scope.within)
        if _share(found, beyond, scope) < self.beyond_share or found.distributed:
            return None
        finding, piled = self._finding(results, found, beyond, round(unused)), results.get(PiledWork)
        if piled.gradients >= _MOST_SEEN * unused:
            return self._of_look(results, finding, found, piled)
        if found.ended:
            return finding
        return retimed(results, finding, backward_ended(results, beyond), f"simulated; {_BASIS}")

    def _of_look(self, results: Results, finding: Finding, found: UnusedGradients, piled: PiledWork) -> Finding | None:
        """With what the look saw that is computed for these gradients alone."""
        if piled.share < self.beyond_share:
            return None
        others = "the optimizers that still step have" if found.ended else "the optimizers have"
        judged = replace(
            finding,
            severity=graded(piled.share, self.high_share),
            explanation=(
                f"A backward pass fills {found.filled:.0f} gradients, {others} "
                f"{units.plural(found.trained or 0, 'weight')}. In the close look, what is computed for the others "
                f"alone takes {units.percent(piled.share)} of the operators’ time."
            ),
            evidence={**finding.evidence, "operator_share": round(piled.share, 4)},
            saving=None,
        )
        among = np.ones(len(results.get(ValueGraph).operators), bool)
        return valued(results, judged, piled.share, [piled.rows], among, part=piled.part)

    def _finding(self, results: Results, found: UnusedGradients, beyond: Intervals, unused: int) -> Finding:
        scope = Scope.of(results)
        share = _share(found, beyond, scope)
        return Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"Backward fills {units.plural(unused, 'gradient')} that no optimizer uses",
            explanation=_words(found, beyond, scope),
            evidence={
                "gradients_filled": known(found.filled),
                "weights_trained": known(found.trained),
                "beyond_ms": units.milliseconds(beyond.total_ns),
                "beyond_share": round(share, 4),
                "backward_passes": found.passes,
            },
            where=Where(lines=results.get(LinePlaces).cell_lines(beyond), ranges_ns=worst(beyond)),
            change="Call `.requires_grad_(False)` on the part that is not trained, before this training starts. "
            "If other code trains that part later, call `.requires_grad_(True)` before it. If nothing that is trained "
            "comes before that part, it can run under `torch.no_grad()`. If its inputs stay the same from epoch to "
            "epoch, compute its outputs once.",
            saving=_saving(results, found, beyond, scope),
        )


def _share(found: UnusedGradients, beyond: Intervals, scope: Scope) -> float:
    """Of the steps; of the cell, where the recorded steps are mostly those of an optimizer that has ended."""
    return max(scope.share(beyond.total_ns), _of_cell(found, beyond.total_ns) or 0.0)


def _of_cell(found: UnusedGradients, ns: float) -> float | None:
    if not found.steps_ns or found.cell_share is None:
        return None
    return min(ns / found.steps_ns, 1.0) * found.cell_share


def _words(found: UnusedGradients, beyond: Intervals, scope: Scope) -> str:
    takes = f"{units.duration(beyond.total_ns)}, {units.percent(scope.share(beyond.total_ns))} of {scope.words}"
    weights = units.plural(found.trained or 0, "weight")
    if found.ended:
        share = _of_cell(found, beyond.total_ns)
        if share is not None:
            of_steps = units.percent(beyond.total_ns / found.steps_ns)
            takes = f"{of_steps} of these steps, {units.percent(share)} of the cell"
        return (
            f"A backward pass fills {found.filled:.0f} gradients, the optimizers that still step have {weights}: "
            f"another one has made its last step before. Its gradients take at least {takes}."
        )
    return (
        f"A backward pass fills {found.filled:.0f} gradients, the optimizers have {weights}. If the weights nearest to "
        f"the loss are the ones that are trained, the gradients after the first {found.trained} take {takes}."
    )


def _saving(results: Results, found: UnusedGradients, beyond: Intervals, scope: Scope) -> Saving:
    least_ns = beyond.total_ns
    if not found.ended:
        return scope.saving(0, least_ns, least_ns, _BASIS, part_of=beyond)
    bounds, window = (least_ns, (least_ns + found.most_ns) / 2, found.most_ns), results.context.window
    shares = [_of_cell(found, ns) for ns in bounds]
    known = [each for each in shares if each is not None]
    if window is None or len(known) < len(shares):
        return scope.saving(*bounds, _OF_ENDED)
    cell_ns = window.cell_end_ns - window.cell_start_ns
    low, central, high = (each * cell_ns for each in known)
    return Saving(low, central, high, known[1], "C", _OF_ENDED, of_cell=True)
