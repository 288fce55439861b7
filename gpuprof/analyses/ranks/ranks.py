"""The ranks of one job: whether they exchange anything, and what each holds in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.memory.memory_peak import MemoryPeak
from gpuprof.analyses.ranks.exchanges import Exchanges
from gpuprof.model.trace import Trace


@dataclass(frozen=True)
class RankMemory:
    """The most that one rank's first device had allocated; `limit_bytes` is the device's memory. None is *unknown*."""

    rank: int
    peak_bytes: int | None
    limit_bytes: int | None


@dataclass(frozen=True, eq=False)
class Ranks(Result):
    """`memory` of all ranks that were loaded together, ascending; empty for one rank alone, or where two have the same
    number, or one has none. `any_collective`: in this trace.
    """

    memory: tuple[RankMemory, ...]
    any_collective: bool

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From each rank's own Results."""
        any_collective = bool(results.get(Exchanges).each) or bool(trace.device_events["collective"].any())
        known = [(each.trace.source.rank, each) for each in (results, *results.others)]
        numbered = sorted(((rank, each) for rank, each in known if rank is not None), key=lambda pair: pair[0])
        distinct = len({rank for rank, _ in numbered}) == len(known)
        if len(known) < 2 or not distinct:
            return cls((), any_collective)
        return cls(tuple(_memory(rank, each) for rank, each in numbered), any_collective)


def _memory(rank: int, results: Results) -> RankMemory:
    use = results.get(MemoryPeak).primary
    return RankMemory(rank, use.whole_peak_bytes if use else None, use.limit_bytes if use else None)
