"""Small copies to the device."""

from __future__ import annotations

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.transfers.small_copies import SMALL_BYTES, SmallCopies
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder


def test_only_small_copies_to_the_device_in_steps_count() -> None:
    builder = TraceBuilder().step(0, 100).operator("aten::to", 0, 20)
    builder.copy("h2d", 5, 1, bytes=SMALL_BYTES - 1, launch_at_us=2, launch_for_us=2)
    builder.copy("h2d", 40, 1, bytes=SMALL_BYTES, launch_at_us=38, launch_for_us=1)
    builder.copy("d2h", 50, 1, bytes=8, launch_at_us=48, launch_for_us=1)
    builder.copy("h2d", 160, 1, bytes=8, launch_at_us=158, launch_for_us=1)
    small = Results(builder.build()).get(SmallCopies)
    assert (small.count, small.bytes, small.per_step, small.many) == (1, SMALL_BYTES - 1, 1.0, False)
    assert (small.host.total_ns, small.idle.total_ns) == (20_000, 19_000)


def test_a_call_outside_operators_counts_itself() -> None:
    builder = TraceBuilder().step(0, 100).copy("h2d", 30, 1, bytes=8, launch_at_us=2, launch_for_us=6)
    assert Results(builder.build()).get(SmallCopies).host.total_ns == 6_000


def test_nothing_recorded_gives_nothing(empty_trace: Trace) -> None:
    small = Results(empty_trace).get(SmallCopies)
    assert (small.count, small.per_step, small.many, small.idle.total_ns) == (0, None, False, 0)
