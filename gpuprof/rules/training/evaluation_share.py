"""Evaluation takes a large share of a cell that trains.

What it finds
    At least two evaluations between steps of training (passes over a DataLoader without an optimizer step, code
    without gradients, functions whose name says so) that take 30% of the whole cell or more, by its sampled stacks.
    Code that computes no loss or metric, and compares nothing with targets, is none: it serves or extracts features.
    It is a minor finding where they are few or take less than half of it.

Why it costs
    A pass over the validation data costs a full forward pass, whether or not anyone looks at the result. A loss that is
    printed every hundred steps does not have to be computed after each step.

What to do
    Evaluate less often: every few epochs, or only when the result is printed, saved or decides something. In between,
    use a fixed part of the data, and all of it at the end. Use larger batches than in training: under
    `torch.inference_mode()` nothing is kept for a backward pass.

When to leave it
    When each evaluation decides something, such as early stopping or which weights to keep.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.accounts.evaluations import Evaluations
from gpuprof.analyses.accounts.passes import Passes
from gpuprof.analyses.accounts.run_kind import KindOfRun
from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Abstention, Finding, Saving, Severity, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.training.evaluation_places import in_other_cell, lines_of_cell

_FEWEST = 2
_ERRORS = 2


@dataclass(frozen=True)
class EvaluationShare(Rule):
    """See the module."""

    not_for = frozenset(KindOfRun) - {KindOfRun.TRAINING}

    cell_share: float = threshold(0.30, "of the cell: less is what watching a model costs")
    each_step_share: float = threshold(0.20, "of the cell, with an evaluation after every step: nobody reads so many")
    half_share: float = threshold(
        0.50, "of the cell, less the standard error: then evaluation surely takes more time than training"
    )
    many: float = threshold(20, "evaluations: each result of fewer is likely read")
    training_share: float = threshold(0.10, "of the cell: a cell with less training is there to evaluate")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the share of the evaluations."""
        if not results.get(Passes).trains:
            return None
        found = results.get(Evaluations)
        if found.ns is None:
            return Abstention(
                self.name,
                "the phases of the whole cell",
                "They come from samples of its stack. `gpuprof doctor` tells why none were taken.",
            )
        # a share at the threshold is as likely above it as below: it need only be known to be there at all
        least = max(self.each_step_share if _each_step(found) else self.cell_share, _ERRORS * found.error)
        if found.share < least or found.training_share < self.training_share or found.count < _FEWEST:
            return None
        return Finding(
            rule=self.name,
            severity=self._severity(found),
            title=f"Evaluation takes {units.percent(found.share)} of the cell",
            explanation=(
                f"{_evaluations(found)} {units.duration(found.ns)}; training takes "
                f"{units.percent(found.training_share)} of the cell. {in_other_cell(found.places)}"
            ).rstrip(),
            evidence={
                "evaluation_share": round(found.share, 4),
                "error_share": round(found.error, 4),
                "evaluation_ms": units.milliseconds(found.ns),
                "training_share": round(found.training_share, 4),
                "optimizer_steps": found.steps,
                **({"evaluations": found.count} if found.complete else {}),
            },
            where=Where(lines=lines_of_cell(found.places)),
            change="Evaluate less often: every few epochs or steps, or only when the result is printed or decides "
            "something. In between, use part of the data, in larger batches, under `torch.inference_mode()`.",
            # of a few, each result is likely read: what fewer would save is no advice
            saving=_saving(results, found) if self._severity(found) > Severity.LOW else None,
        )

    def _severity(self, found: Evaluations) -> Severity:
        """A few evaluations are wanted, one after each epoch: then it is something to know, not to change."""
        surely_most = found.share - found.error >= self.half_share
        return Severity.MEDIUM if surely_most and found.count >= self.many else Severity.LOW


def _each_step(found: Evaluations) -> bool:
    """Also where some passed unseen: those that were seen are then further apart than they are."""
    return found.steps_between is not None and found.steps_between <= 1


def _evaluations(found: Evaluations) -> str:
    """`10 evaluations, one after every 4 optimizer steps, take`."""
    if not found.complete or found.steps_between is None:
        return "Evaluations take"
    between = round(found.steps_between)
    often = "every optimizer step" if between <= 1 else f"every {units.plural(between, 'optimizer step')}"
    return f"{units.plural(found.count, 'evaluation')}, one after {often}, take"


def _saving(results: Results, found: Evaluations) -> Saving:
    """Every second one, the last one kept, of all but the last."""
    kept_ns = found.last_ns or int(found.each_ns[-1])
    part = (found.count // 2) / (found.count - 1)
    saved_ns = (found.ns or 0) - kept_ns
    cell_ns = (found.ns or 0) / found.share
    off_ns = _ERRORS * found.error * cell_ns
    low, central, high = (part * min(max(each, 0.0), saved_ns) for each in (saved_ns - off_ns, saved_ns, saved_ns))
    return Saving(
        low, central, high, central / cell_ns, "C", "evaluating every second time, and at the end", of_cell=True
    )
