"""Small things at their edges: the first row, the last one that counts, the first that no longer does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.kernels.convolution_biases import ConvolutionBiases
from gpuprof.analyses.kernels.convolutions import Convolutions
from gpuprof.analyses.kernels.kernels import Kernels
from gpuprof.analyses.kernels.pointwise_chains import PointwiseChains
from gpuprof.analyses.lines.line_costs import LineCosts
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.loading.worker_starts import WorkerStarts, WorkerUpkeep
from gpuprof.analyses.loops.python_loops import PythonLoops
from gpuprof.analyses.memory.memory_growth import MemoryGrowth
from gpuprof.analyses.memory.memory_peak import FROM_ROWS, FROM_SUMS, MemoryPeak, MemoryUse
from gpuprof.analyses.run.start_up import StartUp
from gpuprof.analyses.training.gradient_recording import GradientRecording
from gpuprof.analyses.transfers.small_copies import SmallCopies
from gpuprof.analyses.transfers.widened_copies import WidenedCopies
from gpuprof.model.context import Loader, Optimizer, Window
from gpuprof.model.memory import StepMemory
from gpuprof.model.trace import Trace
from tests.rules.memory.memory_runs import allocator, run
from tests.support.trace_builder import TraceBuilder

GIB = 1 << 30


def convolution(*after: str, within: str | None = None) -> int:
    """A convolution with a bias, in a block where `within` names one; how many biases are without effect."""
    builder = TraceBuilder()
    if within:
        builder.operator(within, 0, 200)
    builder.operator("aten::conv2d", 1, 30).operator("aten::_convolution", 2, 26).operator("aten::add_", 10, 5)
    for number, name in enumerate(after):
        builder.operator(name, 50 + 10 * number, 9)
    return Results(builder.build()).get(ConvolutionBiases).count


@pytest.mark.parametrize(("number", "found"), [(0, 1), (3, 1), (4, 0)])
def test_a_batch_norm_may_come_after_three_small_operators(number: int, found: int) -> None:
    assert convolution(*["aten::to"] * number, "aten::batch_norm") == found


def test_a_convolution_in_a_block_of_another_name() -> None:
    assert convolution("aten::batch_norm", within="module::block") == 1


def test_a_pass_begins_with_the_number_zero() -> None:
    """Autograd's first node has that number: three operators lie two nodes apart."""
    builder = TraceBuilder()
    for number in range(3):
        builder.operator("aten::addmm", 100 * number, 50, sequence=number)
    found = Results(builder.build()).get(GradientRecording)
    assert found.nodes == 2
    assert found.making.starts.tolist() == [0, 100_000, 200_000]


def test_nodes_are_counted_by_step() -> None:
    """Numbers 5, 7 and 9 in the first step, 12 and 13 in the second, one alone in the third."""
    builder = TraceBuilder()
    for at, numbers in ((0, (5, 7, 9)), (1000, (12, 13)), (2000, (14,))):
        builder.step(at, 1000)
        for place, number in enumerate(numbers):
            builder.operator("aten::addmm", at + 100 * place, 50, sequence=number)
    found = Results(builder.build()).get(GradientRecording)
    assert (found.nodes_per_step, found.steps_with, found.nodes) == (1, 2, 9)


def three_lines(*spent_us: int) -> tuple[int, ...]:
    builder, at = TraceBuilder().operator("aten::mm", 0, sum(spent_us)), 0
    for line, spent in enumerate(spent_us, start=1):
        builder.line(line, at)
        at += spent
    places = Results(builder.line(-1, at).build()).get(LinePlaces)
    return places.cell_lines(places.within)


def test_three_lines_at_most_and_none_of_less_than_a_tenth() -> None:
    assert three_lines(40, 30, 20, 10) == (1, 2, 3)
    assert three_lines(10, 20, 30, 40) == (2, 3, 4)
    assert three_lines(45, 45, 10) == (1, 2, 3)
    assert three_lines(46, 45, 9) == (1, 2)


