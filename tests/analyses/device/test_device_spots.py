from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.device.device_spots import DeviceSpots
from gpuprof.model.context import FollowedLines, SourceFile
from tests.support.trace_builder import CELL_FILE, TraceBuilder

NODE = "autograd::engine::evaluate_function: MmBackward0"
FOLLOWED = FollowedLines(
    how="monitoring", start_ns=0, end_ns=1_000_000, files=(SourceFile(filename=CELL_FILE), SourceFile(filename="model"))
)


def spots(builder: TraceBuilder) -> DeviceSpots:
    return Results(builder.context(lines=FOLLOWED).build()).get(DeviceSpots)


def trained(*, backward_thread: str) -> TraceBuilder:
    """Line 3 calls the product of line 8 of another cell; line 4 runs its backward pass; line 5 steps."""
    builder = TraceBuilder().line(3, 0).line(8, 2, source_file=1, cell_line=3).line(4, 40).line(5, 200)
    builder.operator("aten::linear", 5, 20).operator("aten::mm", 6, 10, sequence=7)
    builder.kernel("gemm_forward", 30, 100, launch_at_us=8)
    builder.thread(backward_thread).operator(NODE, 50, 40, sequence=7, forward_thread=1)
    builder.operator("MmBackward0", 51, 30, sequence=7, forward_thread=1).operator("aten::mm", 52, 10)
    builder.kernel("gemm_backward", 130, 200, launch_at_us=54)
    builder.thread("main").operator("aten::_fused_adam_", 205, 20).kernel("adam", 330, 100, launch_at_us=210)
    return builder


@pytest.mark.parametrize("thread", ["main", "autograd"])
def test_backward_work_stands_at_the_line_of_its_forward_operator(thread: str) -> None:
    found = spots(trained(backward_thread=thread))
    assert [(each.source_file, each.line, each.cell_line, each.ns) for each in found.spots] == [
        (1, 8, 3, 300_000),
        (0, 5, 5, 100_000),
    ]
    product, step = found.spots
    assert product.share == pytest.approx(0.75) and product.backward_share == pytest.approx(2 / 3)
    assert (product.operator, product.kernel) == ("aten::linear", "gemm_backward")
    assert step.backward_share == 0.0 and step.operator == "aten::_fused_adam_"
    assert found.total_ns == 400_000 and found.named_ns == 400_000


def test_a_node_whose_maker_was_not_recorded_stands_at_the_call_of_backward() -> None:
    builder = TraceBuilder().line(4, 0).operator(NODE, 5, 40, sequence=99).operator("aten::mm", 10, 10)
    found = spots(builder.kernel("gemm", 30, 100, launch_at_us=12))
    assert [(each.line, each.backward_share) for each in found.spots] == [(4, 1.0)]


def test_only_steady_steps_count() -> None:
    # GIVEN a first step whose kernels load, four times as long as the others
    builder = TraceBuilder().line(2, 0).step(0, 400)
    builder.operator("aten::first", 0, 5).kernel("cold", 10, 380, launch_at_us=1)
    for at in (400, 500, 600):
        builder.step(at, 100).operator("aten::mm", at, 5).kernel("gemm", at + 10, 80, launch_at_us=at + 1)
    found = spots(builder)
    assert found.total_ns == 240_000 and [each.operator for each in found.spots] == ["aten::mm"]


def test_where_no_line_is_known_the_operator_stands_for_it() -> None:
    builder = TraceBuilder().operator("aten::conv2d", 0, 20).operator("aten::cudnn_convolution", 1, 18)
    builder.kernel("implicit_gemm", 30, 90, launch_at_us=5).operator("aten::relu", 25, 5)
    found = spots(builder.kernel("relu", 130, 10, launch_at_us=26))
    assert [(each.line, each.operator) for each in found.spots] == [(None, "aten::conv2d"), (None, "aten::relu")]
    assert found.named_ns == 0


def test_small_ones_are_left_out_and_five_are_told() -> None:
    builder = TraceBuilder().line(1, 0)
    for number in range(8):
        builder.line(number + 1, number * 10).operator("aten::mm", number * 10, 5)
        builder.kernel("gemm", 100 + number * 20, 20 if number else 1, launch_at_us=number * 10 + 1)
    found = spots(builder)
    assert [each.line for each in found.spots] == [2, 3, 4, 5, 6]


def test_nothing_without_a_device() -> None:
    assert spots(TraceBuilder().operator("aten::mm", 0, 10)) == DeviceSpots()


def test_a_name_needs_much_of_the_spots_time() -> None:
    # GIVEN a line with four operators that take as much each
    builder = TraceBuilder().line(6, 0)
    for number, name in enumerate(("aten::mm", "aten::add", "aten::mul", "aten::exp")):
        builder.operator(name, number * 10, 5).kernel(f"k{number}", 100 + number * 20, 20, launch_at_us=number * 10 + 1)
    (spot,) = spots(builder).spots
    assert (spot.operator, spot.kernel, spot.line) == ("", "", 6)
