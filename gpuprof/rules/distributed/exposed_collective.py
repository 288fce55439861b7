"""The device exchanges data with other devices while it computes nothing.

What it finds
    Exposed (non-overlapped) communication: collectives (all-reduce, all-gather, all-to-all, as NCCL's or RCCL's
    kernels) with no compute on the same device alongside, for at least 5 % of step time. Where the traces of several
    ranks were loaded, it is divided into transfer and waiting for the rank that came last. Waiting for one rank that is
    always late is left to `rank_straggler`.

Why it costs
    Gradients can travel while backward still computes the earlier layers. What is exposed makes the step longer by its
    whole length, on every device.

What to do
    First see whether this rank transfers or waits: a collective ends when the slowest rank has arrived. Load the
    traces of all ranks. If it waits, balance the work among ranks. If it transfers, it depends on how the work is
    divided, which the finding recognizes. With DDP: `bucket_cap_mb` (many small buckets cost latency, a single large
    one cannot overlap), `gradient_as_bucket_view=True`, `static_graph=True`, `model.no_sync()` in all but the last
    micro-batch, and bf16 gradients (`bf16_compress_hook`), half the bytes. With FSDP: prefetch, and keep parameters
    gathered (`reshard_after_forward=False`). With pipelines more micro-batches, with tensor parallelism a group within
    NVLink, with experts and embedding tables fewer bytes and an exchange that runs during compute.

When to leave it
    When the last bucket is all that is exposed, or when the link between the devices is the limit and the batch cannot
    grow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results, Table
from gpuprof.analyses.kernels.kernels import Kernels
from gpuprof.analyses.lines.launch_places import LaunchPlaces
from gpuprof.analyses.ranks.collectives import Collectives
from gpuprof.analyses.ranks.exchanges import Exchanges
from gpuprof.analyses.ranks.exposed_exchanges import ExposedExchanges
from gpuprof.analyses.ranks.late_rank import LateRank
from gpuprof.analyses.ranks.parallelism import Parallelism, ParallelismOfRank
from gpuprof.analyses.ranks.rank_collectives import RankCollectives
from gpuprof.analyses.run.time_budget import TimeBudget
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.kernel_names import KernelCategory
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Saving, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.distributed.rank_straggler import RankStraggler
from gpuprof.rules.distributed.rank_words import unmatched_words
from gpuprof.rules.distributed.transfer_advice import transfer_advice
from gpuprof.rules.saving.retimed import WAITS_FOR_HOST, retimed
from gpuprof.rules.saving.scope import Scope, graded, worst
from gpuprof.whatif.changes.collectives import collectives_hidden

# by experience with NCCL: a call takes some 10 to 30 µs whatever it carries
MANY_A_STEP, SHORT_NS = 100, 50_000
_MOST_KINDS = 3
_BASIS = "simulated with half of it, at best all, hidden under compute; nothing, where it is a wait for another rank"
_BALANCE = (
    "Give every rank as much to do between two collectives: equal numbers of samples or tokens, batches sorted by "
    "length, equal parts of the model; and do logging, validation and saving on all ranks at the same step."
)


_LEAVE_WAITS = "Leave it when the ranks hold parts of a model that cannot be divided more evenly."


@dataclass(frozen=True)
class ExposedCollective(Rule):
    """See the module."""

    exposed_share: float = threshold(0.05, "of the step: the last bucket is always exposed, and is less than that")
    high_share: float = threshold(0.20, "of the step: then it is the first thing to fix")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the communication that compute does not hide."""
        if results.get(DeviceActivity).primary is None:
            return without_device(self.name, results, "the device’s collectives")
        scope = Scope.of(results)
        exposed = intervals.intersect(
            results.get(TimeBudget).parts.get("exposed_collective", intervals.EMPTY), scope.within
        )
        split = _split(results, exposed)
        if scope.share(exposed.total_ns - split.straggler_ns) < self.exposed_share:
            return None
        return self._finding(results, scope, exposed, split)

    def _finding(self, results: Results, scope: Scope, exposed: Intervals, split: _Split) -> Finding:
        share, left = scope.share(exposed.total_ns), exposed.total_ns - split.straggler_ns
        table = results.get(Kernels).table
        table, collectives = table.take(table["category"] == KernelCategory.COLLECTIVE), results.get(Collectives)
        number, name = int(table["count"].sum()), collectives.longest
        longest = int((exposed.ends - exposed.starts).max())
        each = f", {units.duration(exposed.total_ns / scope.steps)} per step" if scope.steps else ""
        transfer_ns = exposed.total_ns - split.waiting_ns
        mostly_waits = split.waiting_ns - split.straggler_ns > transfer_ns
        what = "Waiting for other ranks" if mostly_waits else "Exposed communication"
        shown = scope.share(exposed.total_ns if not split.known else split.waiting_ns if mostly_waits else transfer_ns)
        main = results.get(ParallelismOfRank).main
        divided = f" ({main.parallelism.value})" if main and main.parallelism is not Parallelism.UNKNOWN else ""
        found = Finding(
            rule=self.name,
            severity=graded(scope.share(left), self.high_share),
            title=f"{what}: {units.percent(shown)} of {'step time' if scope.steps else scope.words}",
            explanation=(
                f"{units.plural(number, 'collective kernel')}{divided}, most of the time `{name}`: for "
                f"{units.duration(exposed.total_ns)}{each} the device computes nothing alongside (at most "
                f"{units.duration(longest)} at a time).{_by_kind(results, exposed)}{_latency(table, scope)} "
                f"{split.words}"
            ),
            evidence={
                "exposed_ms": units.milliseconds(exposed.total_ns),
                "exposed_share": round(share, 4),
                "longest_exposed_ms": units.milliseconds(longest),
                "collective_kernels": number,
                "collective_ms": units.milliseconds(int(table["total_ns"].sum())),
                "median_kernel_us": round(_median(table) / units.NS_PER_US, 3),
                "longest_kind": name,
                **split.evidence,
            },
            where=Where(lines=results.get(LaunchPlaces).lines(collectives.event), ranges_ns=worst(exposed)),
            during=exposed,
            change=_change(results, mostly_waits, split.known),
            saving=_saving(scope, split, transfer_ns, mostly_waits),
            leave_it=_LEAVE_WAITS if mostly_waits else "",
        )
        if mostly_waits:
            return found
        edit = collectives_hidden(results, exposed, split.waiting_ns)
        return retimed(results, found, edit, _BASIS, rest=WAITS_FOR_HOST)


