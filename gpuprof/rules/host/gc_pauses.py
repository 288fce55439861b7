"""Python's garbage collector stops the loop, again and again.

What it finds
    Three pauses of the garbage collector or more inside the steps after warm-up, which take at least 1 % of the steps'
    time; on a run with a device only the part of them counts in which the device had nothing to do.

Why it costs
    A full collection looks at every object that the process holds, and a notebook with a model, data and libraries
    holds millions: tens to hundreds of ms, in which no Python thread of the process runs and nothing is launched. It
    does not free device memory any sooner: tensors without cycles go at once anyway.

What to do
    Take `gc.collect()` out of the loop. Where the collections come by themselves, call `gc.collect(); gc.freeze()`
    once before the loop: what lives on is then not looked at again.

When to leave it
    When the loop really makes reference cycles that hold tensors; then collect every hundred steps.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.gc_pauses import CollectorPauses
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.cell.cell_lines import lines_calling
from gpuprof.rules.saving.retimed import retimed
from gpuprof.rules.saving.scope import Scope, graded, worst
from gpuprof.whatif.changes.trace_changes import host_time_scaled

# What follows a full collection finds cold caches: steps of 1 to 31 ms then took 0.7 to 1.1 ms longer on the CPU
# (300,000 objects, one thread, torch 2.13).
_COLD_CACHES_NS = 1_100_000


@dataclass(frozen=True)
class GcPauses(Rule):
    """See the module."""

    guard = Guard.EXACT

    pause_share: float = threshold(0.01, "of the step: usual loops spend less than a tenth of that")
    low_share: float = threshold(0.06, "of the step: below it the least of the gain, half of it, is under 3 %")
    high_share: float = threshold(0.20, "of the step: then it is the first thing to mend")
    collections: float = threshold(3, "in the steps: one or two are chance, however short the recording is")
    each_step: float = threshold(0.8, "full collections a step: Python alone seldom runs them so often")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the pauses."""
        found, scope = results.get(CollectorPauses), Scope.of(results)
        if not found.known:
            return Abstention(
                self.name,
                "the pauses of Python’s garbage collector",
                "Profile the cell with `%%gpuprofile`; a trace file does not hold them.",
            )
        lost_ns = found.lasting.total_ns if found.idle_ns is None else found.idle_ns
        share = scope.share(lost_ns)
        if not scope.steps or share < self.pause_share or found.count < self.collections:
            return None
        idle = "" if found.idle_ns is None else f"; the device was idle in {units.duration(found.idle_ns)} of it"
        finding = Finding(
            rule=self.name,
            severity=graded(share, self.high_share, self.low_share),
            title=f"Python’s garbage collector stops the loop for {units.percent(share)} of {scope.words}",
            explanation=(
                f"{units.plural(found.count, 'collection')}, {units.count(found.full)} of them full, took "
                f"{units.duration(found.lasting.total_ns)}{idle}. Nothing is launched meanwhile."
            ),
            evidence={
                "collections": found.count,
                "full_collections": found.full,
                "pauses_ms": units.milliseconds(found.lasting.total_ns),
                **({} if found.idle_ns is None else {"idle_ms": units.milliseconds(found.idle_ns)}),
                "pause_share": round(share, 4),
            },
            where=Where(
                lines=lines_calling(results, "gc.collect") or results.get(LinePlaces).cell_lines(found.lasting),
                ranges_ns=worst(found.lasting),
            ),
            change=self._change(results, found, scope),
            diff=_diff(results),
            saving=scope.saving(
                lost_ns * 0.5,
                lost_ns,
                lost_ns + found.full * _COLD_CACHES_NS,
                "estimate: no collection inside the steps",
                part_of=found.lasting,
            ),
        )
        return retimed(results, finding, host_time_scaled(found.lasting, 0.0), "simulated without these pauses")

    def _change(self, results: Results, found: CollectorPauses, scope: Scope) -> str:
        freeze = "`gc.collect(); gc.freeze()` once before the loop, so that what lives on is not looked at again"
        if lines_calling(results, "gc.collect"):
            return f"Take `gc.collect()` out of the loop. If pauses remain, call {freeze}."
        if scope.steps and found.full >= self.each_step * scope.steps:
            return f"Take `gc.collect()` out of the loop, if it is in there or in what it calls; else call {freeze}."
        return f"Call {freeze}."


def _diff(results: Results) -> str | None:
    def edit(source: str) -> str | None:
        from gpuprof.code_edits.loops.dropped_calls import drop_calls

        return drop_calls(source, "gc.collect")

    return cell_diff(results, edit)
