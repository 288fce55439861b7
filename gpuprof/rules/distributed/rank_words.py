"""What several rules say of ranks: what a late rank did longer, and why collectives could not be matched."""

from __future__ import annotations

from gpuprof import units
from gpuprof.analyses.accounts.hot_spot import HotSpot
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.ranks.late_rank import LateRank
from gpuprof.analyses.ranks.late_rank_work import LateRankWork, SpentOn
from gpuprof.analyses.ranks.rank_collectives import RankCollectives

_ADVICE = {
    SpentOn.DATA: "It waits for its DataLoader: find out why its data take longer (storage, cores shared with other "
    "processes, larger samples).",
    SpentOn.GPU: "Its device computes longer{of}: give every rank as much to compute (equal numbers of samples, "
    "batches sorted by length), and compare the devices’ clocks, temperature and neighbors (`nvidia-smi`).",
    SpentOn.RANGE: "It spends longer in {name}: do that on every rank alike, less often, or in another thread.",
    SpentOn.OPERATOR: "Its CPU spends longer in operators{of}: compare what it is given with the other ranks, and what "
    "else runs on its cores.",
    SpentOn.PYTHON: "Its CPU does more outside of torch: look for logging, validation or saving on that rank only, and "
    "at what else runs on its cores.",
}
_OPEN = (
    "Neither its data nor its kernels explain it: look at what its CPU does besides, such as logging, validation or "
    "saving on that rank only, and at what else runs on its cores."
)


def advice_for(work: LateRankWork, explained: bool) -> str:
    """What to do about what it did longer; where that does not explain the lateness, where to look."""
    if not explained:
        return _OPEN
    most = work.more[0]
    of = f", most of it in `{most.name}`" if most.name else ""
    return _ADVICE[most.place].format(name=f"`{most.name}`", of=of)


def more_words(work: LateRankWork, late: LateRank) -> str:
    """`Compared with the median of the other ranks, it spent 2.00 ms per step longer waiting for data.`"""
    if not work.more:
        return "Nothing that was recorded of it takes longer than on the other ranks."
    unit = "step" if late.by_step else "recording"
    parts = [
        f"{units.duration(each.more_ns)} {each.place.value}{f' (`{each.name}`)' if each.name else ''}"
        for each in work.more
    ]
    hot = f" Most of its own cell’s time goes to {_place(work.spot)}." if work.spot is not None else ""
    return f"Compared with the median of the other ranks, it spent more per {unit}: {', '.join(parts)}.{hot}"


def _place(spot: HotSpot) -> str:
    where = f"line {spot.cell_line or spot.line}" if spot.line is not None else ""
    return " in ".join(part for part in (f"`{spot.what}`" if spot.what else "", where) if part)


def unmatched_words(results: Results) -> str:
    """Why, for the group with the most of them."""
    unmatched = results.get(RankCollectives).unmatched
    if not unmatched:
        return "some ranks exchange on the GPU and others on the CPU"
    return max(unmatched, key=lambda each: each.count).reason