def _saving(scope: Scope, split: _Split, transfer_ns: int, mostly_waits: bool) -> Saving:
    if mostly_waits:
        left = split.waiting_ns - split.straggler_ns
        return scope.saving(0, left / 2, left, "upper bound: no rank waits for another one")
    basis = "upper bound: all of it hidden under compute; nothing, where it is a wait for another rank"
    return scope.saving(0, transfer_ns / 2, transfer_ns, basis)


@dataclass(frozen=True)
class _Split:
    """How much of the exposed time is known to be waiting, and of that for the one late rank, which is another rule's
    finding. `known`: the ranks were compared."""

    waiting_ns: int
    straggler_ns: int
    known: bool
    words: str

    @property
    def evidence(self) -> dict[str, float | int | str]:
        return {"waiting_ms": units.milliseconds(self.waiting_ns)} if self.known else {}


def _split(results: Results, exposed: Intervals) -> _Split:
    if not results.others:
        return _Split(0, 0, False, "One rank alone does not show whether it transfers or waits for a slower rank.")
    found, late = results.get(RankCollectives), results.get(LateRank)
    if not any(results.source.rank in each.ranks for each in found.groups):
        why = unmatched_words(results)
        words = f"Whether it transfers or waits for a slower rank, the other ranks do not show either: {why}."
        return _Split(0, 0, False, words)
    waits = {rank: intervals.intersect(each, exposed).total_ns for rank, each in found.own_waiting_for.items()}
    waiting_ns = intervals.intersect(found.own_waiting, exposed).total_ns
    fires = late.rank is not None and isinstance(RankStraggler().check(results), Finding)
    straggler_ns = waits.get(late.rank, 0) if fires and late.rank is not None else 0
    longest = max(waits, key=lambda rank: waits[rank], default=-1)
    whom = f", {units.duration(waits[longest])} of it for rank {longest}" if waits.get(longest) and longest >= 0 else ""
    transfer = f"Of this, {units.duration(exposed.total_ns - waiting_ns)} is transfer"
    compared = sum(len(each.kinds) for each in found.groups if results.source.rank in each.ranks)
    alone = len(results.get(Exchanges).each) - compared
    rest = f" {units.plural(alone, 'exchange')} could not be compared and counts as transfer." if alone else ""
    if not all(each.complete for each in found.groups if results.source.rank in each.ranks):
        rest += " Not all ranks were loaded: waiting for the others counts as transfer, too."
    words = f"{transfer} and {units.duration(waiting_ns)} is waiting for other ranks{whom}.{rest}"
    return _Split(waiting_ns, straggler_ns, True, words)


def _median(collectives: Table) -> float:
    """Of the kind that takes most time, ns."""
    return float(collectives["median_ns"][np.argmax(collectives["total_ns"])]) if len(collectives) else 0.0


def _by_kind(results: Results, exposed: Intervals) -> str:
    """` By kind: all-to-all 70 ms, all-reduce 1.2 ms.`, where there are several."""
    parts = [(kind, intervals.intersect(part, exposed).total_ns) for kind, part in results.get(ExposedExchanges).parts]
    told = ", ".join(f"{kind.value} {units.duration(ns)}" for kind, ns in parts[:_MOST_KINDS] if ns)
    return f" By kind: {told}." if len(parts) > 1 else ""


def _latency(collectives: Table, scope: Scope) -> str:
    """Said where they are so many and short that starting them costs more than the bytes they carry."""
    each = int(collectives["count"].sum()) / scope.steps if scope.steps else 0.0
    if each < MANY_A_STEP or _median(collectives) > SHORT_NS:
        return ""
    return (
        f" They are many and short ({each:.0f} per step, half of them under {units.duration(_median(collectives))}): "
        "what counts is their number, not their bytes."
    )


def _change(results: Results, mostly_waits: bool, known: bool) -> str:
    transfer = transfer_advice(results.get(ParallelismOfRank).main)
    if known:
        return _BALANCE if mostly_waits else transfer
    if results.others:
        return f"Record the same six steps or more on every rank, and compare them first. {transfer}"
    return f"Compare the ranks first: if others arrive later, fix what delays them. {transfer}"
