"""A cell whose work is done by processes that it starts, of which nothing is recorded."""

from __future__ import annotations

from typing import Self

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.validity.doubt import ALL, Doubt, Handling, ValidityCheck
from gpuprof.model.context import StartedProcess
from gpuprof.model.trace import Trace

_MOST_NAMES = 2
# of the cell's time: less is a command in passing
_LEAST_SHARE = 0.2


class WorkInProcesses(ValidityCheck):
    """Cannot judge where these processes computed more than the cell's own."""

    order = 45

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From what the capture saw of them."""
        started, window = trace.context.started_processes, trace.context.window
        if window is None or not started:
            return cls()
        cell_ns = window.cell_end_ns - window.cell_start_ns
        theirs_ns = sum(each.cpu_ns for each in started)
        if theirs_ns < _LEAST_SHARE * cell_ns or theirs_ns <= _own_ns(trace, cell_ns):
            return cls()
        return cls(
            Doubt(
                code="work_in_processes",
                sentence=f"The cell’s work ran in {_named(started)}: they were not recorded, so the cell cannot "
                "be judged.",
                remedy="Put `with gpuprof.profile():` in the function or script that they run, and load one of "
                "those runs with `gpuprof.load(folder)`.",
                cannot_judge=True,
                spoils=ALL,
                handling=Handling.WITHHELD,
            )
        )


def _own_ns(trace: Trace, cell_ns: int) -> float:
    """Processor time of the notebook's own process in the cell."""
    busy = trace.host_readings["cpu_percent"]
    known = busy[np.isfinite(busy)]
    return float(known.mean()) / 100 * cell_ns if len(known) else 0.0


def _named(started: tuple[StartedProcess, ...]) -> str:
    """`2 processes that it started (`train`)`."""
    count = sum(each.count for each in started)
    names = ", ".join(f"`{each.name}`" for each in started[:_MOST_NAMES])
    more = " and others" if len(started) > _MOST_NAMES else ""
    return f"{units.plural(count, 'process', 'processes')} that it started ({names}{more})"
