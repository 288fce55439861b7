"""Every cause of idle time, on runs small enough to work out by hand (times in µs)."""

from __future__ import annotations

from gpuprof.analyses.device_idle import CAUSES, DeviceIdle
from gpuprof.analyses.result import Results
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
    # THEN the first gap is its price wholly (20 and the launch's 10 count), of the second the remaining 10
    assert causes(builder.build()) == {"idle_launch": 10 + 10 + 10, "idle_sync": 30, "idle_host": 10}


def test_a_wait_claims_nothing_beyond_the_next_wait():
    builder = TraceBuilder().kernel("a", 10, 100, launch_at_us=0).sync(10, 100).kernel("b", 130, 10, launch_at_us=130)
    builder.sync(140, 1).kernel("c", 200, 10, launch_at_us=200)
    # the first wait has 80 left at 140, but the second one starts anew with 1
    assert causes(builder.build()) == {"idle_launch": 10, "idle_sync": 20 + 1, "idle_host": 59}


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
