"""What the late rank did longer than the others."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

import numpy as np

from gpuprof.analyses.accounts.hot_spot import HotSpot
from gpuprof.analyses.accounts.hot_spots import HotSpots
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.host_marks import main_operators
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.loading.input_pipeline import InputPipeline
from gpuprof.analyses.ranks.exchanges import Exchanges
from gpuprof.analyses.ranks.late_rank import LateRank
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Table
from gpuprof.model.trace import Trace

_MOST = 3
# of torch, not of the program: what they enclose is compared otherwise
_NOT_NAMED_BY_USER = ("ProfilerStep#", "enumerate(DataLoader)#", "Optimizer.", "nccl:", "gloo:", "mpi:", "ucc:")
_EXCHANGING = ("c10d::", "record_param_comms")
# A range says more than what it encloses, unless it explains much less.
_AS_GOOD_AS = 0.8
_HALF = 0.5
Spent = dict[tuple["SpentOn", str], float]


class SpentOn(StrEnum):
    """Where a rank spent time."""

    DATA = "waiting for data"
    GPU = "in kernels"
    RANGE = "in a range of the program"
    OPERATOR = "in operators on the CPU"
    PYTHON = "in Python outside of operators"


@dataclass(frozen=True)
class MoreWork:
    """`more_ns` per round than the median of the other ranks; `name` of the kernel, range or operator, may be empty."""

    place: SpentOn
    name: str
    more_ns: float


@dataclass(frozen=True)
class LateRankWork(Result):
    """`more`: what LateRank's rank did longer, what explains most first, three at most; what it did in its own time,
    waits apart. `spot`: the line or library call that most of its own cell's time goes to, where its stack was sampled.
    """

    more: tuple[MoreWork, ...]
    spot: HotSpot | None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From each rank's steps, the first left out; from its whole span where it has none."""
        late = results.get(LateRank).rank
        ranks = {each.source.rank: each for each in (results, *results.others)}
        if late is None:
            return cls((), None)
        spent = {rank: _spent(each) for rank, each in ranks.items()}
        own = spent.pop(late)
        more = sorted(_more(own, list(spent.values())), key=lambda each: -each.more_ns)
        named = [each for each in more if each.place is SpentOn.RANGE and each.more_ns >= _AS_GOOD_AS * more[0].more_ns]
        # what a range encloses is not said again
        more = named[:1] or [each for each in more if each.place is not SpentOn.RANGE]
        spots = ranks[late].get(HotSpots)
        return cls(tuple(more[:_MOST]), spots.spots[0] if spots.sampled and spots.spots else None)


def _more(own: Spent, others: list[Spent]) -> list[MoreWork]:
    """By range; of every other place in all, with the name that makes at least half of it."""
    each = {key: own[key] - float(np.median([other[key] for other in others])) for key in own}
    found = [MoreWork(place, name, ns) for (place, name), ns in each.items() if place is SpentOn.RANGE and ns > 0]
    for place in SpentOn:
        total = [sum(ns for key, ns in spent.items() if key[0] is place) for spent in (own, *others)]
        ns = total[0] - float(np.median(total[1:]))
        if place is not SpentOn.RANGE and ns > 0:
            name = max((key for key in each if key[0] is place), key=lambda key: each[key], default=(place, ""))
            found.append(MoreWork(place, name[1] if each.get(name, 0.0) >= _HALF * ns else "", ns))
    return found


def _spent(results: Results) -> Spent:
    """ns per round, by place and name; what a rank did not do is 0."""
    trace = results.trace
    steps = trace.steps.take(slice(1, None)) if len(trace.steps) > 1 else trace.steps
    scope = intervals.union(intervals.of(steps)) if steps else intervals.single(trace.span_start_ns, trace.span_end_ns)
    pipeline, device = results.get(InputPipeline), results.get(DeviceActivity).primary
    data = intervals.union(Intervals(pipeline.start_ns, pipeline.start_ns + pipeline.duration_ns))
    spent = Counter[tuple[SpentOn, str]]()
    spent[SpentOn.DATA, ""] = intervals.intersect(data, scope).total_ns
    if device is not None:
        events = trace.device_events
        kernels = events.take((events["device"] == device.id) & (events["kind"] == 0) & ~events["collective"])
        spent.update(_by_name(trace, SpentOn.GPU, kernels, scope))
    operators = trace.operators
    top = operators.take((operators["thread"] == trace.main_thread) & (operators["parent"] < 0))
    spent.update(_by_name(trace, SpentOn.OPERATOR, top.take(~trace.name_mask(top, *_EXCHANGING)), scope))
    ranges = trace.user_ranges.take(trace.user_ranges["thread"] == trace.main_thread)
    spent.update(_by_name(trace, SpentOn.RANGE, ranges.take(~trace.name_mask(ranges, *_NOT_NAMED_BY_USER)), scope))
    spent[SpentOn.PYTHON, ""] = _python(results, scope, data).total_ns
    rounds = max(len(steps), 1)
    return defaultdict(float, {key: ns / rounds for key, ns in spent.items()})


def _by_name(trace: Trace, place: SpentOn, table: Table, scope: Intervals) -> dict[tuple[SpentOn, str], int]:
    inside = table.take(intervals.contains(scope, table["start_ns"]))
    names, row = np.unique(inside["name"], return_inverse=True)
    total = np.bincount(row.reshape(-1), weights=inside["duration_ns"], minlength=len(names))
    return {(place, trace.names[name]): int(ns) for name, ns in zip(names.tolist(), total.tolist(), strict=True)}


def _python(results: Results, scope: Intervals, data: Intervals) -> Intervals:
    """When the main thread is in nothing that was recorded: Python, or a library that is not torch."""
    trace, exchanges = results.trace, results.get(Exchanges)
    calls = trace.calls.take(trace.calls["thread"] == trace.main_thread)
    known = [data, main_operators(trace), intervals.union(intervals.of(calls))]
    if exchanges.on_host:
        # another thread exchanges, and this one waits for it
        ranges = trace.user_ranges.take(np.array([each.row for each in exchanges.each], np.intp))
        known.append(intervals.union(intervals.of(ranges)))
    for each in known:
        scope = intervals.subtract(scope, each)
    return scope
