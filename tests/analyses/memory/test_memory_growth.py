"""Memory that stays, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.memory_growth import FROM_READINGS, FROM_ROWS, MemoryGrowth
from gpuprof.model.context import Optimizer
from gpuprof.model.memory import Allocator, StepMemory
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder


def growth(trace: Trace) -> MemoryGrowth:
    return Results(trace).get(MemoryGrowth)


def rows(levels: Sequence[int], *, device: int | None = 0) -> TraceBuilder:
    """One step a level: 500 bytes come and go above it."""
    builder = TraceBuilder().operator("aten::mm", 0, 10)
    live = 0
    for number, level in enumerate(levels):
        builder.step(number * 100, 100)
        for at, target in ((10, level), (50, level + 500), (90, level)):
            size, live = target - live, target
            allocated = -1 if device is None else live
            builder.memory(number * 100 + at, size, device=device, allocated=allocated, reserved=90_000)
    return builder


def readings(levels: Sequence[int], every: int = 1) -> TraceBuilder:
    count = range(len(levels))
    kept = StepMemory(
        device=0,
        step=tuple(every * (number + 1) for number in count),
        time_ns=tuple(1000 * number for number in count),
        allocated_bytes=tuple(levels),
        reserved_bytes=tuple(levels),
    )
    allocator = Allocator(
        device=0,
        allocated_before_bytes=0,
        allocated_after_bytes=0,
        reserved_after_bytes=0,
        peak_allocated_bytes=10_000,
        peak_reserved_bytes=20_000,
        peak_in_run=True,
        retries=0,
        ooms=0,
    )
    builder = TraceBuilder().device(0, memory_bytes=110_000)
    return builder.context(step_memory=(kept,), allocators=(allocator,))


def test_a_leak_in_the_rows() -> None:
    found = growth(rows([100, 4000, 4100, 4200, 4300, 4400, 4500]).device(0, memory_bytes=15_000).build())
    assert (found.device, found.source, found.levels) == (0, FROM_ROWS, 5)
    assert (found.per_step_bytes, found.grown_bytes, found.rising_share) == (100, 400, 1.0)
    assert (found.free_bytes, found.steps_until_full) == (10_000, 100)
    assert (found.from_ns, found.to_ns) == (200_000, 600_000)


def test_the_host_is_judged_where_no_device_is() -> None:
    builder = rows([100, 4000, 4100, 4200, 4300], device=None).context(host_start={"available_bytes": 1000})
    found = growth(builder.build())
    assert (found.device, found.per_step_bytes, found.steps_until_full) == (None, 100, 10)


def test_readings_of_the_whole_cell_are_preferred_and_their_distance_counts() -> None:
    found = growth(readings([0, 0, 5000, 5500, 6000, 6500], every=5).build())
    assert (found.source, found.per_step_bytes, found.levels) == (FROM_READINGS, 100, 4)
    assert found.steps_until_full == 1000


def test_a_plateau_after_a_long_warm_up_does_not_grow() -> None:
    found = growth(readings([*range(0, 1000, 100), *[1000] * 10]).build())
    assert (found.levels, found.per_step_bytes, found.grown_bytes) == (10, 0, 0)
    assert found.steps_until_full is None


def test_a_sawtooth_rises_in_some_steps_only() -> None:
    found = growth(readings([0, 0, 100, 200, 300, 0, 100, 200, 300, 0]).build())
    assert found.rising_share == pytest.approx(5 / 7)


def test_two_optimizers_make_two_steps_a_turn() -> None:
    """GIVEN what stays grows in every second step WHEN two optimizers step in turns THEN every turn leaves more."""
    levels = [1000 * (number // 2) for number in range(24)]
    alone = growth(rows(levels).build())
    both = tuple(Optimizer(name="SGD", parameters=1, elements=1, steps=12) for _ in range(2))
    together = growth(rows(levels).context(optimizers=both).build())
    assert (alone.rising_share or 0) < 0.6
    assert (together.rising_share, together.per_step_bytes) == (1.0, 500.0)


def test_too_few_steps_tell_nothing(empty_trace: Trace) -> None:
    assert growth(rows([100, 4000, 4100]).build()).per_step_bytes is None
    assert growth(empty_trace) == MemoryGrowth(None, None, 0, None, None, None, None, None, None)


def test_every_trace_is_stood(any_shared_trace: Any) -> None:
    found = growth(any_shared_trace)
    assert (found.per_step_bytes is None) == (found.levels < 2)


def test_one_byte_a_step_fills_the_device_too() -> None:
    slow = MemoryGrowth(0, FROM_ROWS, 9, 1.0, 9, 1.0, 0, 9, 500)
    assert slow.steps_until_full == 500
    assert MemoryGrowth(0, FROM_ROWS, 9, 0.0, 0, 0.0, 0, 9, 500).steps_until_full is None


def test_optimizers_that_step_unequally_make_no_turns() -> None:
    levels = [1000 + 200 * (number // 2) for number in range(12)]
    often, seldom = (Optimizer(name="Adam", parameters=1, elements=1, steps=steps) for steps in (12, 3))
    together = growth(rows(levels).context(optimizers=(often, seldom)).build())
    assert together.rising_share == growth(rows(levels).build()).rising_share < 1
