"""Real operators on the CPU: what torch counts, and what follows from the recording."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.efficiency.counted_operators import CountedOperators
from gpuprof.ingest.load import load_trace
from gpuprof.model.trace import Trace


def recorded(work: Callable[[], object], folder: Path) -> Trace:
    """The work's own operators, with shapes."""
    path = folder / "trace.json"
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
        work()
    profiler.export_chrome_trace(str(path))
    return load_trace(path)


def counted_flops(trace: Trace) -> int:
    """The sum over all counted operators."""
    counted = Results(trace).get(CountedOperators)
    return sum(counted.shapes[shape].flops for shape in counted.shape.tolist())


def torch_flops(work: Callable[[], object]) -> int:
    """By torch's own counter."""
    with FlopCounterMode(display=False) as counter:
        work()
    return int(counter.get_total_flops())


def tensor(*shape: int, gradient: bool = True) -> torch.Tensor:
    """Random numbers of that shape."""
    return torch.randn(*shape, requires_grad=gradient)
