"""What the host's waits for the device cost, shared by the rules about them."""

from __future__ import annotations

from gpuprof.analyses.device_idle import DeviceIdle
from gpuprof.analyses.result import Results
from gpuprof.analyses.sync_waits import SyncWaits
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Table
from gpuprof.rules.scope import Scope


def idle_after_waits(results: Results, scope: Scope, waits: Table) -> tuple[Intervals, float]:
    """The idle time that all waits in `scope` caused, a union, and how much of it is due to `waits`, in ns.

    `waits` are rows of `SyncWaits.table` in `scope`. Which wait lost which part cannot be told: theirs is the part of
    the idle time that they have in the waiting.
    """
    every = results.get(SyncWaits).table
    held_ns = int(every["duration_ns"][scope.inside(every["start_ns"])].sum())
    idle = intervals.intersect(results.get(DeviceIdle).parts.get("idle_sync", intervals.EMPTY), scope.within)
    return idle, idle.total_ns * int(waits["duration_ns"].sum()) / held_ns if held_ns else 0.0
