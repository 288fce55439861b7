"""Copies from the device's memory to itself take a good part of the time.

What it finds
    Copies from one place of the device's memory to another, with no kernel beside them, for at least 5 % of the time
    judged, by the operators that issue them.

Why it costs
    Such a copy computes nothing. It reads and writes every byte once, at the speed of the memory.

What to do
    See which operator copies. `clone` and `contiguous` are often not needed; `cat` and `stack` of parts that one
    allocation could hold from the start write everything twice; exchanges between devices copy into buckets, unless the
    buckets are what the model uses (`gradient_as_bucket_view=True`).

When to leave it
    When the copy is the result itself, or when what comes after needs another layout and reads it often.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results, Table
from gpuprof.analyses.lines.launch_places import LaunchPlaces
from gpuprof.analyses.ranks.parallelism import Parallelism, ParallelismOfRank
from gpuprof.analyses.transfers.copies import Copies
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.kinds import CopyKind
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.saving.retimed import retimed
from gpuprof.rules.saving.scope import Scope, graded, worst
from gpuprof.whatif.changes.trace_changes import operations_scaled
from gpuprof.whatif.predict import Range

_NAMED = 3
_MOSTLY = 0.5
_CHANGE = (
    "Look at what these operators copy: leave out `clone()` and `contiguous()` where the layout is right already, and "
    "write parts into one tensor allocated once instead of `torch.cat`."
)
_DDP = " Where DDP copies gradients set `gradient_as_bucket_view=True`."
_BASIS = "upper bound: simulated with these copies taking 80 %, half and none of their time"


@dataclass(frozen=True)
class CopiesWithinDevice(Rule):
    """See the module."""

    copy_share: float = threshold(0.05, "of the time judged with such copies and no kernel: less is hardly seen")
    high_share: float = threshold(0.25, "of the time judged: then it is the first thing to mend")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the copies within the first device."""
        device, scope = results.get(DeviceActivity).primary, Scope.of(results)
        if device is None:
            return without_device(self.name, results, "the device’s copies")
        copies = results.get(Copies).of_direction(CopyKind.D2D)
        copies = copies.take((copies["device"] == device.id) & scope.inside(copies["start_ns"]))
        copying = intervals.intersect(intervals.union(intervals.of(copies)), scope.within)
        exposed = intervals.subtract(copying, device.compute)
        if scope.share(exposed.total_ns) < self.copy_share:
            return None
        shorter = Range(*(operations_scaled(copies["event"], left) for left in (0.8, 0.5, 0.0)))
        return retimed(results, self._finding(results, scope, copies, exposed), shorter, _BASIS)

    def _finding(self, results: Results, scope: Scope, copies: Table, exposed: Intervals) -> Finding:
        share, moved = scope.share(exposed.total_ns), int(np.maximum(copies["bytes"], 0).sum())
        spent, by_operator = int(copies["duration_ns"].sum()), _by_operator(results, copies)
        named = ", ".join(by_operator)
        size = f", {units.size(moved)} in all," if moved else ""
        return Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"Copies within the device take {units.percent(share)} of {scope.words}",
            explanation=(
                f"{units.plural(len(copies), 'copy', 'copies')} from the device’s memory to itself{size} took "
                f"{units.duration(spent)}; the device computed nothing in {units.duration(exposed.total_ns)} of it. "
                + (f"Most were issued by {named}." if named else "The recording does not show which operators copy.")
            ),
            evidence={
                "copies": len(copies),
                "bytes": moved,
                "copy_ms": units.milliseconds(spent),
                "exposed_ms": units.milliseconds(exposed.total_ns),
                "exposed_share": round(share, 4),
                **({"operators": named} if named else {}),
            },
            where=Where(lines=results.get(LaunchPlaces).lines(copies["event"]), ranges_ns=worst(exposed)),
            during=exposed,
            change=_CHANGE + (_DDP if _data_parallel(results) else ""),
            saving=scope.saving(
                exposed.total_ns * 0.2, exposed.total_ns * 0.5, exposed.total_ns, "upper bound: none of these copies"
            ),
        )


def _data_parallel(results: Results) -> bool:
    main = results.get(ParallelismOfRank).main
    return main is not None and main.parallelism is Parallelism.DATA


def _by_operator(results: Results, copies: Table) -> list[str]:
    """The outermost operators with most time in such copies: `aten::clone (45 ms, mostly in CompiledFunction)`."""
    names, spent, callers = results.get(Copies).names, Counter[int](), defaultdict[int, Counter[int]](Counter)
    columns = (copies[column].tolist() for column in ("operator_name", "caller_name", "duration_ns"))
    for name, caller, ns in zip(*columns, strict=True):
        if name >= 0:
            spent[name] += ns
            callers[name][caller] += ns
    told = []
    for name, ns in spent.most_common(_NAMED):
        caller, inside_ns = callers[name].most_common(1)[0]
        where = f", mostly in {names[caller]}" if caller >= 0 and inside_ns > _MOSTLY * ns else ""
        told.append(f"{names[name]} ({units.duration(ns)}{where})")
    return told
