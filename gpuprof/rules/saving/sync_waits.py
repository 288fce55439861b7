"""What the host's waits for the device cost, shared by the rules about them."""

from __future__ import annotations

import numpy as np

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Array, Results, Table
from gpuprof.analyses.run.device_idle import DeviceIdle
from gpuprof.analyses.run.start_up import StartUp
from gpuprof.analyses.transfers.copies import Copies
from gpuprof.analyses.transfers.copy_round_trips import CopyRoundTrips
from gpuprof.analyses.transfers.copy_waits import CopyWaits
from gpuprof.analyses.transfers.host_fills import HostFills
from gpuprof.analyses.transfers.small_copies import SmallCopies
from gpuprof.analyses.transfers.sync_waits import SyncWaits
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.rules.saving.scope import Scope, share_of


def idle_after_waits(results: Results, scope: Scope, waits: Table) -> tuple[Intervals, float]:
    """The idle time that all waits in `scope` caused, a union, and how much of it is due to `waits`, in ns.

    `waits` are rows of `SyncWaits.table` in `scope`. Which wait lost which part cannot be told: theirs is the part of
    the idle time that they have in the waiting.
    """
    every = followed_by_work(results, results.get(SyncWaits).table)
    held_ns = int(every["duration_ns"][scope.inside(every["start_ns"])].sum())
    idle = intervals.intersect(results.get(DeviceIdle).parts.get("idle_sync", intervals.EMPTY), scope.within)
    return idle, idle.total_ns * share_of(int(waits["duration_ns"].sum()), held_ns)


def followed_by_work(results: Results, waits: Table) -> Table:
    """The rows of `SyncWaits.table` after which the device works on: a read at the end of a run stalls nothing."""
    device = results.get(DeviceActivity).primary
    if device is None or not len(device.busy.ends):
        return waits
    return waits.take(waits["start_ns"] + waits["duration_ns"] < device.busy.ends[-1])


def avoidable(results: Results) -> Array:
    """Mask over `Copies.table`: copies that need not be there at all, or not one by one, and have rules of their own.

    To make such a copy faster would mend the wrong thing.
    """
    small, trips, fills = results.get(SmallCopies), results.get(CopyRoundTrips), results.get(HostFills)
    mask: Array = small.chosen & small.many
    for rows in ((trips.out, trips.back) if trips.habit else ()) + ((fills.copies,) if fills.habit else ()):
        mask[rows] = True
    return mask


def cost_of_standing(results: Results, copies: Table, compute: Intervals) -> Intervals:
    """While the host stands in these rows of `Copies.table` with no compute, and idle after each until work comes.

    Without what the driver takes to start up before the first of them.
    """
    waits, of_waits = results.get(SyncWaits).table, results.get(CopyWaits)
    issued = np.unique(copies["call"][copies["call"] >= 0])
    waits = waits.take(np.isin(of_waits.copy_call, issued))
    ends = waits["start_ns"] + waits["duration_ns"]
    mine = np.isin(results.get(Copies).table["call"], issued)
    standing = joined(
        Intervals(waits["start_ns"], ends), Intervals(of_waits.calls.starts[mine], of_waits.calls.ends[mine])
    )
    standing = intervals.subtract(standing, results.get(StartUp).before_copies)
    return joined(intervals.subtract(standing, compute), Intervals(ends, ends + waits["idle_after_ns"]))


def joined(left: Intervals, right: Intervals) -> Intervals:
    """The union of both."""
    return intervals.union(
        Intervals(np.concatenate((left.starts, right.starts)), np.concatenate((left.ends, right.ends)))
    )
