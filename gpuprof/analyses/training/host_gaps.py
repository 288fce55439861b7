"""Long stretches in which training waits because the host is at something else."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.compile_events import CompileEvents
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.gc_pauses import CollectorPauses
from gpuprof.analyses.basics.host_marks import autograd_threads, main_operators
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.memory.allocator_calls import AllocatorCalls
from gpuprof.analyses.run.device_idle import DeviceIdle
from gpuprof.analyses.training.training_passes import TrainingPasses
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.trace import Trace

# shorter gaps come from the pace of launching
LONG_NS = 1_000_000
_LOOKED_AT = 20


@dataclass(frozen=True, eq=False)
class HostGaps(Result):
    """Idle time of the first device for which the host is the cause (`idle_host`), in pieces of at least LONG_NS.

    Over the steady steps (see StepTime), the first left out; all empty without steps or device activity. Time that has
    a cause of its own is taken out first: memory calls of the driver, garbage collection, compiling. Where the run has
    no device at all: the pieces of the time beside training, and between its operators (see TrainingPasses).

    `within`: the union of those `steps`. `gaps`: the union of the pieces, in `steps_with` of the steps, of which the
    main thread spends `python_ns` outside every operator and `operators_ns` inside (the backward pass on autograd's
    own threads included).
    `operators`: of the operators of the main thread with the most time in the gaps, name and ns, largest first.
    `functions`: Python functions found innermost in the middle of the longest gaps, by the gaps' time in ns, largest
    first; empty without stacks. `cpu_percent`: median CPU use of this process over the readings inside these steps
    (100 is one core), None without.
    """

    within: Intervals
    steps: int
    steps_with: int
    gaps: Intervals
    python_ns: int
    operators_ns: int
    operators: tuple[tuple[str, int], ...]
    functions: tuple[tuple[str, int], ...]
    cpu_percent: float | None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the idle time by cause, the operators, the Python frames and the host's samples."""
        if results.get(DeviceActivity).recorded is None:
            training = results.get(TrainingPasses)
            other = intervals.union(_both(training.beside, training.between))
            return cls._over(trace, training.within, training.steps, other)
        time = results.get(StepTime)
        steady = time.steady & (np.arange(time.count) > 0)
        within = intervals.union(intervals.of(trace.steps.take(steady)))
        idle = intervals.intersect(results.get(DeviceIdle).parts.get("idle_host", intervals.EMPTY), within)
        others = (
            results.get(AllocatorCalls).host,
            results.get(CompileEvents).compiles,
            results.get(CollectorPauses).pauses,
        )
        for other in others:
            idle = intervals.subtract(idle, other)
        return cls._over(trace, within, int(steady.sum()), idle)

    @classmethod
    def _over(cls, trace: Trace, within: Intervals, steps: int, idle: Intervals) -> Self:
        long = idle.ends - idle.starts >= LONG_NS
        gaps = Intervals(idle.starts[long], idle.ends[long])
        working = intervals.union(_both(main_operators(trace), autograd_threads(trace))) if long.any() else gaps
        inside = intervals.intersect(gaps, working)
        return cls(
            within=within,
            steps=steps,
            steps_with=len(np.unique(np.searchsorted(trace.steps["start_ns"], gaps.starts, side="right"))),
            gaps=gaps,
            python_ns=gaps.total_ns - inside.total_ns,
            operators_ns=inside.total_ns,
            operators=_operators(trace, gaps),
            functions=_functions(trace, gaps),
            cpu_percent=_cpu(trace, within),
        )


def _both(left: Intervals, right: Intervals) -> Intervals:
    return Intervals(np.concatenate((left.starts, right.starts)), np.concatenate((left.ends, right.ends)))


def _operators(trace: Trace, gaps: Intervals) -> tuple[tuple[str, int], ...]:
    """By name, the time of the main thread's outermost operators in the gaps."""
    if not len(gaps.starts):
        return ()
    table = trace.operators
    top = table.take((table["thread"] == trace.main_thread) & (table["parent"] < 0))
    spent = intervals.covered(gaps, *intervals.of(top))
    totals: Counter[str] = Counter()
    for name, ns in zip(trace.names_of(top)[spent > 0].tolist(), spent[spent > 0].tolist(), strict=True):
        totals[name] += ns
    return tuple(totals.most_common(3))


def _functions(trace: Trace, gaps: Intervals) -> tuple[tuple[str, int], ...]:
    frames = trace.frames
    frames = frames.take(frames["thread"] == trace.main_thread)
    ends = frames["start_ns"] + frames["duration_ns"]
    names = trace.names_of(frames)
    totals: Counter[str] = Counter()
    lengths = gaps.ends - gaps.starts
    for row in np.argsort(-lengths, kind="stable")[:_LOOKED_AT].tolist() if len(frames) else ():
        middle = gaps.starts[row] + lengths[row] // 2
        around = np.flatnonzero((frames["start_ns"] <= middle) & (ends > middle))
        if len(around):
            totals[names[around[np.argmax(frames["start_ns"][around])]]] += int(lengths[row])
    return tuple(totals.most_common(3))


def _cpu(trace: Trace, within: Intervals) -> float | None:
    samples = trace.host_readings
    read = samples["cpu_percent"][intervals.contains(within, samples["time_ns"])]
    read = read[~np.isnan(read)]
    return float(np.median(read)) if len(read) else None
