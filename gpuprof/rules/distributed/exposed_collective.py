"""The device exchanges data with other devices while it computes nothing.

What it finds
    Collectives (all-reduce, all-gather, all-to-all, as NCCL's or RCCL's kernels) with no compute on the same device
    beside them, for at least 5 % of the step.

Why it costs
    Gradients can travel while backward still computes the earlier layers. What is exposed makes the step longer by its
    whole length, on every device.

What to do
    First see whether this rank transfers or waits: a collective ends when the slowest rank has arrived. Compare the
    ranks' traces. If it transfers: with DDP `bucket_cap_mb` (many small buckets cost latency, a single large one
    cannot overlap), `gradient_as_bucket_view=True`, `static_graph=True`, `model.no_sync()` in all but the last
    micro-batch, and bf16 gradients (`bf16_compress_hook`), half the bytes. With FSDP prefetch, and keep parameters
    gathered (`reshard_after_forward=False`).

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
from gpuprof.analyses.ranks.ranks import Ranks
from gpuprof.analyses.run.time_budget import TimeBudget
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.kernel_names import KernelCategory
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.saving.retimed import WAITS_FOR_HOST, retimed
from gpuprof.rules.saving.scope import Scope, graded, worst
from gpuprof.whatif.changes.collectives import collectives_hidden

_REDUCES = ("allreduce", "all_reduce")
# by experience with NCCL: a call takes some 10 to 30 µs whatever it carries
MANY_A_STEP, SHORT_NS = 100, 50_000
_BASIS = "re-timed with half of it, at best all, hidden under compute; nothing, where it is a wait for another rank"
# RCCL's one kernel for everything
_GENERIC = "generic"
_GATHERS = ("allgather", "all_gather", "reducescatter", "reduce_scatter")


@dataclass(frozen=True)
class ExposedCollective(Rule):
    """See the module."""

    exposed_share: float = threshold(0.05, "of the step: the last bucket is always exposed, and is less than that")
    high_share: float = threshold(0.20, "of the step: then it is the first thing to mend")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the collectives that nothing hides."""
        if results.get(DeviceActivity).primary is None:
            return without_device(self.name, results, "the device’s collectives")
        scope = Scope.of(results)
        exposed = intervals.intersect(
            results.get(TimeBudget).parts.get("exposed_collective", intervals.EMPTY), scope.within
        )
        share, waited = scope.share(exposed.total_ns), _waited(results, scope)
        if share - scope.share(waited.ns) < self.exposed_share:
            return None
        return self._finding(results, scope, exposed, share, waited)

    def _finding(self, results: Results, scope: Scope, exposed: Intervals, share: float, waited: _Waited) -> Finding:
        table = results.get(Kernels).table
        table, collectives = table.take(table["category"] == KernelCategory.COLLECTIVE), results.get(Collectives)
        number, name = int(table["count"].sum()), collectives.longest
        longest = int((exposed.ends - exposed.starts).max())
        each = f", {units.duration(exposed.total_ns / scope.steps)} a step" if scope.steps else ""
        found = Finding(
            rule=self.name,
            severity=graded(share - scope.share(waited.ns), self.high_share),
            title=f"Collectives that nothing hides take {units.percent(share)} of {scope.words}",
            explanation=(
                f"{units.plural(number, 'collective kernel')}, most of the time `{name}`: for "
                f"{units.duration(exposed.total_ns)}{each} the device computes nothing beside them (at most "
                f"{units.duration(longest)} at once).{_latency(table, scope)} {waited.words}"
            ),
            evidence={
                "exposed_ms": units.milliseconds(exposed.total_ns),
                "exposed_share": round(share, 4),
                "longest_exposed_ms": units.milliseconds(longest),
                "collective_kernels": number,
                "collective_ms": units.milliseconds(int(table["total_ns"].sum())),
                "median_kernel_us": round(_median(table) / units.NS_PER_US, 3),
                "longest_kind": name,
            },
            where=Where(lines=results.get(LaunchPlaces).lines(collectives.event), ranges_ns=worst(exposed)),
            change=_change(name if _GENERIC not in name.lower() else _on_host(results) or name, results),
            saving=scope.saving(
                0,
                (exposed.total_ns - waited.ns) / 2,
                exposed.total_ns - waited.ns,
                "upper bound: all of it hidden under compute; nothing, where it is a wait for another rank",
            ),
        )
        return retimed(results, found, collectives_hidden(results, exposed, waited.ns), _BASIS, rest=WAITS_FOR_HOST)


