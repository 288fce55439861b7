"""Where an analysis draws a line: one below it, on it, one above it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.kernels.convolution_biases import ConvolutionBiases
from gpuprof.analyses.kernels.convolutions import Convolutions
from gpuprof.analyses.kernels.kernel_origins import KernelOrigins
from gpuprof.analyses.kernels.kernels import SMALL_KERNEL_NS, Kernels
from gpuprof.analyses.kernels.pointwise_chains import LEAST_KERNELS, PointwiseChains
from gpuprof.analyses.kernels.step_likeness import StepLikeness
from gpuprof.analyses.kernels.unaligned_products import UnalignedProducts
from gpuprof.analyses.kernels.weight_products import MOST_ROWS, WeightProducts
from gpuprof.analyses.lines.line_costs import LineCosts
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.loading.cpu_contention import CpuContention
from gpuprof.analyses.loading.worker_plan import HANDOVER_NS, WorkerPlan
from gpuprof.analyses.loading.worker_starts import WorkerStarts
from gpuprof.analyses.loops.python_loops import LEAST_TURNS, PythonLoops
from gpuprof.analyses.loops.scalar_indexing import ScalarIndexing
from gpuprof.analyses.memory.memory_composition import MemoryComposition
from gpuprof.analyses.run.blocking_launches import BlockingLaunches
from gpuprof.analyses.run.start_up import MOST_STAGING_NS, StartUp
from gpuprof.analyses.training.anomaly_checks import AnomalyChecks
from gpuprof.analyses.training.host_gaps import LONG_NS, HostGaps
from gpuprof.analyses.transfers.copy_round_trips import LEAST_BYTES as LEAST_RETURNED
from gpuprof.analyses.transfers.copy_round_trips import CopyRoundTrips
from gpuprof.analyses.transfers.small_copies import MANY_PER_STEP, SMALL_BYTES, SmallCopies
from gpuprof.analyses.transfers.sync_waits import SyncWaits
from gpuprof.analyses.transfers.widened_copies import LEAST_BYTES as LEAST_WIDENED
from gpuprof.analyses.transfers.widened_copies import WidenedCopies
from gpuprof.model import intervals
from gpuprof.model.context import Loader, Window
from gpuprof.model.memory import Allocator
from tests.support.trace_builder import TraceBuilder

EMPTY = intervals.EMPTY


def of(builder: TraceBuilder, kind: Any) -> Any:
    """That analysis of that run."""
    return Results(builder.build()).get(kind)


@pytest.mark.parametrize(("rows", "few"), [(1, 1), (MOST_ROWS, 1), (MOST_ROWS + 1, 0), (0, 0)])
def test_products_of_few_rows(rows: int, few: int) -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 20, dims=f"[[{rows}, 64], [64, 32]]", types='["float", "float"]')
    assert of(builder.kernel("sgemm", 10, 5, launch_at_us=2), WeightProducts).count == few


@pytest.mark.parametrize(("dims", "known"), [("[[8], [8, 64]]", False), ("[[8], [8, 64], [64, 8]]", True)])
def test_a_product_of_which_an_input_was_not_recorded(dims: str, known: bool) -> None:
    builder = TraceBuilder().operator("aten::addmm", 0, 20, dims=dims, types='["float", "float", "float"]')
    assert of(builder.kernel("sgemm", 10, 5, launch_at_us=2), WeightProducts).shapes_known is known


@pytest.mark.parametrize(("ns", "share"), [(SMALL_KERNEL_NS - 1, 1.0), (SMALL_KERNEL_NS, 0.0)])
def test_small_kernels(ns: int, share: float) -> None:
    assert of(TraceBuilder().kernel("k", 0, ns / 1000), Kernels).small_share == share


@pytest.mark.parametrize("number", [LEAST_KERNELS - 1, LEAST_KERNELS, LEAST_KERNELS + 1])
def test_the_shortest_chain_of_pointwise_kernels(number: int) -> None:
    builder = TraceBuilder()
    for at in range(number):
        builder.operator("aten::add", 20 * at, 15)
        builder.kernel("vectorized_elementwise_kernel", 20 * at + 8, 5, launch_at_us=20 * at + 2)
    chain = of(builder, PointwiseChains).chain
    assert (chain == 0).sum() == (number if number >= LEAST_KERNELS else 0)


def steps_of(*blocks: int) -> TraceBuilder:
    """A step for each, with one convolution of so many blocks."""
    builder = TraceBuilder()
    for number, each in enumerate(blocks):
        at = 100 * number
        builder.step(at, 100).operator("aten::conv2d", at, 50)
        builder.kernel("cudnn_implicit_gemm_conv", at + 20, 10, launch_at_us=at + 5, blocks=each)
    return builder


@pytest.mark.parametrize(
    ("blocks", "alike"),
    [
        ((8, 8, 8), False),  # too few to tell
        ((8, 8, 8, 8), True),
        ((8, 8, 9, 9), False),  # no more than half of them
        ((8, 8, 8, 9), True),
        ((8, 8, 8, 8, 9, 10), True),
        ((8, 8, 8, 8, 8, 9, 10, 11), False),  # four kinds
        ((8, 8, 8, -1), False),
    ],
)
def test_steps_alike(blocks: tuple[int, ...], alike: bool) -> None:
    assert of(steps_of(*blocks), StepLikeness).alike is alike


@pytest.mark.parametrize(
    ("blocks", "fixed"),
    [
        ((8, 8), None),
        ((8, 8, 8), True),
        ((8, 8, 9, 9), False),
        ((8, 8, 8, 9), True),
        ((8, 8, 8, 8, 8, 9, 10), False),  # three signatures
        ((8, 8, -1), None),
    ],
)
def test_convolutions_of_fixed_shapes(blocks: tuple[int, ...], fixed: bool | None) -> None:
    found = of(steps_of(*blocks), Convolutions)
    assert found.chosen.all() and found.fixed_shapes is fixed


@pytest.mark.parametrize(("alignment", "unaligned"), [(1, True), (2, True), (4, False)])
def test_products_of_few_elements_at_a_time(alignment: int, unaligned: bool) -> None:
    name = f"cutlass_80_tensorop_f16_s16816gemm_f16_128x64_nn_align{alignment}"
    assert of(TraceBuilder().kernel(name, 0, 5), UnalignedProducts).chosen.tolist() == [unaligned]


@pytest.mark.parametrize(("last", "steady"), [(99, [True] * 4), (200, [True] * 4), (201, [False, True, True, True])])
def test_a_first_step_of_more_than_two_medians_is_warm_up(last: float, steady: list[bool]) -> None:
    builder = TraceBuilder().step(0, last)
    for number in range(3):
        builder.step(1000 + 100 * number, 100)
    assert of(builder, StepTime).steady.tolist() == steady


@pytest.mark.parametrize(("launches", "share", "mostly"), [(39, 1.0, False), (40, 0.9, True), (40, 0.89, False)])
def test_launches_that_mostly_block(launches: int, share: float, mostly: bool) -> None:
    facts = dict.fromkeys(BlockingLaunches.__dataclass_fields__, EMPTY)
    assert BlockingLaunches(**(facts | {"launches": launches, "blocking_share": share})).mostly is mostly  # type: ignore[arg-type]


@pytest.mark.parametrize(("checked", "on"), [(5, False), (6, True)])
def test_more_than_half_of_the_nodes_are_checked(checked: int, on: bool) -> None:
    assert AnomalyChecks(10, checked, EMPTY).on is on


@pytest.mark.parametrize(("ratio", "starved"), [(None, False), (0.49, False), (0.5, True)])
def test_workers_that_wait_for_cores(ratio: float | None, starved: bool) -> None:
    facts = dict.fromkeys(CpuContention.__dataclass_fields__)
    assert CpuContention(**(facts | {"worker_wait_ratio": ratio})).starved is starved  # type: ignore[arg-type]


@pytest.mark.parametrize(("load_ns", "over"), [(HANDOVER_NS - 1, True), (HANDOVER_NS, False)])
def test_batches_that_are_made_as_fast_as_they_are_handed_over(load_ns: float, over: bool) -> None:
    assert WorkerPlan(None, load_ns, 100.0, 0, 1, 4).handover_dominates is over
    assert WorkerPlan(None, 2 * load_ns + 200, 100.0, 2, 1, 4).waits_are_handover is over


@pytest.mark.parametrize(("per_step", "many"), [(None, False), (MANY_PER_STEP - 0.1, False), (MANY_PER_STEP, True)])
def test_many_small_copies(per_step: float | None, many: bool) -> None:
    assert SmallCopies(np.zeros(0, bool), 0, 0, per_step, EMPTY, EMPTY).many is many


@pytest.mark.parametrize(("size", "count"), [(0, 1), (SMALL_BYTES - 1, 1), (SMALL_BYTES, 0)])
def test_small_copies(size: int, count: int) -> None:
    builder = TraceBuilder().step(0, 100).copy("h2d", 10, 5, bytes=size, launch_at_us=2)
    assert of(builder, SmallCopies).count == count


@pytest.mark.parametrize("size", [LEAST_WIDENED - 4, LEAST_WIDENED, LEAST_WIDENED + 4])
def test_the_smallest_copy_of_what_was_widened(size: int) -> None:
    dims, types = f"[[{size // 4}], [{size // 4}]]", '["float", "unsigned char"]'
    builder = TraceBuilder().step(0, 100).operator("aten::copy_", 0, 10, dims=dims, types=types)
    found = of(builder.copy("h2d", 30, 5, bytes=size, launch_at_us=20), WidenedCopies)
    assert len(found.copies) == (size >= LEAST_WIDENED)


@pytest.mark.parametrize("size", [LEAST_RETURNED - 1, LEAST_RETURNED])
def test_the_smallest_copy_that_comes_back(size: int) -> None:
    builder = TraceBuilder().step(0, 100).operator("aten::to", 0, 20)
    builder.copy("d2h", 5, 5, bytes=size, launch_at_us=2, launch="cudaMemcpy", launch_for_us=15)
    builder.operator("aten::to", 30, 20).copy("h2d", 40, 5, bytes=size, launch_at_us=35)
    assert len(of(builder, CopyRoundTrips).out) == (size >= LEAST_RETURNED)


@pytest.mark.parametrize(("took", "blocking"), [(30, False), (30.001, True)])
def test_a_copy_that_holds_the_host_takes_three_times_the_usual(took: float, blocking: bool) -> None:
    """A quarter of such calls take 10 µs or less; it returns after the copy has begun."""
    builder = TraceBuilder()
    for number in range(4):
        builder.copy("h2d", 1000 * number + 12, 2, launch_at_us=1000 * number, launch_for_us=10)
    builder.copy("h2d", 9010, 10, launch_at_us=9000, launch_for_us=took)
    assert of(builder, SyncWaits).count == blocking


@pytest.mark.parametrize(("late_ns", "found"), [(MOST_STAGING_NS, 0), (MOST_STAGING_NS + 1, 1)])
def test_a_copy_that_waited_for_the_driver(late_ns: int, found: int) -> None:
    builder = TraceBuilder().copy("h2d", late_ns / 1000, 10, launch_at_us=0)
    assert len(of(builder, StartUp).before_copies.starts) == found


@pytest.mark.parametrize(("gap_ns", "found"), [(LONG_NS - 1, 0), (LONG_NS, 1), (LONG_NS + 1, 1)])
def test_long_gaps_of_the_host(gap_ns: int, found: int) -> None:
    builder = TraceBuilder().step(0, 50).step(50, 5000).kernel("k", 60, 40, launch_at_us=50)
    at = 100 + gap_ns / 1000
    builder.kernel("k", at + 5, 5000 - at, launch_at_us=at)
    assert len(of(builder, HostGaps).gaps.starts) == found


@pytest.mark.parametrize(("ends", "name"), [(1099, ()), (1100, ()), (1101, (("inner", 2_000_000),))])
def test_a_frame_is_in_a_gap_until_it_ends(ends: float, name: tuple[tuple[str, int], ...]) -> None:
    """The gap's middle is at 1100 µs."""
    builder = TraceBuilder().step(0, 50).step(50, 3000).kernel("k", 60, 40, launch_at_us=50)
    builder.frame("inner", 500, ends - 500).kernel("k", 2105, 900, launch_at_us=2100)
    assert of(builder, HostGaps).functions == name


