"""The losses of many iterations are added up, and one backward pass at the end goes through the graphs of all.

What it finds
    A loop over micro-batches, patches, time windows or tasks that adds up their losses (`loss = loss + part`, or a list
    and `sum(losses)`), and one `loss.backward()` after it. No iteration reads a result of another one. In the close
    look, what the forward passes of all keep for the backward pass makes a tenth of the memory peak or more.

Why it costs
    The graph of an iteration keeps its activations until the backward pass has gone through it. Those of all iterations
    are there at the same time, so that going through the data in parts saves no memory.

What to do
    Call `backward()` on the loss of each iteration inside the loop. Gradients add up, so the result is the same except
    for rounding. Add up `part.detach()` for what is printed. Scale each loss as the sum is scaled, and zero the
    gradients before the loop.

When to leave it
    When the factor of the losses is known only after the loop, such as a count of all tokens; or with
    `DistributedDataParallel`, unless all but the last pass run under `no_sync()`.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.accounts.cell_memory import CellMemory
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.looked_lines import LookedLines
from gpuprof.analyses.training.summed_losses import LossSum, SummedLosses
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.memory.saved_memory import HIGH_SHARE, LEAST_MIB, MEDIUM_SHARE, MIB, SavedMemory, place_of
from gpuprof.rules.needless.looked import cell_lines, line_words, without_look
from gpuprof.rules.saving.scope import graded


@dataclass(frozen=True)
class LossesSummed(Rule):
    """See the module."""

    guard = Guard.EXACT

    losses: float = threshold(3, "fewer are two losses of one step, not a loop")
    saved_mib: float = threshold(LEAST_MIB, "less limits nothing")
    saved_share: float = threshold(0.1, "of the peak: less matters little")
    medium_share: float = threshold(MEDIUM_SHARE, "of what memory grew by: then it limits what else fits")
    high_share: float = threshold(HIGH_SHARE, "of what memory grew by: then fix it first")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge what the graphs of all iterations keep besides that of the largest one."""
        found = results.get(SummedLosses).found
        if found is None:
            return without_look(self.name, results)
        if found.losses < self.losses or found.needless_bytes < self.saved_mib * MIB:
            return None
        memory = found.memory
        if memory.peak_bytes is None or (memory.grown_bytes is None and not memory.levels):
            return Abstention(
                self.name,
                f"how much the memory of {place_of(memory)} grew",
                "A cell of less than a second has too few readings; let it run for longer.",
            )
        saved = SavedMemory.of(memory, found.needless_bytes, refilled=True)
        if saved.saved_bytes < self.saved_mib * MIB or saved.share < self.saved_share:
            return None
        return self._finding(results, found, saved)

    def _finding(self, results: Results, found: LossSum, saved: SavedMemory) -> Finding:
        added, backward = _at(results, found.added_at), _at(results, found.backward_at)
        grown = max(saved.peak_bytes - _there_anyway(results, found), saved.saved_bytes)
        diff = _diff(results, found)
        change = (
            "The diff does so inside the loop."
            if diff
            else "In the loop, call `part.backward()` on each loss and add up `part.detach()`; remove the `backward()` "
            f"at {backward}. Zero the gradients before the loop, and scale each loss as their sum is scaled "
            "(`part / n` for a mean)."
        )
        return Finding(
            rule=self.name,
            severity=graded(saved.saved_bytes / grown if grown else 0.0, self.high_share, self.medium_share),
            title=f"Graphs of {found.losses} summed losses take {units.size(found.kept_bytes)} until one `backward()`",
            explanation=(
                f"At {added} the losses of {found.losses} iterations are added up, and one backward pass at {backward} "
                "goes through all of their graphs. Until then each keeps its activations, "
                f"{units.size(found.largest_bytes)} at most. No iteration reads a result of another one. "
                f"{saved.words()}"
            ),
            evidence={
                "losses": found.losses,
                "kept_bytes": found.kept_bytes,
                "largest_bytes": found.largest_bytes,
                **saved.evidence(),
            },
            where=Where(lines=cell_lines(results, (found.added_at, found.backward_at))),
            change=(
                "Call `backward()` for each iteration: the gradients add up to the same, except for rounding, and each "
                f"graph is freed before the next one is made. {change}"
            ),
            diff=diff,
        )


def _at(results: Results, place: int) -> str:
    return line_words(results.get(LookedLines).line(place))


def _there_anyway(results: Results, found: LossSum) -> int:
    """Of the peak of the process: the interpreter with its libraries, and what the recording may have added."""
    levels = found.memory.levels if found.device == "cpu" else ()
    return min(levels) + results.get(CellMemory).gaps_bytes if levels else 0


def _diff(results: Results, found: LossSum) -> str | None:
    """Where the cell itself adds the losses up in a loop, and calls backward after it."""
    lines = [results.get(LookedLines).line(each) for each in (found.added_at, found.backward_at)]
    added, backward = (each.line if each is not None and each.in_cell else 0 for each in lines)
    if not added or not backward:
        return None

    def edit(source: str) -> str | None:
        from gpuprof.code_edits.loops.summed_losses import backward_for_each

        return backward_for_each(source, added, backward)

    return cell_diff(results, edit)
