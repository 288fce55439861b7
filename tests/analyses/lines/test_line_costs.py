"""What each line cost."""

from __future__ import annotations

import numpy as np
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_costs import LineCosts
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder


def row(found: LineCosts, line: int, file: int = 0) -> dict[str, int]:
    at = np.flatnonzero((found.table["line"] == line) & (found.table["source_file"] == file))
    assert len(at) == 1
    return {name: values[at[0]] for name, values in found.table.to_dict().items()}


@pytest.fixture
def cell() -> LineCosts:
    """Three steps of a cell whose every cost is known; the device lags behind by more than a step.

    line 1: waits for a batch (100 µs). 2: copies it. 3: calls line 9 of another cell: two kernels. 4: backward on
    autograd's thread: a kernel of 200 µs. 5: reads a value: 250 µs of waiting.
    """
    builder = TraceBuilder()
    for t in (0, 1000, 2000):
        builder.thread("main").line(1, t).operator("aten::empty", t, 1).data_wait(t + 1, 100)
        builder.line(2, t + 110).operator("aten::to", t + 112, 30)
        builder.copy("h2d", t + 500, 40, bytes=4096, host_memory="pinned", launch_at_us=t + 115)
        builder.line(3, t + 150).line(9, t + 155, source_file=1, cell_line=3)
        builder.operator("aten::linear", t + 160, 40).operator("aten::addmm", t + 162, 30).memory(t + 165, 512)
        builder.kernel("gemm", t + 540, 100, launch_at_us=t + 170).kernel("relu", t + 640, 10, launch_at_us=t + 210)
        builder.line(3, t + 240, begins=False).line(4, t + 250)
        builder.thread("autograd").operator("autograd::engine::evaluate_function: AddmmBackward0", t + 260, 90)
        builder.kernel("gemm_backward", t + 650, 200, launch_at_us=t + 300)
        builder.thread("main").line(5, t + 400).operator("aten::item", t + 402, 498)
        builder.copy("d2h", t + 850, 2, bytes=4, launch_at_us=t + 410).sync(t + 620, 250)
        builder.line(-1, t + 900, begins=False)
    return Results(builder.build()).get(LineCosts)


def test_every_cost_is_on_its_line(cell: LineCosts) -> None:
    host = {line: row(cell, line)["host_ns"] for line in (1, 2, 3, 4, 5)} | {9: row(cell, 9, 1)["host_ns"]}
    assert host == {1: 330_000, 2: 120_000, 3: 45_000, 9: 255_000, 4: 450_000, 5: 1_500_000}
    device = {(0, 2): 120_000, (1, 9): 330_000, (0, 4): 600_000, (0, 5): 6_000, (0, 1): 0, (0, 3): 0}
    assert {place: row(cell, place[1], place[0])["device_ns"] for place in device} == device
    assert (row(cell, 1)["input_wait_ns"], row(cell, 5)["sync_wait_ns"]) == (300_000, 750_000)
    assert (row(cell, 2)["h2d_bytes"], row(cell, 5)["d2h_bytes"]) == (3 * 4096, 12)
    assert (row(cell, 9, 1)["operators"], row(cell, 9, 1)["launches"], row(cell, 4)["launches"]) == (3, 6, 3)
    assert (row(cell, 9, 1)["allocated_bytes"], row(cell, 3)["allocated_bytes"], cell.allocated_on) == (
        1536,
        0,
        "device",
    )
    assert all(row(cell, line)["times"] == 3 for line in (1, 2, 3, 4, 5))


def test_all_of_the_time_is_on_lines(cell: LineCosts) -> None:
    assert cell.device_known_ns == cell.device_ns == cell.table["device_ns"].sum() > 0
    assert cell.host_ns == cell.table["host_ns"].sum()


def test_what_no_line_explains_is_not_given_to_one() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 300).line(2, 0).line(-1, 100)
    builder.kernel("known", 50, 10, launch_at_us=20).kernel("outside", 150, 30, launch_at_us=120)
    builder.kernel("unlinked", 90, 7)
    found = Results(builder.build()).get(LineCosts)

    assert found.table["line"].tolist() == [2]
    assert row(found, 2)["device_ns"] == 10_000 == found.device_known_ns
    assert found.device_ns == 47_000
    assert (found.host_ns, found.within_ns) == (100_000, 300_000)


def test_without_lines_nothing_is_known(empty_trace: Trace) -> None:
    for trace in (empty_trace, TraceBuilder().kernel("gemm", 0, 50, launch_at_us=0).build()):
        found = Results(trace).get(LineCosts)
        assert found.how is None and len(found.table) == 0
        assert (found.host_ns, found.within_ns, found.device_ns) == (0, 0, 0)
