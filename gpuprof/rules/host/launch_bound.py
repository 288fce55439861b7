"""The device is idle in countless short gaps, because the host cannot launch kernels fast enough.

What it finds
    A device with nothing waiting in its queue when the next launch comes, and idle time that lies in short gaps while
    the host is at work.

Why it costs
    Each operator costs the host some 10 to 50 µs of Python, dispatch and launch, whatever its size. Kernels that are
    shorter than their own launch leave the device waiting for the next one; a faster GPU would change nothing.

What to do
    Let one launch do more: a larger batch, `torch.compile(model, mode="reduce-overhead")` or CUDA graphs
    (`torch.cuda.make_graphed_callables`), which replay a whole step with one launch. Graphs need fixed shapes and no
    reads to Python inside. (Where every launch waits for its kernel, `debug_mode_on` says so instead.)

When to leave it
    When shapes change from step to step, or when the run is too short to pay for compiling (tens of seconds).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gpuprof import units
from gpuprof.analyses.accounts.run_kind import KindOfRun, RunKind
from gpuprof.analyses.basics.device_activity import DeviceActivity, DeviceTotals
from gpuprof.analyses.basics.phases import Phases
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.kernels.step_likeness import StepLikeness
from gpuprof.analyses.lines.line_costs import LineCosts
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.run.blocking_launches import BlockingLaunches
from gpuprof.analyses.run.device_idle import CAUSES, DeviceIdle
from gpuprof.analyses.run.launches import Launches
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.base.run_words import RunWords
from gpuprof.rules.cell.cell_change import cell_diff, known_models
from gpuprof.rules.compiler.compilability import can_compile, graph_words
from gpuprof.rules.saving.launch_waits import HOST_CAUSES, waits_for_launches
from gpuprof.rules.saving.retimed import retimed
from gpuprof.rules.saving.scope import Scope, graded, worst
from gpuprof.whatif.changes.trace_changes import launched_as_graphs, launching_scaled
from gpuprof.whatif.predict import Range

_HOST_CAUSES = tuple(map(CAUSES.index, HOST_CAUSES))
_FORWARD_ONLY = (KindOfRun.INFERENCE, KindOfRun.GENERATION, KindOfRun.SERVING, KindOfRun.EVALUATION)
_GRAPH_KERNEL_NS = 1_000
_MOSTLY = 0.8
_LONG_GAPS_TOO = "Simulated, the change also shortens longer ones."
_COMPILED = " The diff compiles the model in place, so that its `state_dict` keeps its keys."
# Of a line's launches and its work for the device, both as shares of the whole: many launches for little work.
_LEAST_LAUNCHES, _LITTLE_WORK, _MANY_LAUNCHES = 0.05, 0.6, 0.3
_MANY_TIMES = 10  # in a step: a loop within it
# Of the host's time for launching: compiling without graphs saves that much at least where it is worth its while.
_LEAST_SAVED_SHARE = 0.3


@dataclass(frozen=True)
class LaunchBound(Rule):
    """See the module."""

    guard = Guard.NUMERIC
    not_for = frozenset({KindOfRun.CAPTURE})

    queue_depth: float = threshold(1, "median of events waiting at a launch: more means that the host is ahead")
    gap_us: float = threshold(1000, "longer gaps come from something else than the pace of launching")
    gap_share: float = threshold(0.20, "of the step in such gaps: less would not pay for compiling")
    high_share: float = threshold(0.50, "of the step in such gaps")
    kernels: float = threshold(40, "fewer do not show a pace")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the pace of launching."""
        activity, launches, scope = results.get(DeviceActivity), results.get(Launches), Scope.of(results)
        device = activity.primary
        if device is None:
            return without_device(self.name, results, "the device’s kernels")
        busy = scope.share(intervals.intersect(device.busy, scope.within).total_ns)
        if device.kernels < self.kernels or results.get(BlockingLaunches).mostly:
            return None
        if launches.queue_depth_median is None:
            return Abstention(
                self.name,
                "the launches of the kernels: how far the host is ahead cannot be said",
                "Record the CPU activity together with CUDA’s.",
            )
        gaps = self._gaps(results, scope)
        share = scope.share(gaps.total_ns)
        if launches.queue_depth_median > self.queue_depth or share < self.gap_share:
            return None
        return _lost(
            results, scope, self._retimed(results, scope, self._finding(results, device, launches, gaps, busy))
        )

    def _gaps(self, results: Results, scope: Scope) -> Intervals:
        gaps = results.get(DeviceIdle).gaps
        short = gaps["end_ns"] - gaps["start_ns"] <= self.gap_us * units.NS_PER_US
        chosen = gaps.take(short & np.isin(gaps["cause"], _HOST_CAUSES))
        return intervals.intersect(Intervals(chosen["start_ns"], chosen["end_ns"]), scope.within)

    def _retimed(self, results: Results, scope: Scope, found: Finding) -> Finding:
        """Forward and backward as graphs; at best the optimizer too, at worst a little less host time for each launch.

        Longer pieces of host work than `gap_us` stay, as do the DataLoader's and every wait for the device.
        """
        phases, longest = results.get(Phases), round(self.gap_us * units.NS_PER_US)
        whole = intervals.subtract(scope.within, phases.input)
        model = intervals.subtract(whole, phases.optimizer)
        strengths = Range(
            launching_scaled(model, longest, 1 - _LEAST_SAVED_SHARE),
            launched_as_graphs(model, longest),
            launched_as_graphs(whole, longest),
        )
        passes = "the forward pass" if results.get(RunKind).kind in _FORWARD_ONLY else "forward and backward"
        basis = f"upper bound: simulated with {passes} as CUDA graphs"
        return retimed(results, found, strengths, basis, more=_LONG_GAPS_TOO)

    def _finding(
        self, results: Results, device: DeviceTotals, launches: Launches, gaps: Intervals, busy: float
    ) -> Finding:
        scope, diff = Scope.of(results), _diff(results)
        share = scope.share(gaps.total_ns)
        bound = gaps.total_ns - _GRAPH_KERNEL_NS * len(gaps.starts)
        small, first = _small_launches(results)
        waits = intervals.intersect(waits_for_launches(results), scope.within)
        short_ns = intervals.intersect(waits, gaps).total_ns
        batch = RunWords.of(results).batch
        return Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=_title(share, scope),
            explanation=(
                f"The device is busy for {units.percent(busy)} of {scope.words}. Half of its "
                f"{units.plural(device.kernels, 'kernel')} take under {units.duration(launches.median_kernel_ns)}; "
                f"half of the launches come later than {units.duration(launches.interval_median_ns)} after the one "
                f"before. It waits for the host and its launches for {units.duration(waits.total_ns)}, of "
                f"which {units.duration(short_ns)} in {units.plural(len(gaps.starts), 'gap')} of at most "
                f"{units.duration(self.gap_us * units.NS_PER_US)}.{small}"
            ),
            evidence={
                "device_busy_share": round(busy, 4),
                "kernels": device.kernels,
                "median_kernel_us": (launches.median_kernel_ns or 0) / units.NS_PER_US,
                "launch_interval_us": (launches.interval_median_ns or 0) / units.NS_PER_US,
                "launch_overhead_us": (launches.overhead_median_ns or 0) / units.NS_PER_US,
                "queue_depth": launches.queue_depth_median or 0.0,
                "waits_ms": units.milliseconds(waits.total_ns),
                "gaps": len(gaps.starts),
                "gaps_ms": units.milliseconds(gaps.total_ns),
                "gaps_share": round(share, 4),
            },
            where=Where(lines=results.get(LinePlaces).cell_lines(gaps), ranges_ns=worst(gaps)),
            during=gaps,
            diff=diff,
            change=f"{first}{batch if first else batch[0].upper() + batch[1:]}; else use {graph_words(results)}."
            f"{_COMPILED if diff else ''}",
            saving=scope.saving(
                bound * _LEAST_SAVED_SHARE, bound, bound, "upper bound: all short gaps closed, as a graph would"
            ),
        )


