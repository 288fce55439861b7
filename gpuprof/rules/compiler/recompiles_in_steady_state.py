"""torch.compile keeps compiling after the first steps.

What it finds
    Compiling (as torch marks it in the profile) in at least three steps after the first two, for at least 5 % of their
    time.

Why it costs
    A compiled graph holds for what it was compiled for: shapes, Python numbers, flags. A batch that differs makes
    torch compile again, from a second to minutes, until it gives up and runs the function uncompiled.

What to do
    Mark the dimension that varies (`torch._dynamo.mark_dynamic(x, 0)`) or compile with `dynamic=True`; pad to a few
    fixed sizes; `drop_last=True` where only the last batch is smaller. `TORCH_LOGS="recompiles"` names the guard that
    failed. Python numbers that change (a learning rate, a step counter) belong in tensors.

When to leave it
    When all the sizes there are have soon been seen, and the run is long.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.compile_events import CompileEvents
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.rules.base.finding import Abstention, Finding, Saving, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.saving.scope import Scope, graded, share_of, worst


@dataclass(frozen=True)
class RecompilesInSteadyState(Rule):
    """See the module."""

    compile_share: float = threshold(0.05, "of the steps after the first two")
    high_share: float = threshold(0.20, "of these steps: then it is the first thing to mend")
    steps: float = threshold(3, "steps that compile: one or two are late warm-up, such as the first uneven batch")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the compiling of the later steps."""
        events = results.get(CompileEvents)
        if not results.get(StepTime).count and events.everywhere_ns >= self.compile_share * results.span_ns > 0:
            return Abstention(
                self.name,
                "steps: without them the first compiling cannot be told from compiling again",
                "Step an optimizer or iterate a DataLoader in the cell, or call the profiler’s `step()`.",
            )
        spent = events.compiles.total_ns
        share = share_of(spent, events.within.total_ns)
        if events.steps_with < self.steps or share < self.compile_share:
            return None
        return Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"torch.compile still compiles after the first steps, for {units.percent(share)} of their time",
            explanation=(
                f"{events.steps_with} of {units.plural(events.steps, 'step')} after the first two compiled again, "
                f"{units.plural(events.count, 'time')} in all, for {units.duration(spent)}. Something that the graph "
                "was compiled for, most often a shape, changes from step to step."
            ),
            evidence={
                "steps_with": events.steps_with,
                "compiles": events.count,
                "compile_ms": units.milliseconds(spent),
                "compile_share": round(share, 4),
                "most_versions_of_a_graph": events.variants,
            },
            where=Where(lines=results.get(LinePlaces).cell_lines(events.compiles), ranges_ns=worst(events.compiles)),
            during=events.compiles,
            change='Run once with `TORCH_LOGS="recompiles"` to see what changed. For a varying dimension use '
            "`torch._dynamo.mark_dynamic(x, dim)` or `torch.compile(..., dynamic=True)`, or pad to a few fixed sizes "
            "(`drop_last=True` where only the last batch differs).",
            saving=self._saving(results, events),
        )

    def _saving(self, results: Results, events: CompileEvents) -> Saving:
        """At most of a run in a process that has compiled before: what the first two steps took longer than compiling
        takes later, importing the compiler above all, is paid once."""
        scope, spent = Scope.of(results), events.compiles.total_ns
        before = int(events.within.starts[0]) - results.span_start_ns
        early = events.everywhere.total_ns > spent
        starting = max(before - spent / max(events.count, 1), 0.0) if early else 0.0
        most = spent * scope.span_ns / max(scope.span_ns - starting, 1.0)
        return scope.saving(spent * 0.5, spent, most, "estimate: no compiling after the first two steps")
