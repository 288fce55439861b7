"""The collectives of several ranks, matched, each divided into transfer and waiting for the rank that came last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.ranks.exchanges import Exchange, Exchanges, compute_beside
from gpuprof.analyses.ranks.matching import Corresponding, Unmatched, match
from gpuprof.analyses.ranks.process_group import ProcessGroup
from gpuprof.model import intervals
from gpuprof.model.collectives import CollectiveKind, bus_factor
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace
from gpuprof.units import NS_PER_S

PROFILER_STEPS = "ProfilerStep"


@dataclass(frozen=True, eq=False)
class MatchedGroup:
    """The collectives of one process group, n of them, on r ranks (`ranks`, ascending).

    `duration_ns` int64 of shape (n, r). `transfer_ns` of shape (n,): the shortest of them, that of the rank which came
    last; an upper bound, where a rank of the group was not loaded. `waiting_ns` of shape (n, r): the rest, for which a
    rank waited. `exposed_waiting_ns`: of that, the part in which this rank computed nothing. `late` of shape (n,): the
    column of the rank that came last; -1 where not all wait for the last one (a broadcast).
    `kinds`, `buffer_bytes` (-1 unknown; the mean of the ranks) and `step` (n,) by the first rank's own recording.
    `left_out` (r,): how many of a rank's have no counterpart.
    """

    group: ProcessGroup
    ranks: tuple[int, ...]
    kinds: tuple[CollectiveKind, ...]
    duration_ns: Array
    transfer_ns: Array
    waiting_ns: Array
    exposed_waiting_ns: Array
    late: Array
    buffer_bytes: Array
    step: Array
    left_out: tuple[int, ...]

    @property
    def complete(self) -> bool:
        """Whether every rank of the group was loaded, as far as its size is known."""
        return len(self.ranks) >= self.group.size


@dataclass(frozen=True, eq=False)
class KindOfGroup:
    """The matched collectives of one kind in one group: a row of the table that is shown.

    `count` of them; `buffer_bytes` in all, None unknown; `transfer_ns` in all; `duration_ns` and `waiting_ns` of shape
    (ranks,). `bus_bytes_per_s`: bytes over the bus (`model.collectives.bus_factor` has the formula) ÷ transfer.
    """

    kind: CollectiveKind
    group: ProcessGroup
    ranks: tuple[int, ...]
    count: int
    buffer_bytes: int | None
    transfer_ns: int
    duration_ns: Array
    waiting_ns: Array
    bus_bytes_per_s: float | None


@dataclass(frozen=True, eq=False)
class RankCollectives(Result):
    """`ranks` that were loaded, ascending; empty for one alone, or where two have one number, or one has none.

    `groups` could be matched, `unmatched` could not. Only the order and the length of what each rank recorded count:
    the clocks of two ranks need not agree. `own_waiting`: when this rank waited for another one in a matched collective
    and computed nothing meanwhile, a union on its own clock; `own_waiting_for` the same by the rank that came last.
    """

    ranks: tuple[int, ...]
    groups: tuple[MatchedGroup, ...]
    unmatched: tuple[Unmatched, ...]
    own_waiting: Intervals
    own_waiting_for: dict[int, Intervals]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From each rank's own Exchanges."""
        known = {each.trace.source.rank: each for each in (results, *results.others)}
        numbered = {rank: each for rank, each in known.items() if rank is not None}
        if len(numbered) < 2 or len(numbered) != 1 + len(results.others):
            return cls((), (), (), intervals.EMPTY, {})
        ranks = {rank: numbered[rank] for rank in sorted(numbered)}
        found = {rank: each.get(Exchanges) for rank, each in ranks.items()}
        if len({each.on_host for each in found.values() if each.each}) > 1:
            return cls(tuple(ranks), (), (), intervals.EMPTY, {})
        matched, unmatched = match(
            {rank: each.each for rank, each in found.items()},
            groups_told=all(each.groups_told for each in found.values()),
            steps_told=all(each.trace.steps_from == PROFILER_STEPS for each in ranks.values()),
        )
        beside = {rank: compute_beside(each) for rank, each in ranks.items()}
        groups = tuple(_split(each, beside) for each in matched)
        own = trace.source.rank
        waits = [_waits(one, each, own) for one, each in zip(matched, groups, strict=True) if own in each.ranks]
        bare = [
            (late, intervals.subtract(intervals.union(found), beside[own or 0]))
            for part in waits
            for late, found in part
        ]
        return cls(
            tuple(ranks), groups, tuple(unmatched), intervals.joined(*[each for _, each in bare]), _by_rank(bare)
        )

    @property
    def table(self) -> tuple[KindOfGroup, ...]:
        """One row for each kind in each group, that with the longest durations first."""
        rows = [_row(group, kind) for group in self.groups for kind in dict.fromkeys(group.kinds)]
        return tuple(sorted(rows, key=lambda row: -int(row.duration_ns.sum())))

    def waiting_ns(self, rank: int) -> int:
        """That this rank waited in all matched collectives, compute beside it or not."""
        return sum(int(each.waiting_ns[:, each.ranks.index(rank)].sum()) for each in self.groups if rank in each.ranks)

    def transfer_ns(self, rank: int) -> int:
        """Of all matched collectives of this rank."""
        return sum(int(each.transfer_ns.sum()) for each in self.groups if rank in each.ranks)


