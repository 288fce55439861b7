"""The device waits while the CPU runs functions that are not torch's: it reads, decodes, resizes, counts.

What it finds
    Pieces of idle time of at least 1 ms in which the host is late, outside the DataLoader, while Python functions of
    other libraries or of your own run: together at least a fifth of the time judged. The functions are named; where no
    Python frames were recorded, pauses of at least 10 ms count, and the operators around them are named. Without a
    device nothing waits for them: `whole_collection_per_item` and `costly_call_per_item` look at such work in any run.

Why it costs
    What the CPU prepares between two pieces of the device's work is free only while the device still has work to do.

What to do
    Prepare the next input while the device computes (a DataLoader with workers, a thread), prepare all inputs once
    before the loop, or do the same with tensors on the device.

When to leave it
    When it runs once, for a result that needs no second run; or when the input is not there any sooner.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.accounts.host_functions import HostFunctions, is_own_code
from gpuprof.analyses.accounts.run_kind import KindOfRun
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.run.unseen_python import UnseenPython
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.saving.retimed import retimed
from gpuprof.rules.saving.scope import Scope, graded, share_of, worst
from gpuprof.whatif.changes.trace_changes import host_time_scaled, unchanged
from gpuprof.whatif.predict import Range

_NAMED = 3
_LEAST_PAUSES = 2  # a single one may be anything
_CHANGE = (
    "Prepare the next input while the device computes (DataLoader workers, a thread), prepare all inputs once before "
    "the loop, or do this work with tensors on the device."
)


@dataclass(frozen=True)
class CpuPreprocessing(Rule):
    """See the module."""

    not_for = frozenset({KindOfRun.CAPTURE})

    idle_share: float = threshold(0.20, "of the time judged in such functions: the cure is some rewriting")
    high_share: float = threshold(0.40, "of the time judged: then it is the first thing to mend")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the functions that ran while the device waited."""
        device, scope = results.get(DeviceActivity), Scope.of(results)
        if device.primary is None:
            return without_device(self.name, results, "the device’s idle time")
        found = results.get(HostFunctions)
        share = share_of(found.total_ns, results.span_ns)
        if not found.functions:
            return self._unseen(results, scope)
        if share < self.idle_share:
            return None
        named = ", ".join(f"{_name(name, line)} ({units.duration(ns)})" for name, line, ns in found.functions[:_NAMED])
        by_itself = ", not counting what they call" if len(found.functions) > 1 else ""
        first, line, _ = found.functions[0]
        lines = tuple(line for _, line, _ in found.functions if line is not None)
        finding = Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"The device is idle for {units.percent(share)} of the recorded time while the CPU runs "
            f"{_name(first, line)}{' and other functions' if len(found.functions) > 1 else ''}",
            explanation=(
                f"In {units.plural(len(found.within.starts), 'pause')} of at least 1 ms the device had nothing to do, "
                f"{units.duration(found.within.total_ns)} in all. Functions outside torch ran for "
                f"{units.duration(found.total_ns)} of it: {named}{by_itself}.{_within(found)}"
            ),
            evidence={
                "pauses": len(found.within.starts),
                "pauses_ms": units.milliseconds(found.within.total_ns),
                "functions_ms": units.milliseconds(found.total_ns),
                "idle_share": round(share, 4),
                "functions": named,
            },
            where=Where(lines=lines or results.get(LinePlaces).cell_lines(found.within), ranges_ns=worst(found.within)),
            during=found.within,
            change=_CHANGE,
            saving=scope.saving(0, found.total_ns, found.total_ns, "upper bound: none of this time"),
        )
        left = max(1 - found.total_ns / found.within.total_ns, 0.0)
        gone = host_time_scaled(found.within, left)
        return retimed(results, finding, Range(unchanged, gone, gone), "upper bound: simulated without these functions")

    def _unseen(self, results: Results, scope: Scope) -> Finding | None:
        """Python that was not recorded: where it runs, and not what it does."""
        found = results.get(UnseenPython)
        lost_ns, pauses = found.pauses.total_ns, len(found.pauses.starts)
        share = share_of(lost_ns, results.span_ns)
        if share < self.idle_share or pauses < _LEAST_PAUSES:
            return None
        around = " and ".join(
            f"{word} `{name}`" for word, name in (("after", found.after), ("before", found.before)) if name
        )
        finding = Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"The device is idle for {units.percent(share)} of the recorded time while the CPU runs Python that "
            "was not recorded",
            explanation=(
                f"In {units.plural(pauses, 'pause')} of at least 10 ms between operators, {units.duration(lost_ns)} in "
                "all, the device had nothing to do, and the main thread ran no operator. "
                + (f"Most of that time is {around}. " if around else "")
                + "The recording has no Python frames, so what ran there is not known."
            ),
            evidence={
                "pauses": pauses,
                "pauses_ms": units.milliseconds(lost_ns),
                "idle_share": round(share, 4),
                "after": found.after,
                "before": found.before,
            },
            where=Where(ranges_ns=worst(found.pauses)),
            during=found.pauses,
            change="Look at what your code does "
            + (f"{around}" if around else "in these pauses")
            + "; recorded with `with_stack=True`, or with `%%gpuprofile`, the functions are named. "
            "Process results with tensors on the device, and prepare the next input while the device computes.",
            saving=scope.saving(0, lost_ns, lost_ns, "upper bound: none of this time"),
        )
        gone = host_time_scaled(found.pauses, 0.0)
        return retimed(results, finding, Range(unchanged, gone, gone), "upper bound: simulated without these pauses")


def _within(found: HostFunctions) -> str:
    if found.owner is None:
        return ""
    name, ns = found.owner
    return f" Including what it calls, {name} takes {units.duration(ns)}."


def _name(name: str, line: int | None) -> str:
    if is_own_code(name):
        return f"line {line}" if line is not None else "your own code"
    return f"{name} (line {line})" if line is not None else name