def test_lines_that_nothing_was_followed_of_have_no_how() -> None:
    assert Results(TraceBuilder().operator("aten::mm", 0, 10).build()).get(LinePlaces).how is None
    assert Results(TraceBuilder().operator("aten::mm", 0, 10).line(1, 0).build()).get(LinePlaces).how == "monitoring"


def use(**facts: Any) -> MemoryUse:
    nothing = np.empty(0, np.int64)
    known = dict.fromkeys(("activations_bytes", "growth_per_step_bytes", "retries", "ooms"))
    known |= dict.fromkeys(("peak_at_ns", "peak_reserved_bytes", "limit_bytes", "stays_bytes", "transient_bytes"))
    fields = {
        "device": 0, "name": None, "time_ns": nothing, "allocated_bytes": nothing, "reserved_bytes": nothing,
        "relative": False, "source": FROM_ROWS, "peak_allocated_bytes": None, "lowest_by_step_bytes": (),
    }  # fmt: skip
    return MemoryUse(**(fields | known | facts))


def test_the_device_with_the_highest_peak_comes_first() -> None:
    small, large, unknown = (use(device=at, peak_allocated_bytes=peak) for at, peak in enumerate((GIB, 3 * GIB, None)))
    assert MemoryPeak((unknown, small, large), None).primary is large
    assert MemoryPeak((), None).primary is None


@pytest.mark.parametrize(
    ("stays_gib", "transient_gib", "fit"), [(4, 2, 4), (4, 2.6, 4), (4, 2.61, 2), (4, 5.2, 2), (4, 5.21, None)]
)
def test_how_many_batches_fit_in_nine_tenths_of_the_device(stays_gib: float, transient_gib: float, fit: int) -> None:
    """14.4 of 16 GiB: 10.4 beside what stays."""
    stays, transient = int(stays_gib * GIB), int(transient_gib * GIB)
    assert use(stays_bytes=stays, transient_bytes=transient, limit_bytes=16 * GIB).batches_that_fit == fit
    for unknown in ("stays_bytes", "transient_bytes", "limit_bytes"):
        facts = {"stays_bytes": stays, "transient_bytes": transient, "limit_bytes": 16 * GIB} | {unknown: None}
        assert use(**facts).batches_that_fit is None


def test_a_peak_counted_from_the_start_of_the_recording_is_not_the_whole() -> None:
    assert use(peak_allocated_bytes=5, source=FROM_SUMS).whole_peak_bytes is None
    assert use(peak_allocated_bytes=5).whole_peak_bytes == 5


def passes(cost: int) -> Loader:
    return Loader(workers=2, line=cost, iteration_start_ns=(0, 500), iteration_set_up_ns=(40, cost))


def test_the_loader_that_costs_most_to_start_again() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 1).context(loaders=(passes(20), passes(70), passes(50)))
    starts = Results(builder.context(window=Window(cell_start_ns=0, cell_end_ns=1000)).build()).get(WorkerStarts)
    assert starts.loader is not None and (starts.loader.line, starts.cost_ns, starts.share) == (70, 70, 0.07)


def test_without_a_loader_there_is_no_upkeep(empty_trace: Trace) -> None:
    assert Results(empty_trace).get(WorkerUpkeep) == WorkerUpkeep(None, None)


def converted(types: str, *, step: bool = True, called: bool = False) -> WidenedCopies:
    """Two samples of 131,072 bytes made floats, and a copy of both; the types are the trace's first text."""
    builder = TraceBuilder()
    builder._name(types)
    if step:
        builder.step(0, 1000)
    for at in (0, 100):
        builder.operator("aten::copy_", at, 40, dims="[[131072], [131072], []]", types=types)
        if called:
            builder.call("cudaMemcpyAsync", at + 5, 10)
    return Results(builder.copy("h2d", 215, 200, bytes=1 << 20, launch_at_us=212).build()).get(WidenedCopies)


def test_conversions_in_steps_count() -> None:
    widened = '["float", "unsigned char", "Bool"]'
    found = converted(widened)
    assert (found.shapes, len(found.copies), found.from_type, found.to_type) == (True, 1, "unsigned char", "float")
    assert found.narrower.tolist() == [0.25]
    assert found.conversions.starts.tolist() == [0, 100_000]
    assert len(converted(widened, step=False).copies) == 0
    assert len(converted(widened, called=True).copies) == 0  # that is a copy itself
    assert len(converted('["unsigned char", "float", "Bool"]').copies) == 0
    assert len(converted('["float", "int", "Bool"]').copies) == 0


