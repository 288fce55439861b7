"""A process that others kept from running: its CPU times are longer than its own work."""

from __future__ import annotations

from typing import Self

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loading.cpu_contention import CpuContention
from gpuprof.analyses.validity.doubt import Doubt, Evidence, Handling, ValidityCheck
from gpuprof.model.trace import Trace

_FEWEST_READINGS = 5
_LEAST_WAIT_SHARE = 0.1  # of the time: below it the CPU's times are little longer for it
_DOUBTFUL_SHARE = 0.8  # of the CPU time that it asked for
_STARVED_SHARE = 0.5
_OWN_CORES_SHARE = 0.8  # of the cores: then the run's own threads and workers hold them, and that is how it is


class CoreStarvation(ValidityCheck):
    """Doubtful below four fifths of the CPU time that the main thread asked for, cannot judge below half."""

    order = 50

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the scheduler's figures in the host's readings (Linux)."""
        cores = results.get(CpuContention)
        waited, got = cores.main_wait_share, cores.core_share
        if waited is None or got is None or cores.readings < _FEWEST_READINGS or waited < _LEAST_WAIT_SHARE:
            return cls()
        if got >= _DOUBTFUL_SHARE or _own(trace, cores):
            return cls()
        starved = got < _STARVED_SHARE
        return cls(
            Doubt(
                code="core_starvation",
                sentence=(
                    f"The main thread got only {units.percent(got)} of the CPU time it asked for: other processes "
                    f"held the cores{', so this run cannot be judged' if starved else ''}."
                ),
                remedy="Stop other programs on this machine, then run the cell again.",
                cannot_judge=starved,
                spoils=frozenset({Evidence.CPU_TIMES, Evidence.WAITS}),
                handling=Handling.WITHHELD if starved else Handling.LOWERED,
            )
        )


def _own(trace: Trace, cores: CpuContention) -> bool:
    """Whether this process and its children fill the cores, or the container's quota, by themselves."""
    environment = trace.context.environment
    known = (environment.cores_allowed, environment.cores_limit) if environment else ()
    cores_there = min((limit for limit in known if limit is not None), default=None)
    used = (cores.process_cores or 0.0) + (cores.children_cores or 0.0)
    return cores_there is not None and used >= _OWN_CORES_SHARE * cores_there
