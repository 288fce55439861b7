"""Runs on a device of 16 GiB whose memory is known from the allocator's statistics and what capture weighed."""

from __future__ import annotations

from typing import Any

from gpuprof.model.context import Optimizer
from gpuprof.model.memory import Allocator, Composition
from tests.support.trace_builder import TraceBuilder

GIB = 1 << 30


def gib(number: float) -> int:
    return int(number * GIB)


def allocator(peak_gib: float, reserved_gib: float, **more: Any) -> Allocator:
    figures = {
        "device": 0,
        "allocated_before_bytes": 0,
        "allocated_after_bytes": GIB,
        "reserved_after_bytes": gib(reserved_gib),
        "peak_allocated_bytes": gib(peak_gib),
        "peak_reserved_bytes": gib(reserved_gib),
        "peak_in_run": True,
        "retries": 0,
        "ooms": 0,
    }
    return Allocator(**(figures | more))


def weighed(parameters: float, gradients: float, state: float) -> Composition:
    return Composition(
        device="cuda:0",
        parameter_bytes=gib(parameters),
        gradient_bytes=gib(gradients),
        state_bytes=gib(state),
        after_steps=5,
    )


def adam(elements: int) -> Optimizer:
    return Optimizer(name="AdamW", parameters=10, elements=elements, device="cuda:0", line=3, steps=5)


def run(*, limit_gib: float | None = 16, **context: Any) -> TraceBuilder:
    builder = TraceBuilder().kernel("gemm", 0, 100, launch_at_us=0)
    if limit_gib is not None:
        builder.device(0, "NVIDIA Test", memory_bytes=gib(limit_gib))
    return builder.context(**context)
