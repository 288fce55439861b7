"""Memory: the peak, and what moves within a step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.memory_peak import FROM_ROWS, FROM_STATISTICS, FROM_SUMS, MemoryPeak
from gpuprof.model.memory import Allocator
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder


def memory(trace: Trace) -> MemoryPeak:
    return Results(trace).get(MemoryPeak)


def _three_steps(grows_by: int = 0) -> TraceBuilder:
    """1,000 bytes stay; forward adds 600, backward begins, adds 100 and releases all; each step may leave some."""
    builder = TraceBuilder().device(0, "Test GPU", memory_bytes=4000)
    for step, at in enumerate((0, 100, 200)):
        stays = 1000 + step * grows_by
        builder.step(at, 100)
        builder.memory(at + 5, 10, allocated=stays, reserved=2048)
        builder.memory(at + 20, 600, allocated=stays + 600, reserved=2048)
        builder.operator("autograd::engine::evaluate_function: MmBackward0", at + 40, 50)
        builder.memory(at + 60, 100, allocated=stays + 700, reserved=2048)
        builder.memory(at + 80, -700, allocated=stays, reserved=2048)
    return builder


def test_the_peak_and_its_instant() -> None:
    use = memory(_three_steps(grows_by=50).build()).primary
    assert use is not None
    assert (use.peak_allocated_bytes, use.peak_at_ns, use.peak_reserved_bytes) == (1800, 260_000, 2048)
    assert (use.limit_bytes, use.relative) == (4000, False)


def test_what_moves_within_a_step() -> None:
    use = memory(_three_steps().build()).primary
    assert use is not None
    assert (use.stays_bytes, use.transient_bytes) == (1000, 700)
    assert (use.activations_bytes, use.growth_per_step_bytes) == (600, 0)


def test_growth_is_told_per_step() -> None:
    use = memory(_three_steps(grows_by=50).build()).primary
    assert use is not None
    assert use.growth_per_step_bytes == 50


def test_the_host_counts_from_its_beginning() -> None:
    builder = TraceBuilder().operator("aten::zeros", 0, 50)
    host = memory(
        builder.memory(1, 100, device=None).memory(2, 50, device=None).memory(3, -120, device=None).build()
    ).host
    assert host is not None
    assert (host.allocated_bytes.tolist(), host.peak_allocated_bytes, host.source) == ([100, 150, 30], 150, FROM_SUMS)
    assert host.relative
    assert host.transient_bytes is None


def test_scalars_on_the_host_of_a_device_run_are_left_out() -> None:
    for size, known in ((8, None), (64 << 20, 64 << 20)):
        builder = TraceBuilder().kernel("k", 0, 50, launch_at_us=0).memory(10, size, device=None)
        assert memory(builder.build()).host is None if known is None else memory(builder.build()).host is not None
    assert memory(TraceBuilder().memory(10, 8, device=None).build()).host is not None


def _statistics(device: int, peak: int, *, in_run: bool | None = True) -> Allocator:
    return Allocator(
        device=device,
        allocated_before_bytes=0,
        allocated_after_bytes=1,
        reserved_after_bytes=9 if peak < 9 else 2500,
        peak_allocated_bytes=peak,
        peak_reserved_bytes=peak + 2,
        peak_in_run=in_run,
        retries=2,
        ooms=1,
    )


def test_statistics_of_the_allocator_stand_in_for_rows() -> None:
    use = memory(TraceBuilder().context(allocators=(_statistics(1, 7),)).build()).primary
    assert use is not None
    assert (use.device, use.peak_allocated_bytes, use.peak_reserved_bytes, use.source) == (1, 7, 9, FROM_STATISTICS)
    assert (use.retries, use.ooms, use.limit_bytes) == (2, 1, None)


def test_the_higher_peak_counts() -> None:
    """GIVEN rows of a part of the run, and statistics of all of it with a higher peak."""
    use = memory(_three_steps().context(allocators=(_statistics(0, 3000),)).build()).primary
    assert use is not None
    assert (use.peak_allocated_bytes, use.peak_at_ns, use.source) == (3000, None, FROM_STATISTICS)


def test_a_peak_from_before_the_run_is_not_taken_for_its_own() -> None:
    allocators = (_statistics(0, 3900, in_run=False),)
    with_rows = memory(_three_steps().context(allocators=allocators).build()).primary
    without = memory(TraceBuilder().context(allocators=allocators).build()).primary
    assert with_rows is not None and without is not None
    assert (with_rows.peak_allocated_bytes, with_rows.source) == (1700, FROM_ROWS)
    assert (without.peak_allocated_bytes, without.peak_reserved_bytes) == (None, 2500)


def test_nothing_recorded_is_nothing(empty_trace: Trace) -> None:
    assert memory(empty_trace) == MemoryPeak((), None)


def test_peaks_are_of_the_curve(any_shared_trace: Any) -> None:
    found = memory(any_shared_trace)
    for use in [*found.devices, *([found.host] if found.host else [])]:
        assert use.peak_allocated_bytes == use.allocated_bytes.max()
        assert np.all(np.diff(use.time_ns) >= 0)
        assert use.transient_bytes is None or 0 <= use.transient_bytes <= use.peak_allocated_bytes - min(
            0, int(use.allocated_bytes.min())
        )


def test_the_limit_is_what_the_process_allowed_torch() -> None:
    """GIVEN `torch.cuda.set_per_process_memory_fraction` WHEN the whole device is larger THEN the part is the limit."""
    allowed = msgspec.structs.replace(_statistics(0, 700), limit_bytes=1000)
    known = memory(_three_steps().context(allocators=(allowed,)).build()).primary
    unknown = memory(TraceBuilder().context(allocators=(allowed,)).build()).primary
    assert known is not None and unknown is not None
    assert (known.limit_bytes, unknown.limit_bytes) == (1000, 1000)


def test_rows_that_reach_the_peak_of_the_statistics_show_when() -> None:
    known = Allocator(
        device=0,
        allocated_before_bytes=0,
        allocated_after_bytes=0,
        reserved_after_bytes=2048,
        peak_allocated_bytes=1700,
        peak_reserved_bytes=2048,
        retries=0,
        ooms=0,
    )
    use = memory(_three_steps().context(allocators=(known,)).build()).primary
    assert use is not None
    assert (use.peak_allocated_bytes, use.source, use.peak_at_ns) == (1700, FROM_ROWS, 60_000)


def test_a_batch_that_fits_exactly_twice_fits() -> None:
    use = memory(_three_steps().build()).primary
    assert use is not None
    exactly = replace(use, limit_bytes=1000, stays_bytes=100, transient_bytes=400)
    assert exactly.batches_that_fit == 2
    assert replace(use, limit_bytes=1000, stays_bytes=101, transient_bytes=400).batches_that_fit is None


def test_a_device_of_unknown_peak_is_not_the_first_one() -> None:
    use = memory(_three_steps().build()).primary
    assert use is not None
    unknown, small = replace(use, device=0, peak_allocated_bytes=None), replace(use, device=1, peak_allocated_bytes=1)
    assert MemoryPeak(devices=(unknown, small), host=None).primary is small
