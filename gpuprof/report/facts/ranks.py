"""The collectives of several ranks, as plain JSON types."""

from __future__ import annotations

from typing import Any

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.ranks.late_rank import LateRank
from gpuprof.analyses.ranks.late_rank_work import LateRankWork
from gpuprof.analyses.ranks.parallelism import ParallelismOfRank
from gpuprof.analyses.ranks.rank_collectives import RankCollectives
from gpuprof.units import milliseconds


def rank_collectives(results: Results) -> dict[str, Any] | None:
    """Part of the contract; None where fewer than two ranks were loaded, or they cannot be told apart."""
    found = results.get(RankCollectives)
    if not found.ranks:
        return None
    purposes = {(each.group, each.kind): each.parallelism.value for each in results.get(ParallelismOfRank).groups}
    return {
        "ranks": list(found.ranks),
        "transfer_ms": [milliseconds(found.transfer_ns(rank)) for rank in found.ranks],
        "waiting_ms": [milliseconds(found.waiting_ns(rank)) for rank in found.ranks],
        "collectives": [
            {
                "kind": each.kind.value,
                "group": each.group.label,
                "parallelism": purposes.get((each.group, each.kind)),
                "ranks": list(each.ranks),
                "count": each.count,
                "bytes": each.buffer_bytes,
                "transfer_ms": milliseconds(each.transfer_ns),
                "waiting_ms": [milliseconds(ns) for ns in each.waiting_ns.tolist()],
                "bus_bytes_per_s": each.bus_bytes_per_s,
            }
            for each in found.table
        ],
        "unmatched": [
            {"group": each.group.label, "count": each.count, "reason": each.reason} for each in found.unmatched
        ],
        "late_rank": _late_rank(results),
    }


def _late_rank(results: Results) -> dict[str, Any] | None:
    late = results.get(LateRank)
    if late.rank is None:
        return None
    return {
        "rank": late.rank,
        "last": late.last,
        "collectives": late.meetings,
        "waiting_ms": milliseconds(late.waiting_ns),
        "waiting_share": late.waiting_share,
        "more": [
            {"place": each.place.value, "name": each.name, "ms": milliseconds(each.more_ns)}
            for each in results.get(LateRankWork).more
        ],
    }
