"""What the headline names: the wait itself where a call shows it, and the part of the cell that nobody recorded."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from gpuprof.analyses.accounts.cell_phases import CellPhases
from gpuprof.analyses.accounts.phase import Phase
from gpuprof.model.context import Window
from gpuprof.model.trace import Trace
from gpuprof.report import Report
from tests.analyses.accounts.cells import cell, line
from tests.support.shared import shared_file
from tests.support.trace_builder import TraceBuilder

MS = 1_000_000


def recorded_until(end_ms: int) -> Trace:
    """A cell of a second: four steps of 50 ms, recorded up to then, and after them an evaluation."""
    builder = TraceBuilder().operator("aten::mm", 0, 200_000)
    for i in range(4):
        builder.step(i * 50_000, 50_000)
    builder.stack(0, 200_000, line(5)).stack(200_000, 800_000, line(9, "evaluate"))
    trace = cell(builder, ends_ms=(0, 50, 100, 150, 200))
    window = Window(cell_end_ns=1_000 * MS, end_ns=end_ms * MS)
    return replace(trace, context=msgspec.structs.replace(trace.context, window=window))


def test_a_large_part_that_was_not_recorded_is_said_with_its_phase() -> None:
    headline = Report.of(recorded_until(200)).verdict.headline
    assert headline.endswith(
        "80 % of the cell (evaluation 80 %) was not recorded or checked: only its lines are known."
    )


def test_set_up_says_itself() -> None:
    builder = TraceBuilder().operator("aten::mm", 800_000, 200_000)
    for i in range(4):
        builder.step(800_000 + i * 50_000, 50_000)
    builder.stack(0, 800_000, line(3)).stack(800_000, 200_000, line(5))
    trace = cell(builder, ends_ms=(800, 850, 900, 950, 1000))
    window = Window(cell_end_ns=1_000 * MS, start_ns=800 * MS, end_ns=1_000 * MS)
    found = Report.of(replace(trace, context=msgspec.structs.replace(trace.context, window=window)))
    assert found.results.get(CellPhases).share(Phase.SET_UP) == pytest.approx(0.8, abs=0.05)
    assert "was not recorded or checked" not in found.verdict.headline


def test_a_small_part_is_not_said() -> None:
    assert "was not recorded or checked" not in Report.of(recorded_until(800)).verdict.headline


def waiting(call: str, for_us: float) -> str:
    """A millisecond of idle time, some of it in a call that waits for something that was not recorded."""
    builder = TraceBuilder().operator("aten::mm", 0, 1_000)
    for number in range(9):
        builder.kernel("small", number, 1, launch_at_us=0)
    builder.copy("d2h", 960, 5, launch="cudaMemcpy", launch_at_us=0, launch_for_us=2)
    builder.sync(10, for_us, name=call).kernel("gemm", 965, 35, launch_at_us=962)
    return Report.of(builder.build()).verdict.headline


def test_idle_time_in_a_wait_is_named_by_its_call() -> None:
    said = waiting("cudaStreamSynchronize", 940)
    assert "idle while the host waits in cudaStreamSynchronize" in said and "unknown reason" not in said
    assert "idle for an unknown reason" in waiting("cudaStreamSynchronize", 300)


def test_idle_time_before_work_whose_launch_is_unknown_is_told_by_what_the_cpu_did() -> None:
    def said(python_us: float) -> str:
        builder = TraceBuilder().operator("aten::mm", 0, 10).operator("aten::add", 10 + python_us, 1000 - python_us)
        return Report.of(builder.kernel("gemm", 950, 60).build()).verdict.headline

    assert "% idle while the CPU was in Python between operators" in said(900)
    assert "% idle for an unknown reason" in said(500)


def test_without_anything_of_the_host_it_is_not_said_to_be_waited_for() -> None:
    builder = TraceBuilder().kernel("gemm", 10, 40, launch_at_us=5).kernel("gemm", 90, 10, launch_at_us=85)
    assert "% idle until the next launch" in Report.of(builder.build()).verdict.headline
    called = TraceBuilder().call("cudaFree", 0, 60).kernel("gemm", 65, 40, launch_at_us=62)
    assert "% waiting for the host" in Report.of(called.build()).verdict.headline
    seen = builder.operator("aten::mm", 0, 100)
    assert "% waiting for the host" in Report.of(seen.build()).verdict.headline


@pytest.mark.recordings
def test_a_server_that_waits_for_an_earlier_iteration() -> None:
    from gpuprof.ingest.load import load_trace

    verdict = Report.of(load_trace(shared_file("expert/mi300x-sglang-decode.json.gz"))).verdict
    assert verdict.caution.startswith("For 463 ms, 98 % of the recording, queued work waits for device work")
    assert "The host is in hipMemcpyWithStream meanwhile." in verdict.caution
    assert verdict.headline.startswith("The device computes for 92 % of the other 10.6 ms")
    assert "rules need what this trace does not hold" in verdict.advice


def alone(*works: tuple[float, float, float]) -> TraceBuilder:
    """Kernels (begin, length and launch, in µs) without steps, in operators for 1 ms."""
    builder = TraceBuilder().operator("aten::mm", 0, 1000)
    for begin, length, launched in works:
        builder.kernel("gemm", begin, length, launch_at_us=launched)
    return builder


def test_a_wait_around_all_of_the_work_is_told_from_one_within_it() -> None:
    around = Report.of(alone((400, 100, 395), (510, 90, 505)).build()).verdict.headline
    assert "waiting for the host, most of it before the first and after the last kernel" in around
    within = Report.of(alone((10, 100, 5), (800, 190, 795)).build()).verdict.headline
    assert "waiting for the host" in within and "most of it" not in within
    steps = alone((400, 100, 395), (510, 90, 505)).step(0, 500).step(500, 500)
    assert "most of it" not in Report.of(steps.build()).verdict.headline


def test_a_recording_without_operators_says_that_it_lacks_them() -> None:
    device_only = TraceBuilder().kernel("gemm", 10, 90, launch_at_us=5)
    said = "The CPU’s operators are not in the recording: only its calls of the runtime are known."
    assert said in Report.of(device_only.build()).verdict.headline
    assert said not in Report.of(device_only.operator("aten::mm", 0, 100).build()).verdict.headline
    assert "nothing is known of it" in Report.of(TraceBuilder().kernel("gemm", 10, 90).build()).verdict.headline


def pausing(*pauses_us: float, doing: str = "aten::slice") -> str:
    """A recording of many steps of 2 ms, with pauses of the device in which the CPU is in one operator."""
    builder, at = TraceBuilder(), 0.0
    for number in range(40):
        pause = pauses_us[number] if number < len(pauses_us) else 0.0
        if pause:
            builder.operator(doing, at, pause)
        builder.operator("aten::mm", at + pause, 2000).kernel("gemm", at + pause + 10, 1900, launch_at_us=at + pause)
        at += pause + 2000
    return Report.of(builder.build()).verdict.headline


def test_a_wait_that_is_few_long_pauses_is_told_as_such() -> None:
    one = pausing(0, 50_000)
    assert "Most of the idle time is in a pause of 50.1 ms (the CPU was in aten::slice)." in one
    several = pausing(0, 20_000, 50_000, 30_000)
    told = (
        "Most of the idle time is in 3 pauses of at least 10 ms, 100 ms in all, the longest of 50.1 ms (the CPU was in "
    )
    assert f"{told}aten::slice)." in several
    assert "pause" not in pausing(*[0, *[4_000] * 20])
