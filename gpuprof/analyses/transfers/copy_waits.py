"""Which of the host's waits belong to a copy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.transfers.copies import Copies
from gpuprof.analyses.transfers.sync_waits import SyncWaits
from gpuprof.model.intervals import Intervals
from gpuprof.model.kinds import CallKind
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace


@dataclass(frozen=True, eq=False)
class CopyWaits(Result):
    """Joins SyncWaits and the host's time to Copies.

    `copy_call`: for each row of `SyncWaits.table` the row of calls of the copy it waits for, int64; itself where it is
    a copying call, the last copy that the same operator issued before it where it synchronises; -1 for none.
    `calls`: for each row of `Copies.table` the time of its copying call on the host; empty where none matches.
    """

    copy_call: Array
    calls: Intervals

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the operators that the calls share."""
        waits, calls = results.get(SyncWaits).table, trace.calls
        copying = np.flatnonzero(calls["kind"] == CallKind.COPY)
        copying = copying[np.argsort(calls["start_ns"][copying], kind="stable")]
        found = np.full(len(waits), -1, np.int64)
        for row, call in enumerate(waits["call"]):
            operator = calls["operator"][call]
            if calls["kind"][call] == CallKind.COPY:
                found[row] = call
            elif operator >= 0:
                before = np.searchsorted(calls["start_ns"][copying], calls["start_ns"][call])
                nearest = copying[before - 1] if before else -1
                if nearest >= 0 and calls["operator"][nearest] == operator:
                    found[row] = nearest
        return cls(found, _calls(results.get(Copies).table["call"], calls))


def _calls(rows: Array, calls: Table) -> Intervals:
    if not calls:
        return Intervals(np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64))
    starts = np.where(rows >= 0, calls["start_ns"][rows], 0)
    return Intervals(starts, starts + np.where(rows >= 0, calls["duration_ns"][rows], 0))
