"""One rank's device holds much more than the others', and sets the limit for all.

What it finds
    In the traces of all ranks of one job: peaks of allocated memory that lie at least 20 % of the highest apart, where
    the highest takes at least half of its device.

Why it costs
    All ranks take the same batch, and the fullest device decides how large it can be; the others' memory stays unused.

What to do
    Find what the fullest rank holds beside: tensors that every process has put on the same device
    (`torch.load` without `map_location`, `"cuda"` before `torch.cuda.set_device`), results gathered on one rank, longer
    sequences, a larger shard.

When to leave it
    When ranks hold different parts of a model (pipeline stages, embedding tables) that cannot be divided more evenly,
    or when the batch is not to grow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.ranks.ranks import Ranks
from gpuprof.rules.base.abstentions import without_other_ranks
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.base.known import known
from gpuprof.rules.base.rule import Rule, threshold


@dataclass(frozen=True)
class UnevenDeviceMemory(Rule):
    """See the module."""

    spread_share: float = threshold(0.20, "of the highest peak: ranks that do the same differ by some percent")
    full_share: float = threshold(0.50, "of the device’s memory: under it the batch can grow on every rank anyway")
    medium_share: float = threshold(0.85, "of the device’s memory: then the fullest rank is about to fail")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the peaks of all ranks."""
        ranks = results.get(Ranks)
        if not ranks.any_collective:
            return None
        if len(ranks.memory) < 2:
            return without_other_ranks(self.name)
        peaks = [each.peak_bytes for each in ranks.memory if each.peak_bytes]
        fullest = max(ranks.memory, key=lambda each: each.peak_bytes or 0)
        if len(peaks) < len(ranks.memory) or not fullest.peak_bytes or not fullest.limit_bytes:
            return Abstention(
                self.name,
                "the memory that each rank had allocated",
                "Record every rank with `torch.profiler.profile(profile_memory=True)`.",
            )
        spread, full = 1 - min(peaks) / fullest.peak_bytes, fullest.peak_bytes / fullest.limit_bytes
        if spread < self.spread_share or full < self.full_share:
            return None
        others = float(np.median([known(each.peak_bytes) for each in ranks.memory if each is not fullest]))
        return Finding(
            rule=self.name,
            severity=Severity.MEDIUM if full >= self.medium_share else Severity.LOW,
            title=f"Peaks of memory lie {units.percent(spread)} apart between ranks; rank {fullest.rank}’s is highest",
            explanation=(
                f"Rank {fullest.rank} had up to {units.size(fullest.peak_bytes)} allocated, "
                f"{units.percent(full)} of its device; the median of the other "
                f"{units.plural(len(peaks) - 1, 'rank')} is {units.size(others)}, the lowest "
                f"{units.size(min(peaks))}. The fullest device sets how large the batch of every rank can be."
            ),
            evidence={
                "rank": fullest.rank,
                "ranks": len(peaks),
                "spread_share": round(spread, 4),
                "highest_peak_bytes": fullest.peak_bytes,
                "median_peak_of_others_bytes": int(others),
                "lowest_peak_bytes": min(peaks),
                "highest_share_of_device": round(full, 4),
            },
            change=(
                f"Find what rank {fullest.rank} holds beside: `torch.load` on all ranks without `map_location`, "
                'tensors made with `device="cuda"` before `torch.cuda.set_device(local_rank)`, results gathered '
                "on that rank, longer sequences or a larger shard."
            ),
        )
