"""Whether every step launches the same."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model.kinds import DeviceEventKind
from gpuprof.model.trace import Trace

_FEWEST_STEPS = 4
_MOST_KINDS = 3  # the first step, and the last batch of an epoch, may differ


@dataclass(frozen=True)
class StepLikeness(Result):
    """`alike`: most steps launch the same kernels with the same grids, so that their shapes are fixed; False with fewer
    than four steps or unknown grids."""

    alike: bool

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the names and grids of the kernels."""
        events, count = trace.device_events, len(trace.steps)
        events = events.take(events["kind"] == DeviceEventKind.KERNEL)
        if count < _FEWEST_STEPS or not len(events) or (events["blocks"] < 0).any():
            return cls(False)
        order = np.lexsort((events["blocks"], events["name"], events["step"]))
        steps, names, blocks = (events[column][order].astype(np.int64) for column in ("step", "name", "blocks"))
        borders = np.searchsorted(steps, np.arange(count + 1))
        kinds = Counter(
            (names[first:last].tobytes(), blocks[first:last].tobytes())
            for first, last in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True)
        )
        return cls(len(kinds) <= _MOST_KINDS and 2 * max(kinds.values()) > count)
