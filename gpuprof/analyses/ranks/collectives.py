"""The exchange with other devices, on the first device and as the host asked for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.kernels.kernels import Kernels
from gpuprof.model.kernel_names import KernelCategory
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_ASKING = ("c10d::", "nccl:")


@dataclass(frozen=True, eq=False)
class Collectives(Result):
    """`event`: the collectives of the first device as rows of `device_events`; `start_ns`, `duration_ns` of each.

    `longest`: the name of the kernels of collectives that take most time, on all devices, without their arguments;
    empty without any. `asked`: the names of operators and user ranges by which the host asked for them, each once.
    """

    event: Array
    start_ns: Array
    duration_ns: Array
    longest: str
    asked: tuple[str, ...]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the device events, and the names of operators and user ranges."""
        events, device = trace.device_events, results.get(DeviceActivity).primary
        rows = np.flatnonzero(events["collective"] & (events["device"] == (device.id if device else -1)))
        kinds = results.get(Kernels).table
        kinds = kinds.take(kinds["category"] == KernelCategory.COLLECTIVE)
        longest = trace.names[int(kinds["name"][np.argmax(kinds["total_ns"])])] if len(kinds) else ""
        used = np.unique(np.concatenate((trace.operators["name"], trace.user_ranges["name"])))
        names = (trace.names[row] for row in used.tolist())
        return cls(
            event=rows,
            start_ns=events["start_ns"][rows],
            duration_ns=events["duration_ns"][rows],
            longest=longest.partition("(")[0],
            asked=tuple(name for name in names if name.startswith(_ASKING)),
        )
