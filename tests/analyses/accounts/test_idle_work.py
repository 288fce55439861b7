from __future__ import annotations

import pytest

from gpuprof.analyses.accounts.idle_work import LOADER, PYTHON, DeviceIdleWork
from gpuprof.analyses.basics.result import Results
from tests.analyses.accounts.cells import line
from tests.support.trace_builder import TraceBuilder


def shares(builder: TraceBuilder) -> dict[str, float]:
    return {each.what: each.share for each in Results(builder.build()).get(DeviceIdleWork).work}


def test_idle_time_goes_to_the_innermost_of_what_ran() -> None:
    # GIVEN a device idle from 10 to 90 of 100: 20 in an operator, 15 of it in one within, 10 waiting for data
    builder = TraceBuilder().kernel("a", 0, 10, launch_at_us=0).operator("aten::first", 0, 2)
    builder.operator("aten::outer", 10, 20).operator("aten::inner", 12, 15).data_wait(40, 10)
    builder.operator("aten::last", 88, 2).kernel("b", 90, 10, launch_at_us=88)
    found = Results(builder.build()).get(DeviceIdleWork)

    assert found.idle_ns == 80_000 and found.named_ns == 32_000
    assert {each.what: each.share for each in found.work} == pytest.approx(
        {PYTHON: 0.48, "aten::inner": 0.15, LOADER: 0.1, "aten::outer": 0.05, "cudaLaunchKernel": 0.02}
    )


def test_a_call_comes_before_the_operator_around_it() -> None:
    builder = TraceBuilder().kernel("a", 0, 10, launch_at_us=0).operator("aten::item", 10, 80)
    builder.call("cudaStreamSynchronize", 20, 60).kernel("b", 90, 10, launch_at_us=88)
    found = shares(builder)
    assert found["cudaStreamSynchronize"] == pytest.approx(0.6) and found["aten::item"] == pytest.approx(0.18)


def test_without_a_device_there_is_none() -> None:
    found = Results(TraceBuilder().operator("aten::mm", 0, 10).build()).get(DeviceIdleWork)
    assert found.work == () and found.idle_ns == 0


def test_sampled_stacks_name_the_python_between_operators() -> None:
    # GIVEN a device idle from 10 to 90 ms, and samples every 20 ms: pandas under line 7, then the loop's own line 9
    pandas = ("<frozen pandas>", "DataFrame.iloc", 3)
    builder = TraceBuilder().kernel("a", 0, 10_000, launch_at_us=0).operator("aten::first", 0, 2_000)
    builder.operator("aten::last", 88_000, 2_000).kernel("b", 90_000, 10_000, launch_at_us=88_000)
    builder.stack(0, 60_000, line(7), pandas).stack(60_000, 40_000, line(9))
    found = Results(builder.build()).get(DeviceIdleWork).work
    assert [(each.line, round(each.share, 2)) for each in found[:2]] == [(7, 0.5), (9, 0.28)]
    assert found[0].what.endswith("DataFrame.iloc") and found[1].what == "its own code"
    assert PYTHON not in {each.what for each in found}