@pytest.mark.parametrize(
    ("ends", "named"), [(100, ()), (100.001, (("aten::sort", 1),)), (101, (("aten::sort", 1000),))]
)
def test_operators_that_reach_into_a_gap(ends: float, named: tuple[tuple[str, int], ...]) -> None:
    """The gap begins at 100 µs."""
    builder = TraceBuilder().step(0, 50).step(50, 3000).kernel("k", 60, 40, launch_at_us=50)
    builder.operator("aten::sort", 90, ends - 90).kernel("k", 2105, 900, launch_at_us=2100)
    assert of(builder, HostGaps).operators == named


def test_a_convolution_that_is_the_first_operator() -> None:
    builder = TraceBuilder().operator("aten::_convolution", 0, 26).operator("aten::add_", 10, 5)
    assert of(builder.operator("aten::batch_norm", 50, 9), ConvolutionBiases).count == 1


@pytest.mark.parametrize("turns", [LEAST_TURNS - 1, LEAST_TURNS, LEAST_TURNS + 1])
def test_the_shortest_loop(turns: int) -> None:
    builder = TraceBuilder()
    for turn in range(turns):
        builder.operator("aten::mul", 20 * turn, 5).operator("aten::sum", 20 * turn + 10, 5)
    loops = of(builder, PythonLoops).loops
    assert [run.turns for loop in loops for run in loop.runs] == ([turns] if turns >= LEAST_TURNS else [])