@dataclass(frozen=True)
class _Waited:
    """What of the time is known to be a wait for a late rank, which is another rule's; and the sentence about it."""

    ns: float = 0.0
    words: str = "One rank alone does not show whether it transfers or waits for a slower rank."


def _waited(results: Results, scope: Scope) -> _Waited:
    latest = results.get(Ranks).latest
    late_ns = float(np.median(latest.late_ns)) if latest else 0.0
    if latest is None or late_ns < 0:
        return _Waited() if not results.others else _Waited(words=_ranks_are_silent(results))
    if latest.rank == results.source.rank:
        return _Waited(0.0, "No other rank waits less: it transfers rather than waits for another.")
    words = f"At least {units.duration(late_ns)} a step of it is a wait for rank {latest.rank}."
    return _Waited(late_ns * scope.steps, words) if late_ns else _Waited(words=_ranks_are_silent(results))


def _ranks_are_silent(results: Results) -> str:
    """Other ranks were loaded, and do not tell."""
    why = (
        "no step after the first that all of them recorded"
        if not results.get(Ranks).steps
        else "each exchanges with some others only"
    )
    return f"Whether it transfers or waits for a slower rank, the other ranks do not show either ({why})."


def _median(collectives: Table) -> float:
    """Of the kind that takes most time, ns."""
    return float(collectives["median_ns"][np.argmax(collectives["total_ns"])]) if len(collectives) else 0.0


def _latency(collectives: Table, scope: Scope) -> str:
    """Said where they are so many and short that starting them costs more than the bytes they carry."""
    each = int(collectives["count"].sum()) / scope.steps if scope.steps else 0.0
    if each < MANY_A_STEP or _median(collectives) > SHORT_NS:
        return ""
    return (
        f" They are many and short ({each:.0f} a step, half of them under {units.duration(_median(collectives))}): "
        "what counts is their number, not their bytes."
    )


def _on_host(results: Results) -> str:
    """The collective that the host asked for, such as `c10d::allreduce_`; gathers first: sharded training reduces, too.

    Empty where neither was recorded.
    """
    asked = results.get(Collectives).asked
    return next((name for mark in (*_GATHERS, *_REDUCES) for name in asked if mark in name.lower()), "")


def _change(name: str, results: Results) -> str:
    kind = name.lower()
    first = "Compare the ranks first: if the others arrive later, mend what delays them."
    if results.others and not results.get(Ranks).steps:
        first = "Record the same six steps or more on every rank, and compare them first: mend what delays a late one."
    if any(mark in kind for mark in _REDUCES):
        return (
            f"{first} Else, with DDP: try `bucket_cap_mb` larger where kernels are many and short, smaller where one "
            "comes last; `gradient_as_bucket_view=True`; `with model.no_sync():` for all but the last micro-batch; "
            "`bf16_compress_hook` (`model.register_comm_hook`) halves the bytes."
        )
    if any(mark in kind for mark in _GATHERS):
        return (
            f"{first} Else, with FSDP: prefetch the next layer (`set_modules_to_forward_prefetch`), and keep "
            "parameters gathered between forward and backward where memory allows (`reshard_after_forward=False`)."
        )
    return (
        f"{first} Else let independent work run beside the exchange: start it with `async_op=True` as soon as its "
        "input is there, and wait for it where its result is used; send fewer bytes (bf16)."
    )
