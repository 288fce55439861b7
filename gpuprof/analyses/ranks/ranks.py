"""The ranks of one job, side by side: whom they wait for, and what each holds in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.loading.input_pipeline import InputPipeline
from gpuprof.analyses.memory.memory_peak import MemoryPeak
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# one rank sends what another waits for: pipelines, and the all-to-all of older NCCL
_PAIRWISE = "sendrecv"


@dataclass(frozen=True, eq=False)
class RankSteps:
    """One rank, step by step. Arrays of shape `(steps,)`, the steps that every rank recorded, its first one left out.

    `exposed_ns`: collectives of all ranks at once (not those between pairs) with no compute beside them; `compute_ns`:
    kernels that are no collectives, by wall clock; `input_wait_ns`: the main thread in the DataLoader. All inside the
    step of this rank, whose length is `step_ns`. `collectives`: how many a step.
    """

    rank: int
    step_ns: Array
    exposed_ns: Array
    compute_ns: Array
    input_wait_ns: Array
    collectives: Array


@dataclass(frozen=True, eq=False)
class LatestRank:
    """The rank at `row` of `Ranks.steps`, which spends least in collectives. `late_ns` of shape `(steps,)`: by how much
    less than any other rank, at least what all others wait for it; negative where another one waits less."""

    row: int
    rank: int
    late_ns: Array


@dataclass(frozen=True)
class RankMemory:
    """The most that one rank's first device had allocated; `limit_bytes` is the device's memory. None is *unknown*."""

    rank: int
    peak_bytes: int | None
    limit_bytes: int | None


@dataclass(frozen=True, eq=False)
class Ranks(Result):
    """All ranks that were loaded together, ascending; both empty for one rank alone.

    Times are compared by length only: the clocks of several machines need not agree. `steps` is empty where a rank has
    no number, no device activity, or no step in common with the others. `any_collective`: in this trace.
    """

    steps: tuple[RankSteps, ...]
    memory: tuple[RankMemory, ...]
    any_collective: bool

    @property
    def latest(self) -> LatestRank | None:
        """None where it cannot be said: with other collectives on each rank (groups), or none, what one spends in them
        says nothing of another."""
        if not self.steps:
            return None
        counts = np.stack([each.collectives for each in self.steps])
        if (counts != counts[0]).any() or not counts.all():
            return None
        exposed = np.stack([each.exposed_ns for each in self.steps])
        row = int(np.argmin(np.median(exposed, axis=1)))
        late = np.min(np.delete(exposed, row, axis=0), axis=0) - exposed[row]
        return LatestRank(row, self.steps[row].rank, late)

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From each rank's own Results."""
        any_collective = bool(trace.device_events["collective"].any())
        known = [(each.trace.source.rank, each) for each in (results, *results.others)]
        numbered = sorted(((rank, each) for rank, each in known if rank is not None), key=lambda pair: pair[0])
        distinct = len({rank for rank, _ in numbered}) == len(known)
        if len(known) < 2 or not distinct:
            return cls((), (), any_collective)
        return cls(_all_steps(numbered), tuple(_memory(rank, each) for rank, each in numbered), any_collective)


def _all_steps(ranks: list[tuple[int, Results]]) -> tuple[RankSteps, ...]:
    common: Array = ranks[0][1].trace.steps["number"]
    for _, results in ranks[1:]:
        common = np.intersect1d(common, results.trace.steps["number"])
    found = tuple(_steps(rank, results, common[1:]) for rank, results in ranks)
    whole = tuple(each for each in found if each is not None and len(each.step_ns) == len(common) - 1)
    return whole if len(whole) == len(found) and len(common) > 1 else ()


def _steps(rank: int, results: Results, numbers: Array) -> RankSteps | None:
    trace, device = results.trace, results.get(DeviceActivity).primary
    if device is None:
        return None
    steps = trace.steps.take(np.isin(trace.steps["number"], numbers))
    steps = steps.take(np.argsort(steps["number"], kind="stable"))
    starts, ends = steps["start_ns"], steps["start_ns"] + steps["duration_ns"]
    events = trace.device_events
    pairwise = np.array([_PAIRWISE in name.lower() for name in trace.names], bool)
    events = events.take((events["device"] == device.id) & events["collective"])
    events = events.take(~pairwise[events["name"]])
    pipeline = results.get(InputPipeline)
    waits = intervals.union(Intervals(pipeline.start_ns, pipeline.start_ns + pipeline.duration_ns))
    begins = np.sort(events["start_ns"])
    exposed = intervals.subtract(intervals.union(intervals.of(events)), device.compute)
    return RankSteps(
        rank=rank,
        step_ns=steps["duration_ns"],
        exposed_ns=intervals.covered(exposed, starts, ends),
        compute_ns=intervals.covered(device.compute, starts, ends),
        input_wait_ns=intervals.covered(waits, starts, ends),
        collectives=np.searchsorted(begins, ends) - np.searchsorted(begins, starts),
    )


def _memory(rank: int, results: Results) -> RankMemory:
    use = results.get(MemoryPeak).primary
    return RankMemory(rank, use.whole_peak_bytes if use else None, use.limit_bytes if use else None)
