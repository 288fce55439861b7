"""Several ranks side by side: what each transfers and waits, kind by kind, and the rank that comes last."""

from __future__ import annotations

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.ranks.late_rank import LateRank
from gpuprof.analyses.ranks.parallelism import ParallelismOfRank
from gpuprof.analyses.ranks.rank_collectives import KindOfGroup, RankCollectives
from gpuprof.units import count, duration, percent, plural, rate, size
from gpuprof.views.blocks import Block, Sentence, TableBlock, TableCell, Value

_NOTE = (
    "Collectives are matched by their order within the process group. Transfer: the shortest duration among the ranks, "
    "that of the rank that came last; waiting: what a rank took longer. Only durations count: the ranks’ clocks need "
    "not agree. Bus bandwidth: as NCCL’s tests define it, with the transfer as its time."
)


def late_words(results: Results) -> str:
    """`Rank 1 came last at 10 of 12 collectives after the first step: 93 % of …`; empty where no rank is known."""
    late = results.get(LateRank)
    if late.rank is None:
        return ""
    return (
        f"Rank {late.rank} came last at {count(late.last)} of {plural(late.meetings, 'collective')} after the first"
        f"{' step' if late.by_step else ''}: {percent(late.waiting_share)} of the waiting there with no compute "
        "alongside is for it."
    )


def unmatched_sentences(results: Results) -> list[str]:
    """Of each group that was left out, why."""
    return [
        f"Not compared: {plural(each.count, 'exchange')} of {each.group.label}, because {each.reason}."
        for each in results.get(RankCollectives).unmatched
    ]


def left_out_words(results: Results) -> str:
    """How many collectives of a compared group one rank alone recorded; empty for none."""
    left = sum(sum(each.left_out) for each in results.get(RankCollectives).groups)
    return (
        f"{plural(left, 'collective')} at the ends of the recordings have no counterpart on another rank."
        if left
        else ""
    )


def rank_lines(results: Results) -> list[str]:
    """The same as lines of text, one for each rank; empty for one rank alone."""
    found = results.get(RankCollectives)
    if not found.groups:
        return []
    lines = ["Collectives of all ranks:"]
    for rank in found.ranks:
        transfer, waiting = found.transfer_ns(rank), found.waiting_ns(rank)
        lines.append(f"  rank {rank:<4} {duration(transfer):>10} transfer {duration(waiting):>10} waiting")
    return lines


def rank_blocks(results: Results) -> list[Block]:
    """Tables and sentences; empty where fewer than two ranks were loaded."""
    found = results.get(RankCollectives)
    if not found.ranks:
        return []
    words = (late_words(results), left_out_words(results), *unmatched_sentences(results))
    tables: list[Block] = [_by_rank(results), _by_kind(results)] if found.groups else []
    return [*tables, *(Sentence(each) for each in words if each)]


def _by_rank(results: Results) -> TableBlock:
    found = results.get(RankCollectives)
    rows: tuple[tuple[Value, ...], ...] = tuple(
        (f"rank {rank}", *(TableCell(duration(ns), ns) for ns in (found.transfer_ns(rank), found.waiting_ns(rank))))
        for rank in found.ranks
    )
    return TableBlock("Collectives by rank", ("rank", "transfer", "waiting"), rows, _NOTE)


def _by_kind(results: Results) -> TableBlock:
    purposes = {(each.group, each.kind): each.parallelism.value for each in results.get(ParallelismOfRank).groups}
    rows = tuple(_row(each, purposes.get((each.group, each.kind), "")) for each in results.get(RankCollectives).table)
    heads = ("collective", "group", "used for", "count", "bytes", "transfer", "waiting", "of it most", "bus bandwidth")
    return TableBlock("Collectives by kind and group", heads, rows, "Waiting: the mean of the ranks, and the longest.")


def _row(each: KindOfGroup, purpose: str) -> tuple[Value, ...]:
    mean, most = float(each.waiting_ns.mean()), int(each.waiting_ns.max())
    return (
        each.kind.value,
        each.group.label,
        purpose,
        TableCell(count(each.count), each.count),
        TableCell(size(each.buffer_bytes), each.buffer_bytes),
        TableCell(duration(each.transfer_ns), each.transfer_ns),
        TableCell(duration(mean), mean),
        TableCell(f"{duration(most)} (rank {each.ranks[int(each.waiting_ns.argmax())]})", most),
        TableCell(rate(each.bus_bytes_per_s), each.bus_bytes_per_s),
    )