@pytest.mark.parametrize(("accesses", "pause_us", "runs"), [(9, 5, 0), (10, 5, 1), (10, 20, 1), (10, 20.001, 0)])
def test_accesses_to_single_numbers_that_follow_one_another(accesses: int, pause_us: float, runs: int) -> None:
    builder, now = TraceBuilder(), 0.0
    for _ in range(accesses):
        builder.operator("aten::select", now, 5).operator("aten::item", now + 5, 5)
        now += 10 + pause_us
    assert len(of(builder, ScalarIndexing).known.number) == runs


@pytest.mark.parametrize(("cell_ns", "share"), [(0, None), (1, 7.0), (14, 0.5)])
def test_restarted_workers_as_a_share_of_the_cell(cell_ns: int, share: float | None) -> None:
    loader = Loader(workers=2, iteration_start_ns=(0, 50), iteration_set_up_ns=(3, 7))
    builder = TraceBuilder().context(window=Window(cell_end_ns=cell_ns), loaders=(loader,))
    assert of(builder, WorkerStarts).share == share


def allocator(**facts: Any) -> Allocator:
    known = {
        "allocated_before_bytes": 0,
        "allocated_after_bytes": 0,
        "reserved_after_bytes": 0,
        "retries": 0,
        "ooms": 0,
    }
    return Allocator(device=0, **(known | facts))


