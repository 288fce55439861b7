"""What the peak of the process would be without a tensor that one statement makes, and without what the statement
takes while it makes it."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from gpuprof.analyses.accounts.cell_memory import resident_readings
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.stack_lines import StackLines
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.model.trace import Trace


def made_bytes(trace: Trace, results: Results, lines: Collection[int], held_bytes: int) -> int | None:
    """By how much the peak falls, bytes, where those lines (1-based) of the cell do not run and their `held_bytes` are
    not held from then on; None where there are too few readings, or no sample shows the lines."""
    time, level = resident_readings(trace)
    stretches = results.get(Stretches)
    making = np.isin(np.append(results.get(StackLines).cell_line, -1)[stretches.node], list(lines))
    if not len(level) or not making.any():
        return None
    order = np.argsort(stretches.start_ns, kind="stable")
    at = np.maximum(np.searchsorted(stretches.start_ns[order], time, side="right") - 1, 0)
    begin = trace.context.host_start.get("resident_bytes")
    least = begin if isinstance(begin, int) else int(level.min())
    # memory that is not written to is not resident
    held = np.clip(level - least, 0, held_bytes)
    left = np.where(time >= stretches.start_ns[making].min(), level - held, level)[~making[order][at]]
    return max(0, int(level.max()) - max(int(left.max(initial=0)), least))
