"""Host rows that were still open when the profiler stopped, cut there.

Kineto closes such a row when it has prepared its results, seconds later. Without the cut, that time looks like the
user's.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gpuprof.model.table import Table

_HOST = ("operators", "user_ranges", "frames")


def cut(tables: Mapping[str, Table], stopped_ns: int) -> dict[str, Table]:
    """The same tables; operators, ranges and frames end at `stopped_ns`, those that begin later are left out.

    Nothing is cut where an operator or range begins later: then that is not when the profiler stopped.
    """
    if any((tables[name]["start_ns"] > stopped_ns).any() for name in ("operators", "user_ranges")):
        return dict(tables)
    return {**tables, **{name: _cut(tables[name], stopped_ns) for name in _HOST}}


def _cut(table: Table, stopped_ns: int) -> Table:
    late = table["start_ns"] + table["duration_ns"] > stopped_ns
    if not late.any():
        return table
    kept = table.take(np.flatnonzero(table["start_ns"] <= stopped_ns))
    return kept.replace(duration_ns=np.minimum(kept["duration_ns"], stopped_ns - kept["start_ns"]))