def test_a_device_is_judged_by_its_own_events() -> None:
    builder = TraceBuilder().kernel("a", 0, 30, device=0).kernel("b", 10, 50, device=1).kernel("c", 70, 30, device=1)
    builder.copy("h2d", 100, 10, bytes=500, host_memory="pinned", device=1)
    builder.copy("h2d", 110, 10, bytes=0, host_memory="pageable", device=1)
    first, second = Results(builder.copy("p2p", 120, 5, bytes=7, device=1).build()).get(DeviceActivity).devices
    assert (first.kernels, first.busy_ns, first.idle_ns, first.busy_share) == (1, 30_000, 95_000, 0.24)
    assert (second.kernels, second.kernel_ns, second.busy_ns) == (2, 80_000, 105_000)
    assert second.compute.total_ns == 80_000
    h2d = second.h2d
    assert (h2d.count, h2d.bytes, h2d.ns, h2d.pageable, h2d.pinned, h2d.unknown) == (2, 500, 20_000, 1, 1, 0)
    assert (second.other.count, second.other.bytes, second.d2h.count, first.h2d.count) == (1, 7, 0, 0)


@pytest.mark.parametrize(("first_us", "warm_up"), [(200, 0), (201, 1)])
def test_a_first_step_of_more_than_twice_the_median_is_warm_up(first_us: int, warm_up: int) -> None:
    builder = TraceBuilder().operator("aten::mm", 0, first_us).step(0, first_us)
    for number in range(9):
        builder.step(first_us + 100 * number, 100).operator("aten::mm", first_us + 100 * number, 100)
    results = Results(builder.build())
    assert results.get(StartUp).warm_up_steps == warm_up
    assert results.get(StepTime).count == 10


def chained(kernels: int) -> int:
    builder = TraceBuilder()
    for number in range(kernels):
        builder.operator("aten::add", 20 * number, 15)
        builder.kernel("vectorized_elementwise_kernel<4>", 20 * number + 5, 10, launch_at_us=20 * number)
    builder.operator("aten::addmm", 200, 15).kernel("gemm", 205, 50, launch_at_us=200)
    return Results(builder.build()).get(PointwiseChains).count


def test_three_kernels_are_a_chain() -> None:
    assert (chained(2), chained(3)) == (0, 1)


@pytest.mark.parametrize(("for_us", "small"), [(9.9, 0.5), (10, 0.0)])
def test_a_kernel_of_ten_microseconds_is_not_small(for_us: float, small: float) -> None:
    trace = TraceBuilder().kernel("a", 0, for_us).kernel("b", 100, 50).build()
    assert Results(trace).get(Kernels).small_share == small


@pytest.mark.parametrize(("number", "size", "many"), [(15, 4096, False), (16, 4096, True), (16, 64 << 10, False)])
def test_sixteen_copies_of_less_than_64_kib_are_many(number: int, size: int, many: bool) -> None:
    builder = TraceBuilder()
    for at in range(0, 5000, 1000):
        builder.step(at, 1000)
        for begin in range(at, at + 20 * number, 20):
            builder.copy("h2d", begin + 10, 2, bytes=size, launch_at_us=begin + 5)
        builder.kernel("gemm", at + 500, 400, launch_at_us=at + 450)
    found = Results(builder.build()).get(SmallCopies)
    assert found.many is many
    assert found.count == (0 if size == 64 << 10 else 5 * number)


def test_bytes_copied_and_allocated_are_summed_by_line() -> None:
    """The second copy's size is not known."""
    builder = TraceBuilder().operator("aten::to", 0, 100).line(1, 0).line(2, 50)
    builder.copy("h2d", 10, 5, bytes=300, launch_at_us=5).copy("h2d", 20, 5, bytes=-1, launch_at_us=15)
    builder.copy("d2h", 70, 5, bytes=40, launch_at_us=60)
    table = Results(builder.memory(55, 64).memory(56, -64).build()).get(LineCosts).table
    assert table["h2d_bytes"].tolist() == [300, 0]
    assert table["d2h_bytes"].tolist() == [0, 40]
    assert table["device_ns"].tolist() == [10_000, 5_000]


