"""The rank that the others wait for, again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.ranks.rank_collectives import MatchedGroup, RankCollectives
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace


@dataclass(frozen=True, eq=False)
class LateRank(Result):
    """`rank`: the one that the others wait for longest in all; None where no collective of several ranks was matched,
    or none waits. Only waiting with no compute beside it counts, and not the first round: it takes up that the
    recordings did not begin together.

    A round is a step (`by_step`), or one collective where no steps were recorded. `late_ns` of shape (rounds,): what
    every rank that waits for it waits at least, so what the round could be shorter by; `round_ns` (rounds,) how long
    it takes. `waiting_ns`: all waits of all ranks for it, `waiting_share` of all their waits, 0..1. `last` of
    `meetings`: at how many collectives of its groups it came last. `partners`: how many other ranks these have.
    """

    rank: int | None
    partners: int
    by_step: bool
    late_ns: Array
    round_ns: Array
    waiting_ns: int
    waiting_share: float
    last: int
    meetings: int

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the matched collectives."""
        found = results.get(RankCollectives)
        rounds = sorted({number for each in found.groups for number in each.step.tolist() if number >= 0})[1:]
        groups = [_Counted.of(each, rounds) for each in found.groups]
        waits = {rank: sum(each.waits_for(rank) for each in groups) for rank in found.ranks}
        rank = max(waits, key=lambda each: waits[each], default=-1)
        if not waits.get(rank):
            return cls(None, 0, bool(rounds), np.zeros(0, np.int64), np.zeros(0, np.int64), 0, 0.0, 0, 0)
        groups = [each for each in groups if rank in each.group.ranks]
        if rounds:
            lead = [np.where(each.rows, each.lead(rank), 0) for each in groups]
            steps = [each.group.step for each in groups]
            late = np.array([sum(int(x[y == n].sum()) for x, y in zip(lead, steps, strict=True)) for n in rounds])
            length = _step_lengths(results, found.ranks[0], rounds)
        else:
            late = np.concatenate([each.lead(rank)[each.rows] for each in groups])
            length = np.full(len(late), trace.span_ns // max(len(late), 1), np.int64)
        return cls(
            rank=rank,
            partners=len({other for each in groups for other in each.group.ranks}) - 1,
            by_step=bool(rounds),
            late_ns=late,
            round_ns=length,
            waiting_ns=waits[rank],
            waiting_share=waits[rank] / sum(waits.values()),
            last=sum(int(each.last(rank).sum()) for each in groups),
            meetings=sum(int((each.rows & (each.group.late >= 0)).sum()) for each in groups),
        )


@dataclass(frozen=True, eq=False)
class _Counted:
    """A group, and which `rows` (n,) of it count."""

    group: MatchedGroup
    rows: Array

    @classmethod
    def of(cls, group: MatchedGroup, rounds: list[int]) -> Self:
        return cls(group, np.isin(group.step, rounds) if rounds else np.arange(len(group.step)) > 0)

    def last(self, rank: int) -> Array:
        """(n,): where it came last."""
        column = self.group.ranks.index(rank) if rank in self.group.ranks else -2
        came_last: Array = self.rows & (self.group.late == column)
        return came_last

    def waits_for(self, rank: int) -> int:
        return int(self.group.exposed_waiting_ns[self.last(rank)].sum())

    def lead(self, rank: int) -> Array:
        """(n,): by how much it came after all others; 0 where it was not the last."""
        others = np.delete(self.group.exposed_waiting_ns, self.group.ranks.index(rank), axis=1)
        return np.where(self.last(rank), others.min(axis=1), 0)


def _step_lengths(results: Results, rank: int, numbers: list[int]) -> Array:
    every = {each.source.rank: each.trace.steps for each in (results, *results.others)}
    steps = every[rank]
    known = dict(zip(steps["number"].tolist(), steps["duration_ns"].tolist(), strict=True))
    return np.array([known.get(number, 0) for number in numbers], np.int64)
