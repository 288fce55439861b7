"""One rank arrives late at the collectives, and the others wait for it.

What it finds
    In the traces of all ranks of one job: the rank that comes last at the collectives, again and again. Collectives are
    matched by their order within each process group. The shortest duration among the ranks is the transfer, and belongs
    to the rank that came last; what the others take longer is their wait for it. Only waits with no compute beside them
    count. The rule fires where every other rank waits for that rank at least 10 % of step time. Durations are compared,
    never the clocks of different machines.

Why it costs
    A collective ends when the last rank has arrived. One late rank makes every step of the whole job longer, and the
    other devices are idle meanwhile.

What to do
    Look at what that rank does longer than the others, which the finding names: waiting for data, kernels (more or
    longer samples, a slower or throttled device), or work on the CPU such as logging, validation or saving on rank 0
    only.

When to leave it
    When that rank has to do more (it writes the checkpoints) and the recording happened to cover just that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.ranks.late_rank import LateRank
from gpuprof.analyses.ranks.late_rank_work import LateRankWork
from gpuprof.analyses.ranks.rank_collectives import RankCollectives
from gpuprof.analyses.ranks.ranks import Ranks
from gpuprof.rules.base.abstentions import without_other_ranks
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.distributed.rank_words import advice_for, more_words, unmatched_words
from gpuprof.rules.saving.scope import Scope, graded


@dataclass(frozen=True)
class RankStraggler(Rule):
    """See the module."""

    late_share: float = threshold(0.10, "of the step: ranks differ by some percent from step to step anyway")
    high_share: float = threshold(0.25, "of the step: then it is the first thing to fix")
    steps_share: float = threshold(0.5, "of the steps, or of all waiting: a rank that is late now and then is chance")
    steps: float = threshold(5, "in common, the first left out: fewer may be chance")
    explained_share: float = threshold(0.5, "of the lateness: less leaves its cause open")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the rank that the others wait for longest."""
        ranks, late = results.get(Ranks), results.get(LateRank)
        if not ranks.any_collective:
            return None
        if len(ranks.memory) < 2:
            return without_other_ranks(self.name)
        if not results.get(RankCollectives).groups:
            return Abstention(
                self.name,
                f"collectives that can be matched between ranks ({unmatched_words(results)})",
                "Record the same steps on every rank: `torch.profiler.schedule(...)` and `prof.step()` on all of them.",
            )
        if late.rank is None:
            return None
        if len(late.late_ns) < self.steps:
            return Abstention(
                self.name,
                f"at least {self.steps + 1:.0f} steps, or collectives outside of steps, that every rank recorded",
                "Record the same steps on every rank: `torch.profiler.schedule(...)` and `prof.step()` on all of them.",
            )
        share = float(late.late_ns.sum() / max(late.round_ns.sum(), 1))
        often = float((late.late_ns >= self.late_share * late.round_ns).mean()) if late.by_step else late.waiting_share
        if share < self.late_share or often < self.steps_share:
            return None
        return self._finding(results, late, share, often)

    def _finding(self, results: Results, late: LateRank, share: float, often: float) -> Finding:
        scope, rounds = Scope.of(results), len(late.late_ns)
        each_ns = float(late.late_ns.mean())
        more = results.get(LateRankWork)
        # without steps the work is compared over the whole recording
        late_ns = each_ns if late.by_step else float(late.late_ns.sum())
        explained = bool(more.more) and more.more[0].more_ns >= self.explained_share * late_ns
        whole = each_ns * (scope.steps or rounds)
        waited = (
            f"{units.duration(float(np.median(late.late_ns)))} per step (median of {units.plural(rounds, 'step')})"
            if late.by_step
            else f"{units.duration(float(late.late_ns.sum()))} in all"
        )
        return Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"Rank {late.rank} arrives late: others wait {units.percent(share)} of {_whole(late)}",
            explanation=(
                f"Rank {late.rank} came last at {units.count(late.last)} of {units.plural(late.meetings, 'collective')}"
                f" after the first{' step' if late.by_step else ''} ({units.percent(late.waiting_share)} of the "
                f"waiting there is for it). Every rank that waits for it waits at least {waited}. "
                f"{more_words(more, late)}"
            ),
            evidence={
                "rank": late.rank if late.rank is not None else -1,
                "ranks": len(results.get(Ranks).memory),
                "late_ms_per_round": units.milliseconds(each_ns),
                "late_share": round(share, 4),
                "late_steps_share": round(often, 4),
                "rounds": rounds,
                "last_at_collectives": late.last,
                "collectives": late.meetings,
                "waiting_share": round(late.waiting_share, 4),
                "more_ms_per_round": units.milliseconds(more.more[0].more_ns) if more.more else 0.0,
            },
            change=f"Look at rank {late.rank}’s own trace. {advice_for(more, explained)}",
            saving=scope.saving(0, whole, whole, f"upper bound: no rank waits for rank {late.rank}"),
        )


def _whole(late: LateRank) -> str:
    return "step time" if late.by_step else "the recorded time"
