"""Whether torch.compile is to be had on the machine of a run, and whether its steps are alike enough for it."""

from __future__ import annotations

import re

from gpuprof.analyses.basics.compile_events import CompileEvents
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results

_VERSION = re.compile(r"(\d+)\.(\d+)")
# torch's own list: the oldest torch that compiles on each Python
_OLDEST_TORCH = {(3, 11): (2, 2), (3, 12): (2, 4), (3, 13): (2, 6), (3, 14): (2, 10)}
_TRITON = (7, 0)  # the oldest devices that triton generates code for


def can_compile(results: Results) -> bool:
    """Whether this torch compiles for this device, and the run has not compiled anything yet."""
    device = results.get(DeviceActivity).primary
    environment, compiling = results.context.environment, results.context.compiling
    if environment is None or device is None or not environment.system.startswith("Linux"):
        return False
    oldest = _OLDEST_TORCH.get(_version(environment.python))
    capability = results.device(device.id).compute_capability
    if oldest is None or _version(environment.torch) < oldest or capability is None or capability < _TRITON:
        return False
    compiled = (compiling is not None and compiling.graphs > 0) or results.get(CompileEvents).everywhere_ns > 0
    return not compiled and not results.get(CompileEvents).pieces_per_step and not environment.anomaly_mode


def compiled_already(results: Results) -> bool:
    """Whether pieces that torch.compile made run here."""
    return results.get(CompileEvents).variants > 0


def too_old_for_triton(results: Results) -> bool:
    """Whether torch.compile makes no kernels for this device: it is known to be older than Volta."""
    device = results.get(DeviceActivity).primary
    capability = None if device is None else results.device(device.id).compute_capability
    return capability is not None and capability < _TRITON


def graph_words(results: Results) -> str:
    """How to launch a whole step at a time, as the object of `use`, by what the run has and its device can have."""
    if compiled_already(results):
        return (
            '`mode="reduce-overhead"` in the call of `torch.compile`, which then replays the compiled code as CUDA '
            "graphs"
        )
    graphs = "CUDA graphs (`torch.cuda.make_graphed_callables`), which launch a whole step at a time"
    if too_old_for_triton(results):
        return graphs
    return f'`torch.compile(model, mode="reduce-overhead")` or {graphs}'


def _version(text: str) -> tuple[int, int]:
    found = _VERSION.match(text)
    return (int(found[1]), int(found[2])) if found else (0, 0)
