"""Whether torch.compile is to be had on the machine of a run, and whether its steps are alike enough for it."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from gpuprof.analyses.basics.compile_events import CompileEvents
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.model.kinds import DeviceEventKind
from gpuprof.model.trace import Trace

_VERSION = re.compile(r"(\d+)\.(\d+)")
# torch's own list: the oldest torch that compiles on each Python
_OLDEST_TORCH = {(3, 11): (2, 2), (3, 12): (2, 4), (3, 13): (2, 6), (3, 14): (2, 10)}
_TRITON = (7, 0)  # the oldest devices that triton generates code for
_FEWEST_STEPS = 4
_MOST_KINDS = 3  # the first step, and the last batch of an epoch, may differ


def can_compile(results: Results) -> bool:
    """Whether this torch compiles for this device, and the run has not compiled anything yet."""
    trace, device = results.trace, results.get(DeviceActivity).primary
    environment, compiling = trace.context.environment, trace.context.compiling
    if environment is None or device is None or not environment.system.startswith("Linux"):
        return False
    oldest = _OLDEST_TORCH.get(_version(environment.python))
    capability = trace.device(device.id).compute_capability
    if oldest is None or _version(environment.torch) < oldest or capability is None or capability < _TRITON:
        return False
    compiled = (compiling is not None and compiling.graphs > 0) or results.get(CompileEvents).everywhere_ns > 0
    return not compiled and not results.get(CompileEvents).pieces_per_step and not environment.anomaly_mode


def steps_are_alike(trace: Trace) -> bool:
    """Whether most steps launch the same kernels with the same grids: their shapes are fixed."""
    events = trace.device_events
    events = events.take(events["kind"] == DeviceEventKind.KERNEL)
    if len(trace.steps) < _FEWEST_STEPS or not len(events) or (events["blocks"] < 0).any():
        return False
    order = np.lexsort((events["blocks"], events["name"], events["step"]))
    steps, names, blocks = (events[column][order].astype(np.int64) for column in ("step", "name", "blocks"))
    borders = np.searchsorted(steps, np.arange(len(trace.steps) + 1))
    kinds = Counter(
        (names[first:last].tobytes(), blocks[first:last].tobytes())
        for first, last in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True)
    )
    return len(kinds) <= _MOST_KINDS and 2 * max(kinds.values()) > len(trace.steps)


def _version(text: str) -> tuple[int, int]:
    found = _VERSION.match(text)
    return (int(found[1]), int(found[2])) if found else (0, 0)
