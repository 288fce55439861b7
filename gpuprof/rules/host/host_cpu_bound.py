"""Training waits while the host does something else: the device has nothing to do, or a CPU run does not train.

What it finds
    Stretches of at least 1 ms, in most steps, in which the device has nothing to do and the host is the cause: it runs
    Python, or operators on the CPU. In a run without a device: such stretches beside forward, loss, backward and
    optimizer, or within them outside every operator (NumPy, SciPy, plain Python). Waits for a DataLoader, for the
    device, garbage collection, compiling and memory calls have rules of their own and do not count, nor do passes
    without gradients on a CPU; nor does the first step. On a CPU it is a minor finding: what the work is for is not
    known.

Why it costs
    What the host does between two launches is free only while the device still has work in its queue. On a CPU nothing
    hides it.

What to do
    Take the work out of the step, or make it rare: metrics, logging, drawing, checks, copies of the weights. What is
    the same in each step, make once before the loop. Keep data in tensors rather than in lists of arrays or numbers,
    and let a DataLoader's workers build the batches. A profile with `--stacks` names the functions.

When to leave it
    When the work belongs to the step (an environment of reinforcement learning, a simulation): then make it faster, or
    let it run beside the training in another process.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.loading.cpu_contention import CpuContention
from gpuprof.analyses.training.host_gaps import HostGaps
from gpuprof.rules.base.abstentions import without_device, without_training
from gpuprof.rules.base.finding import Abstention, Finding, Severity, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.saving.retimed import retimed
from gpuprof.rules.saving.scope import Scope, graded, share_of, worst
from gpuprof.whatif.changes.trace_changes import host_time_scaled


@dataclass(frozen=True)
class HostCpuBound(Rule):
    """See the module."""

    gap_share: float = threshold(0.10, "of the steady steps in such gaps: the cure is often some rewriting")
    cpu_gap_share: float = threshold(0.15, "of them on a CPU, where augmenting a batch or averaging weights counts too")
    high_share: float = threshold(0.30, "of the steady steps: then it is the first thing to mend")
    steps_share: float = threshold(0.5, "of the steady steps have one: a single stall is no habit")
    cpu_steps_share: float = threshold(0.8, "of them on a CPU: what comes now and then may be other processes")
    steps: float = threshold(3, "steady steps: fewer do not show a habit")
    waiting_percent: float = threshold(50, "CPU use: under it the host itself waits more than it works")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the long gaps."""
        device = results.get(DeviceActivity)
        if device.recorded is not None and device.primary is None:
            return without_device(self.name, results, "the device’s idle time")
        found, on_cpu = results.get(HostGaps), device.recorded is None
        if on_cpu and not found.steps:
            return without_training(self.name, results)
        # on a device that torch does not trace (Apple's) Python may run beside the work
        if on_cpu and any(each.device not in (None, "cpu") for each in results.context.optimizers):
            return without_device(self.name, results, "the device’s idle time")
        share = share_of(found.gaps.total_ns, found.within.total_ns)
        much, often = (self.cpu_gap_share, self.cpu_steps_share) if on_cpu else (self.gap_share, self.steps_share)
        if share < much or found.steps < self.steps or found.steps_with < often * found.steps:
            return None
        if found.cpu_percent is None:
            return Abstention(
                self.name,
                "the CPU use of this process in these stretches",
                "Profile the cell with `%%gpuprofile`; a trace file does not hold it.",
            )
        return self._finding(results, found, share, found.cpu_percent)

    def _finding(self, results: Results, found: HostGaps, share: float, cpu_percent: float) -> Finding:
        on_device = results.get(DeviceActivity).recorded is not None
        # who was kept off the cores asked for more than was used, and did not wait for files
        asked_percent = cpu_percent / (results.get(CpuContention).core_share or 1.0)
        waiting = asked_percent < self.waiting_percent
        functions = ", ".join(f"`{name}`" for name, _ in found.functions)
        operators = ", ".join(f"{name} ({units.duration(ns)})" for name, ns in found.operators)
        mostly_python = found.python_ns >= found.operators_ns
        finding = Finding(
            rule=self.name,
            # on a CPU the work may as well be the step's own: how much it is, is known, and not that it can go
            severity=graded(share, self.high_share) if on_device else Severity.LOW,
            title=(
                f"The device waits for the host’s own work {units.percent(share)} of the steps’ time"
                if on_device
                else f"Work beside training takes {units.percent(share)} of the steps’ time"
            ),
            explanation=(
                f"In {found.steps_with} of {units.plural(found.steps, 'steady step')} "
                f"{'the device had nothing to do' if on_device else 'forward, backward and optimizer waited'} for "
                f"at least 1 ms, {units.duration(found.gaps.total_ns)} in all. The main thread spent "
                f"{units.duration(found.python_ns)} of it outside every operator and "
                f"{units.duration(found.operators_ns)} inside{f': {operators}' if operators else ''}. This process "
                f"used {cpu_percent:.0f} % of a core"
                f"{_why_so_little(cpu_percent < self.waiting_percent, waiting)}."
                + (f" Python was in {functions}." if functions else "")
            ),
            evidence={
                "gaps": len(found.gaps.starts),
                "gaps_ms": units.milliseconds(found.gaps.total_ns),
                "gap_share": round(share, 4),
                "python_ms": units.milliseconds(found.python_ns),
                "operators_ms": units.milliseconds(found.operators_ns),
                "cpu_percent": round(cpu_percent, 1),
                **({"functions": functions.replace("`", "")} if functions else {}),
            },
            where=Where(lines=results.get(LinePlaces).cell_lines(found.gaps), ranges_ns=worst(found.gaps)),
            change=_change(on_device, mostly_python, waiting, bool(functions)),
            saving=Scope.of(results).saving(
                0, found.gaps.total_ns, found.gaps.total_ns, "upper bound: none of this work inside the step"
            ),
        )
        gone = host_time_scaled(found.gaps, 0.0)
        return retimed(results, finding, gone, "upper bound: simulated without this work inside the step")


def _why_so_little(little: bool, waiting: bool) -> str:
    if waiting:
        return ": it mostly waited itself, for files, the network or another process"
    return ": other processes held the cores" if little else ""


def _change(on_device: bool, mostly_python: bool, waiting: bool, named: bool) -> str:
    if waiting:
        text = "Let another process or thread read ahead what the step waits for (a DataLoader with workers does)"
    elif not on_device:
        text = (
            "Take this work out of the step: make once before the loop what is the same in each step (tensors of lists "
            "and arrays, tables, masks), make metrics, logging and copies rare (every hundred steps), or give it to a "
            "DataLoader’s workers"
        )
    elif mostly_python:
        text = (
            "Take Python’s work between the launches out of the step or make it rare (metrics, logging, checks: every "
            "hundred steps), or give it to a DataLoader’s workers"
        )
    else:
        text = "Put the tensors of these operators on the device, or take the operators out of the step"
    return f"{text}." if named else f"{text}. `--stacks` names the Python functions."
