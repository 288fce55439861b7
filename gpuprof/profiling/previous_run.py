"""The previous run of a cell, among those saved beside it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from gpuprof.errors import GpuprofError
from gpuprof.profiling.runs import history
from gpuprof.report.cell_identity import previous_among

if TYPE_CHECKING:
    from gpuprof.run import Run


def previous_of(run: Run) -> Path | None:
    """The folder of the newest earlier run of the same cell that did not raise; None where there is none."""
    cell, folder = run.trace.context.cell, run.folder
    if cell is None or folder is None:
        return None
    try:
        found = previous_among(history(folder.parent), cell, run.trace.context.created_ns or time.time_ns())
    except GpuprofError:
        return None
    return found.folder if found else None