def _split(found: Corresponding, beside: dict[int, Intervals]) -> MatchedGroup:
    duration = np.array([[each.duration_ns for each in row] for row in found.rows], np.int64)
    start = np.array([[each.start_ns for each in row] for row in found.rows], np.int64)
    transfer = duration.min(axis=1)
    waiting = duration - transfer[:, None]
    hidden = [
        intervals.covered(beside[rank], start[:, column], start[:, column] + waiting[:, column])
        for column, rank in enumerate(found.ranks)
    ]
    kinds = tuple(row[0].kind for row in found.rows)
    meets = np.array([kind.meets or kind is CollectiveKind.SEND_RECV for kind in kinds], bool)
    sizes = np.array([[each.buffer_bytes for each in row] for row in found.rows], np.float64)
    return MatchedGroup(
        group=found.group,
        ranks=found.ranks,
        kinds=kinds,
        duration_ns=duration,
        transfer_ns=transfer,
        waiting_ns=waiting,
        exposed_waiting_ns=waiting - np.stack(hidden, axis=1),
        late=np.where(meets & waiting.any(axis=1), duration.argmin(axis=1), -1),
        buffer_bytes=np.where((sizes >= 0).all(axis=1), sizes.mean(axis=1), -1).astype(np.int64),
        step=np.array([row[0].step for row in found.rows], np.int64),
        left_out=found.left_out,
    )


def _waits(found: Corresponding, group: MatchedGroup, own: int | None) -> list[tuple[int, Intervals]]:
    """For each rank that came last (-1: none is named) when the own rank waited."""
    column = group.ranks.index(own if own is not None else -1)
    each: list[Exchange] = [row[column] for row in found.rows]
    starts = np.array([one.start_ns for one in each], np.int64)
    parts = []
    for late in np.unique(group.late).tolist():
        rows = group.late == late
        begins, ends = starts[rows], starts[rows] + group.waiting_ns[rows, column]
        parts.append((group.ranks[late] if late >= 0 else -1, Intervals(begins, ends)))
    return parts


def _by_rank(parts: list[tuple[int, Intervals]]) -> dict[int, Intervals]:
    ranks = sorted({rank for rank, _ in parts})
    return {rank: intervals.joined(*(each for late, each in parts if late == rank)) for rank in ranks}


def _row(group: MatchedGroup, kind: CollectiveKind) -> KindOfGroup:
    chosen = np.array([each is kind for each in group.kinds], bool)
    whole, transfer = group.buffer_bytes[chosen], int(group.transfer_ns[chosen].sum())
    told = bool((whole >= 0).all())
    factor = bus_factor(kind, max(group.group.size, len(group.ranks)))
    moved = int(whole.sum())
    return KindOfGroup(
        kind=kind,
        group=group.group,
        ranks=group.ranks,
        count=int(chosen.sum()),
        buffer_bytes=moved if told else None,
        transfer_ns=transfer,
        duration_ns=group.duration_ns[chosen].sum(axis=0),
        waiting_ns=group.waiting_ns[chosen].sum(axis=0),
        bus_bytes_per_s=moved * factor * NS_PER_S / transfer if told and factor and transfer else None,
    )