def _small_launches(results: Results) -> tuple[str, str]:
    """A sentence on lines of the cell that run many times in a step, launch much and give the device little to do, and
    what to do there first; empty where there are none."""
    costs, steps = results.get(LineCosts), results.get(StepTime).count
    table = costs.table.take((costs.table["source_file"] == 0) & (costs.table["times"] >= _MANY_TIMES * max(steps, 1)))
    total = int(costs.table["launches"].sum())
    if not total or not costs.device_ns:
        return "", ""
    of_launches, of_work = table["launches"] / total, table["device_ns"] / costs.device_ns
    rows = np.flatnonzero((of_launches >= _LEAST_LAUNCHES) & (of_work <= _LITTLE_WORK * of_launches))
    share, work = float(of_launches[rows].sum()), float(of_work[rows].sum())
    if share < _MANY_LAUNCHES:
        return "", ""
    lines = sorted(str(line) for line in table["line"][rows].tolist())
    named = f"line {lines[0]}" if len(lines) == 1 else f"lines {', '.join(lines[:-1])} and {lines[-1]}"
    said = f"{units.percent(share)} of the launches come from {named}, for {units.percent(work)} of the device’s work"
    return f" {said}.", (
        f"First, launch less in {named}, which {'runs' if len(lines) == 1 else 'run'} many times in a step: use one "
        "`torch._foreach_…` call for many small tensors, use fewer and larger operators, and do not branch on a "
        "tensor’s value in Python. Then "
    )


def _title(share: float, scope: Scope) -> str:
    return f"The host launches too slowly: {units.percent(share)} of {scope.words} is lost in gaps"


def _lost(results: Results, scope: Scope, found: Finding) -> Finding:
    """With all that the device waits for the host, where simulation closes most of that: graphs also shorten long gaps
    that consist of short calls. Else with what simulation closes beyond the short gaps."""
    saving, waits = found.saving, intervals.intersect(waits_for_launches(results), scope.within)
    short, most = float(found.evidence["gaps_share"]), scope.share(waits.total_ns)
    if saving is None or saving.calibrated or (share := min(scope.share(saving.central_ns), most)) <= short:
        return found
    return replace(found, title=_title(most if share >= _MOSTLY * most else share, scope))


def _diff(results: Results) -> str | None:
    """Graphs of the one model, where torch compiles here and every step is like the others."""
    if results.context.cell is None or not can_compile(results) or not results.get(StepLikeness).alike:
        return None

    def edit(source: str) -> str | None:
        from gpuprof.code_edits.models.modules import compile_with_graphs

        return compile_with_graphs(source, known_models(results))

    return cell_diff(results, edit)
