"""The cached device memory is given back to the driver in every step, and fetched again.

What it finds
    Steps in which device memory goes back to the driver (`cudaFree`, `hipFree`) outside every operator, in a burst or
    two a step: what `torch.cuda.empty_cache()` does. It counts from the second step on.

Why it costs
    Giving memory back waits for all work on the device, and the next step has to fetch the same memory from the
    driver again, piece by piece, with the device idle meanwhile. It makes no memory available that torch could not
    have reused itself.

What to do
    Take `torch.cuda.empty_cache()` out of the loop. A library may call it: some trainers have an option for it.

When to leave it
    When another process on the same device needs the memory between two steps.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.memory.allocator_calls import AllocatorCalls
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.cell.cell_lines import lines_calling
from gpuprof.rules.memory.memory_calls import MemoryCalls
from gpuprof.rules.saving.scope import graded, worst


@dataclass(frozen=True)
class EmptyCacheInStep(Rule):
    """See the module."""

    guard = Guard.EXACT

    idle_share: float = threshold(0.01, "of the steady steps with the device idle in these calls")
    high_share: float = threshold(0.20, "of the steady steps: then it is the first thing to mend")
    steps_share: float = threshold(0.8, "of the steady steps free memory: a habit of the loop")
    outside_share: float = threshold(0.9, "of the frees outside operators: memory running short frees inside them")
    bursts: float = threshold(4, "a step at most: without a cache, frees are scattered over the step")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the frees between operators."""
        cost, calls = MemoryCalls.of(results), results.get(AllocatorCalls)
        if cost is None:
            return without_device(self.name, results, "the device’s activity around the driver’s memory calls")
        if not calls.steps or not calls.frees or calls.frees_outside < self.outside_share * calls.frees:
            return None
        if not cost.are_habit(self.steps_share) or calls.bursts > self.bursts * calls.steps:
            return None
        return cost.retimed(self._finding(results, cost, calls)) if cost.share >= self.idle_share else None

    def _finding(self, results: Results, cost: MemoryCalls, calls: AllocatorCalls) -> Finding:
        return Finding(
            rule=self.name,
            severity=graded(cost.share, self.high_share),
            title=f"Emptying the memory cache in every step costs {units.percent(cost.share)} of the steps’ time",
            explanation=(
                f"In {calls.steps_with} of {units.plural(calls.steps, 'steady step')} memory went back to the driver "
                f"between operators ({units.plural(calls.frees, 'free')}), and was fetched again with "
                f"{units.plural(calls.allocations, 'allocation')}. {cost.cost_words}"
            ),
            evidence=cost.evidence(),
            where=Where(
                lines=lines_calling(results, "empty_cache") or results.get(LinePlaces).cell_lines(calls.host),
                ranges_ns=worst(calls.host),
            ),
            change="Take `torch.cuda.empty_cache()` out of the loop; if it is not in your code, look for the option of "
            "the trainer that calls it.",
            diff=_diff(results),
            saving=cost.saving(),
        )


def _diff(results: Results) -> str | None:
    def edit(source: str) -> str | None:
        from gpuprof.code_edits.loops.dropped_calls import drop_calls

        return drop_calls(source, "torch.cuda.empty_cache")

    return cell_diff(results, edit)
