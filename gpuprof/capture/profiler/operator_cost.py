"""What recording adds to one operator on this machine: a few milliseconds of tiny operators, with and without it.

Asked where the cell's own steps with and without the recording do not show it, once the recording has ended.
"""

from __future__ import annotations

import time
from typing import Any

from gpuprof.capture.base.options import CaptureOptions
from gpuprof.capture.profiler.kineto import KinetoRecording

_OPERATORS = 200
_ROUNDS = 5  # the quickest counts: others may have the cores meanwhile


def operator_cost_ns() -> float | None:
    """ns an operator; None where torch's profiler cannot start now, or another one is active."""
    import torch

    autograd: Any = torch.autograd
    if autograd._profiler_enabled():
        return None
    one = torch.zeros(1, device="cpu")
    with torch.inference_mode():
        plain = [_took_ns(torch, one) for _ in range(_ROUNDS)]
        recording = KinetoRecording(CaptureOptions(), device=False)
        try:
            recording.start()
        except RuntimeError:
            return None
        try:
            recorded = [_took_ns(torch, one) for _ in range(_ROUNDS)]
        finally:
            _end(recording, autograd)
    return max(min(recorded) - min(plain), 0.0) / _OPERATORS


def _end(recording: KinetoRecording, autograd: Any) -> None:
    """Whatever interrupts it: a profiler left on would keep every later cell from being profiled."""
    try:
        recording.stop()
    finally:
        if autograd._profiler_enabled():
            autograd._disable_profiler()
        recording.release()


def _took_ns(torch: Any, one: Any) -> int:
    began = time.perf_counter_ns()
    for _ in range(_OPERATORS):
        torch.add(one, 1)
    return time.perf_counter_ns() - began
