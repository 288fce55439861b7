"""Copies to the device that are fewer, or faster and not waited for."""

from __future__ import annotations

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loading.input_pipeline import InputPipeline
from gpuprof.analyses.transfers.copies import Copies
from gpuprof.analyses.transfers.copy_waits import CopyWaits
from gpuprof.analyses.transfers.small_copies import SmallCopies, time_around
from gpuprof.analyses.transfers.sync_waits import SyncWaits
from gpuprof.model.kinds import DeviceEventKind
from gpuprof.model.table import Array
from gpuprof.whatif.changes.graph_edits import GraphEdit, together
from gpuprof.whatif.changes.trace_changes import copies_from_pinned, host_time_scaled, operations_gone, waits_dropped
from gpuprof.whatif.predict import Range

# Of the host's time in the copies that go: what putting their values together takes (torch.stack of n small tensors
# costs a few µs, a copy of one some 20 µs).
_STACKING_SHARE, _MOST_STACKING_SHARE = 0.1, 0.5
# Of the bandwidth that is possible: pinned copies of a few MiB reach at least that.
_LEAST_SHARE = 0.7
# Where the link is not known: what pinned copies reach over PCIe 3.0 with 16 lanes.
USUAL_BYTES_PER_S = 12e9
# What one thread copies from memory to memory.
_PINNING_BYTES_PER_S = 8e9


def copied_together(results: Results) -> Range:
    """One copy a step in place of SmallCopies: all but the first of each step are gone, and of the host's time for them
    only what stacking takes, half of it at worst, a tenth as a rule, nothing at best."""
    copies, events = results.get(Copies).table.take(results.get(SmallCopies).chosen), results.trace.device_events
    copies = copies.take(copies["call"] >= 0)
    _, first = np.unique(copies["step"], return_index=True)
    gone = np.setdiff1d(copies["call"], copies["call"][first])
    rows = np.flatnonzero(np.isin(events["call"], gone) & (events["kind"] == DeviceEventKind.COPY))
    waits = results.get(SyncWaits).table["call"][np.isin(results.get(CopyWaits).copy_call, gone)]
    host = time_around(results.trace, gone)

    def at(stacking_share: float) -> GraphEdit:
        scaled = host_time_scaled(host, stacking_share)
        return together(operations_gone(rows), waits_dropped(np.union1d(gone, waits)), scaled)

    return Range(at(_MOST_STACKING_SHARE), at(_STACKING_SHARE), at(0.0))


def copied_from_pinned(results: Results, issued: Array, reference: float | None) -> Range:
    """The copies that these calls issued (rows of calls), from pinned memory and with `non_blocking=True`.

    They take `bytes ÷ bandwidth`, never longer than now, at `reference`, the bandwidth in bytes/s that this device is
    known to reach, else at USUAL_BYTES_PER_S; at worst at _LEAST_SHARE of that reference, or as long as now. With
    `num_workers=0` the loader pins on the training thread itself, at _PINNING_BYTES_PER_S.
    """
    events, waits = results.trace.device_events, results.get(SyncWaits).table
    rows = np.flatnonzero((events["kind"] == DeviceEventKind.COPY) & np.isin(events["call"], issued))
    waiting = waits["call"][np.isin(results.get(CopyWaits).copy_call, issued)]
    waiting = waiting[~np.isin(waiting, issued)]
    now, moved = events["duration_ns"][rows], np.maximum(events["bytes"][rows], 0) * units.NS_PER_S
    pinning = np.rint(moved / _PINNING_BYTES_PER_S).astype(np.int64) * bool(results.get(InputPipeline).in_process)

    def at(bytes_per_s: float) -> GraphEdit:
        possible = np.rint(moved / bytes_per_s).astype(np.int64)
        return copies_from_pinned(rows, np.where(moved > 0, np.minimum(now, possible), now), waiting, pinning)

    full = at(reference or USUAL_BYTES_PER_S)
    worst = at(reference * _LEAST_SHARE) if reference else copies_from_pinned(rows, now, waiting, pinning)
    return Range(worst, full, full)