def test_what_is_reserved_and_not_used() -> None:
    """Of torch's own counters where no row shows the instant; nothing where the peak is not of this run."""
    whole = allocator(peak_allocated_bytes=5 << 30, peak_reserved_bytes=8 << 30, peak_in_run=True)
    builder = TraceBuilder().device(0, memory_bytes=16 << 30).operator("aten::mm", 0, 10).kernel("k", 5, 2)
    part = of(builder.context(allocators=(whole,)), MemoryComposition).primary
    assert part is not None and (part.unused_reserved_bytes, part.same_instant) == (3 << 30, False)


def test_lines_of_which_anything_is_known() -> None:
    """Line 1 began and took time; line 2 began, and nothing else; line 3 had been running before and took time."""
    builder = TraceBuilder().operator("aten::mm", 10, 30)
    builder.line(3, 0, begins=False).line(1, 20).line(2, 30).line(-1, 30)
    found = of(builder, LineCosts).table
    assert found["line"].tolist() == [1, 2, 3]
    assert found["times"].tolist() == [1, 1, 0]
    assert found["host_ns"].tolist() == [10_000, 0, 10_000]


@pytest.mark.parametrize(("spent", "lines"), [(9, (1, 2)), (10, (1, 2, 3))])
def test_a_line_of_a_tenth_is_among_the_longest(spent: float, lines: tuple[int, ...]) -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 100).line(1, 0).line(2, 50).line(3, 100 - spent).line(-1, 100)
    places = of(builder, LinePlaces)
    assert places.cell_lines(places.within) == lines


def test_kernels_are_of_the_operator_that_launches_them() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 10).kernel("k", 20, 5, launch_at_us=9.999)
    builder.kernel("k", 30, 5, launch_at_us=10)
    assert of(builder, KernelOrigins).operator.tolist() == [0, -1]
