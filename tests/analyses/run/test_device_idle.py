"""Every cause of idle time, on runs small enough to work out by hand (times in µs)."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.run import device_idle
from gpuprof.analyses.run.device_idle import CAUSES, DeviceIdle
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder


def causes(trace: Trace) -> dict[str, float]:
    """Idle time by cause in µs, those of 0 left out."""
    idle = Results(trace).get(DeviceIdle)
    return {cause: ns / 1000 for cause, ns in idle.by_cause.items() if ns}


def two_kernels() -> TraceBuilder:
    """Kernels at 10–50 and 100–150; the second was launched at 92, so the device idles 50–100."""
    return TraceBuilder().kernel("a", 10, 40, launch_at_us=0).kernel("b", 100, 50, launch_at_us=92)


def test_nothing_launched_is_the_host():
    assert causes(two_kernels().build()) == {"idle_launch": 10 + 8, "idle_host": 42}


def test_inside_next_is_input():
    trace = two_kernels().data_wait(60, 25).build()
    assert causes(trace) == {"idle_launch": 18, "idle_input": 25, "idle_host": 17}


def test_compiling_is_a_cause_of_its_own():
    compiling = "_compile.compile_inner (dynamo_timed)"
    trace = two_kernels().operator(compiling, 55, 30).data_wait(60, 2).build()
    assert causes(trace) == {"idle_launch": 18, "idle_compile": 30, "idle_host": 12}
    trace = two_kernels().thread("background").operator(compiling, 55, 30).build()
    assert "idle_compile" not in causes(trace)


def test_next_on_another_thread_is_not_waited_for():
    trace = two_kernels().thread("prefetch").data_wait(60, 25).build()
    assert "idle_input" not in causes(trace)


def test_pauses_between_queued_kernels_are_not_the_input_wait():
    # GIVEN work queued before the host asked for the next batch
    builder = TraceBuilder().kernel("a", 10, 40, launch_at_us=0).kernel("b", 52, 50, launch_at_us=6)
    # WHEN the device pauses 50–52 while the host is inside __next__
    trace = builder.data_wait(20, 80).build()
    # THEN the pause belongs to the launch
    assert causes(trace) == {"idle_launch": 12}


def test_a_wait_claims_idle_time_up_to_its_own_length():
    # GIVEN a synchronise 20–55 (35 long) that sees the device drain at 50
    trace = two_kernels().sync(20, 35).build()
    # THEN of the idle time from 50 on, 35 is its price: 5 until it returns and 30 after
    assert causes(trace) == {"idle_launch": 18, "idle_sync": 35, "idle_host": 7}


def test_a_wait_that_found_nothing_to_wait_for_claims_only_itself():
    trace = two_kernels().sync(60, 4).build()
    assert causes(trace) == {"idle_launch": 18, "idle_sync": 4, "idle_host": 38}


def test_what_a_wait_leaves_over_falls_into_the_next_gap():
    # GIVEN a wait of 40 (10–50), then two gaps of 20 before launches
    builder = TraceBuilder().kernel("a", 10, 40, launch_at_us=0).sync(10, 40)
    builder.kernel("b", 80, 10, launch_at_us=70).kernel("c", 120, 10, launch_at_us=110)
    # THEN the first 20 are its price wholly, and so are 20 more of the second gap, which has 30
    builder.kernel("d", 150, 10, launch_at_us=150)
    assert causes(builder.build()) == {"idle_launch": 10 + 10 + 10, "idle_sync": 40, "idle_host": 20}


def test_a_second_wait_adds_to_the_lead():
    builder = TraceBuilder().kernel("a", 10, 20, launch_at_us=0).sync(10, 20).kernel("b", 40, 10, launch_at_us=40)
    builder.sync(45, 5).kernel("c", 90, 10, launch_at_us=90)
    # 20 of which the first gap takes 10; at 50 there are 10 + 5 left, the gap 50–90 has 40
    assert causes(builder.build()) == {"idle_launch": 10, "idle_sync": 25, "idle_host": 25}


def test_the_lead_is_no_longer_than_the_launch_queue(monkeypatch: pytest.MonkeyPatch):
    # GIVEN a queue that holds one piece of work, of which the device needs 20 on average
    monkeypatch.setattr(device_idle, "LAUNCH_QUEUE", 1)
    builder = TraceBuilder().kernel("a", 10, 30, launch_at_us=0).sync(10, 30).kernel("b", 90, 10, launch_at_us=90)
    # THEN of the 50 idle after a wait of 30 only 20 are its price
    assert causes(builder.build()) == {"idle_launch": 10, "idle_sync": 20, "idle_host": 30}


def test_the_start_up_of_a_first_copy_makes_no_lead():
    # GIVEN a blocking copy of 100, the first 80 of which the device idles: that is the call's own
    builder = TraceBuilder().copy("h2d", 80, 21, launch_at_us=0, launch_for_us=100, host_memory="pageable")
    # THEN of the 49 idle after it only 20 are the price of the wait
    trace = builder.kernel("a", 150, 10, launch_at_us=150).build()
    assert causes(trace) == {"idle_launch": 80, "idle_sync": 20, "idle_host": 29}


def test_work_launched_long_before_does_not_explain_a_gap():
    # GIVEN a kernel whose launch returned at 10, while the device stood free from 50 on
    built = TraceBuilder().kernel("first", 0, 8, launch_at_us=0)
    for number in range(8):
        built.kernel("small", 8 + number, 1, launch_at_us=0)
    trace = built.kernel("a", 16, 34, launch_at_us=0).kernel("b", 350, 50, launch_at_us=5).build()
    assert causes(trace) == {"idle_launch": 100, "idle_unexplained": 200}


def test_at_first_the_device_works_on_what_was_launched_before():
    # GIVEN a kernel that was queued at 5 and begins at 350, after one other piece of work
    trace = TraceBuilder().kernel("a", 8, 42, launch_at_us=0).kernel("b", 350, 50, launch_at_us=5).build()
    assert causes(trace) == {"idle_launch": 8 + 100, "idle_unrecorded": 200}


def test_a_launching_call_that_takes_long_is_the_launchs():
    # GIVEN a first launch that loads its module for 500
    trace = TraceBuilder().kernel("a", 510, 50, launch_at_us=0, launch_for_us=500).build()
    assert causes(trace) == {"idle_launch": 510}


def test_what_ends_the_gap_decides_not_what_hangs_on_another_stream():
    # GIVEN stream 8 waiting for stream 7's next kernel, which is launched only at 90
    builder = TraceBuilder().kernel("a", 10, 40, launch_at_us=0).kernel("dependent", 130, 5, launch_at_us=6, stream=8)
    trace = builder.kernel("b", 100, 30, launch_at_us=90).build()
    assert causes(trace) == {"idle_launch": 20, "idle_host": 40}


def test_a_poll_of_a_watchdog_thread_is_no_wait():
    trace = two_kernels().thread("watchdog").sync(20, 70, "cudaEventSynchronize").build()
    assert "idle_sync" not in causes(trace)


def test_outside_the_steps_comes_first():
    trace = two_kernels().data_wait(60, 25).step(0, 70).step(90, 50).build()
    assert causes(trace) == {"idle_launch": 18, "idle_input": 10, "idle_outside_steps": 20, "idle_host": 12}


def test_work_without_a_known_launch_is_unexplained():
    trace = TraceBuilder().kernel("a", 10, 40, launch_at_us=0).kernel("lost", 100, 50).build()
    assert causes(trace) == {"idle_launch": 10, "idle_unexplained": 50}


def test_after_the_last_work_it_is_the_host():
    trace = TraceBuilder().kernel("a", 10, 40, launch_at_us=0).operator("aten::add", 60, 40).build()
    assert causes(trace) == {"idle_launch": 10, "idle_host": 50}


def test_gaps_are_whole_and_named_by_their_largest_part():
    gaps = Results(two_kernels().data_wait(60, 30).build()).get(DeviceIdle).gaps
    assert gaps["start_ns"].tolist() == [0, 50_000]
    assert gaps["end_ns"].tolist() == [10_000, 100_000]
    assert [CAUSES[cause] for cause in gaps["cause"]] == ["idle_launch", "idle_input"]


def test_only_the_first_device_counts():
    trace = two_kernels().kernel("elsewhere", 50, 50, launch_at_us=20, device=1).build()
    assert causes(trace) == {"idle_launch": 18, "idle_host": 42}


def test_nothing_is_said_without_device_activity():
    idle = Results(TraceBuilder().operator("aten::add", 0, 5).build()).get(DeviceIdle)
    assert idle.device is None
    assert idle.by_cause == {}
    assert len(idle.gaps) == 0


def test_what_the_host_does_after_the_last_result_is_no_price_of_reading_it() -> None:
    # GIVEN a read of the finished result, and 40 µs of host work after it; or work of the device after those
    builder = TraceBuilder().operator("aten::mm", 0, 150).kernel("gemm", 10, 80, launch_at_us=0).sync(20, 70)
    assert causes(builder.build()) == {"idle_launch": 10, "idle_host": 60}
    builder.kernel("gemm", 140, 10, launch_at_us=130)
    assert causes(builder.build())["idle_sync"] == 40