def growing(*levels: int) -> MemoryGrowth:
    readings = StepMemory(
        device=0,
        step=tuple(range(1, len(levels) + 1)),
        time_ns=tuple(1000 * number for number in range(1, len(levels) + 1)),
        allocated_bytes=levels,
        reserved_bytes=(GIB,) * len(levels),
    )
    return Results(run(step_memory=(readings,), allocators=(allocator(10, 11),)).build()).get(MemoryGrowth)


def test_growth_is_that_of_the_steps_after_the_first_two() -> None:
    """Six levels count, from 200 on: +10 each but for one."""
    found = growing(0, 500, 200, 210, 220, 220, 230, 240)
    assert (found.levels, found.per_step_bytes, found.rising_share, found.grown_bytes) == (6, 10, 0.8, 40)
    assert (found.from_ns, found.to_ns, found.free_bytes) == (3000, 8000, 6 * GIB)
    assert found.steps_until_full == 6 * GIB // 10
    assert growing(0, 500, 200).per_step_bytes is None
    assert growing(0, 500, 200, 200, 200).steps_until_full is None


def test_of_longer_runs_the_first_half_is_warm_up() -> None:
    assert (growing(*range(11)).levels, growing(*range(12)).levels) == (9, 6)


def test_optimizers_that_take_turns_make_one_step() -> None:
    """Two that step as often: +40 from turn to turn, whoever of them steps."""
    levels = [0, 0, 0, 30, 40, 70, 80, 110]
    readings = StepMemory(
        device=0,
        step=tuple(range(8)),
        time_ns=tuple(range(8)),
        allocated_bytes=tuple(levels),
        reserved_bytes=(GIB,) * 8,
    )
    optimizers = tuple(Optimizer(name="SGD", parameters=1, elements=1, steps=steps) for steps in (4, 4))
    builder = run(step_memory=(readings,), allocators=(allocator(10, 11),), optimizers=optimizers)
    found = Results(builder.build()).get(MemoryGrowth)
    assert (found.levels, found.per_step_bytes, found.rising_share) == (6, 20, 1.0)


def walks(turns: int) -> list[int]:
    """A loop over one dimension, with a product in each turn; the turns of the loops found."""
    builder = TraceBuilder().step(0, 10_000).operator("aten::mean", 0, 1)
    for turn in range(turns):
        at = 100 + 20 * turn
        builder.operator("aten::select", at, 5, dims="[[32, 8], [], []]", values=f'["", "0", "{turn}"]')
        builder.operator("aten::mm", at + 10, 5)
    builder.operator("aten::sum", 9_990, 5)
    return [run.turns for loop in Results(builder.build()).get(PythonLoops).loops for run in loop.runs]


def test_ten_turns_are_a_loop() -> None:
    assert (walks(9), walks(10)) == ([], [10])


def shaped(kinds: int, steps: int = 8) -> bool:
    """Convolutions of so many grids, one a step in turn."""
    builder = TraceBuilder()
    for number in range(steps):
        at = 1000 * number
        builder.step(at, 1000).operator("aten::cudnn_convolution", at, 20)
        blocks = 100 + number % kinds
        builder.kernel("implicit_convolve_sgemm", at, 400, launch_at_us=at, blocks=blocks, block_threads=128)
    return Results(builder.build()).get(Convolutions).fixed_shapes


def test_shapes_are_fixed_where_hardly_any_step_differs() -> None:
    assert shaped(1) and not shaped(8)
    assert shaped(1, steps=3) and not shaped(1, steps=2)


def test_what_is_not_there_changes_nothing(empty_trace: Trace) -> None:
    results = Results(replace(empty_trace))
    assert results.get(PythonLoops).loops == ()
    assert results.get(DeviceActivity).primary is None
    assert results.get(ConvolutionBiases).adding.tolist() == []
