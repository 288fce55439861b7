"""One rank arrives late at the collectives, and all others wait for it.

What it finds
    In the traces of all ranks of one job: a rank that spends less time in collectives than any other rank, by at least
    10 % of the step, in at least half of the steps. What the others spend longer is their wait for it. Only time in
    which the device computes nothing else counts. Lengths are compared, never the clocks of different machines.

Why it costs
    A collective ends when the last rank has arrived. One late rank makes every step of the whole job longer, and all
    the other devices idle meanwhile.

What to do
    Look at that rank: whether it waits for data longer, computes longer (more or longer samples, a slower or throttled
    device), or whether its host does extra work, such as logging, validation or saving on rank 0 only.

When to leave it
    When that rank has to do more (it writes the checkpoints) and the recording happened to cover just that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Array, Results
from gpuprof.analyses.ranks.ranks import LatestRank, Ranks, RankSteps
from gpuprof.rules.base.abstentions import without_other_ranks
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.saving.scope import Scope, graded

_DATA = "Its DataLoader is why: find out why that rank’s data take longer (storage, cores shared with others, samples)."
_COMPUTE = (
    "Its device computes longer: give every rank as much to compute (equal numbers of samples, batches sorted by "
    "length), and compare the devices’ clocks, temperature and neighbours (`nvidia-smi`)."
)
_HOST = (
    "Neither its data nor its kernels take longer: look at what its host does beside, such as logging, validation or "
    "saving on that rank only, and at what else runs on its cores."
)


@dataclass(frozen=True)
class RankStraggler(Rule):
    """See the module."""

    late_share: float = threshold(0.10, "of the step: ranks differ by some percent from step to step anyway")
    high_share: float = threshold(0.25, "of the step: then it is the first thing to mend")
    steps_share: float = threshold(0.5, "of the steps: a rank that is late now and then is chance")
    steps: float = threshold(5, "in common, the first left out: fewer may be chance")
    explained_share: float = threshold(0.5, "of the lateness: less leaves its cause open")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the rank that waits least."""
        ranks = results.get(Ranks)
        if not ranks.any_collective:
            return None
        if len(ranks.memory) < 2:
            return without_other_ranks(self.name)
        if not ranks.steps or len(ranks.steps[0].step_ns) < self.steps:
            return Abstention(
                self.name,
                f"at least {self.steps + 1:.0f} steps with device activity that every rank recorded",
                "Record the same steps on every rank: `torch.profiler.schedule(...)` and `prof.step()` on all of them.",
            )
        latest = ranks.latest
        return None if latest is None else self._judge(results, ranks.steps, latest)

    def _judge(self, results: Results, ranks: tuple[RankSteps, ...], latest: LatestRank) -> Finding | None:
        step, late = np.median(np.stack([each.step_ns for each in ranks]), axis=0), latest.late_ns
        often = float((late >= self.late_share * step).mean())
        share = float(np.median(late / np.maximum(step, 1)))
        if often < self.steps_share or share < self.late_share:
            return None
        return self._finding(results, ranks, latest.row, late, share, often)

    def _finding(
        self, results: Results, ranks: tuple[RankSteps, ...], row: int, late: Array, share: float, often: float
    ) -> Finding:
        rank, scope, late_ns = ranks[row].rank, Scope.of(results), float(np.median(late))
        data, compute = _longer(ranks, row, "input_wait_ns"), _longer(ranks, row, "compute_ns")
        enough = self.explained_share * late_ns
        change = _DATA if data >= max(enough, compute) else _COMPUTE if compute >= enough else _HOST
        each = f"{units.duration(max(data, 0.0))} a step longer for data", f"{units.duration(max(compute, 0.0))} longer"
        whole = late_ns * scope.steps
        return Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"Rank {rank} keeps the other {len(ranks) - 1} waiting for {units.percent(share)} of the step",
            explanation=(
                f"Every other rank spends at least {units.duration(late_ns)} a step more in collectives than rank "
                f"{rank} (median of {units.count(len(late))} steps; by {units.percent(self.late_share)} of the step in "
                f"{units.percent(often)} of them): they wait for it. Against the median of the others, rank {rank} "
                f"waits {each[0]} and computes {each[1]}."
            ),
            evidence={
                "rank": rank,
                "ranks": len(ranks),
                "late_ms_per_step": units.milliseconds(late_ns),
                "late_share": round(share, 4),
                "late_steps_share": round(often, 4),
                "steps": len(late),
                "more_input_wait_ms_per_step": units.milliseconds(data),
                "more_compute_ms_per_step": units.milliseconds(compute),
            },
            change=f"Look at rank {rank}’s own trace. {change}",
            saving=scope.saving(0, whole, whole, f"upper bound: no rank waits for rank {rank}"),
        )


def _longer(ranks: tuple[RankSteps, ...], row: int, what: str) -> float:
    """Median ns a step of that rank − the median of the others'."""
    medians = np.array([np.median(getattr(each, what)) for each in ranks])
    return float(medians[row] - np.median(np.delete(medians, row)))
