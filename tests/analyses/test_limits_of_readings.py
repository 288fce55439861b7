"""Where an analysis of memory, power, compiling or growing tensors draws a line: just inside and just beyond."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.compile_events import CompileEvents
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.kernels.float64_operators import LEAST_ELEMENTS, Float64Operators
from gpuprof.analyses.loops.grown_tensors import LEAST_TURNS, GrownTensors
from gpuprof.analyses.memory.kept_graphs import KeptGraphs
from gpuprof.analyses.memory.memory_growth import FROM_READINGS, MemoryGrowth
from gpuprof.analyses.memory.memory_peak import NEGLIGIBLE_BYTES, MemoryPeak
from gpuprof.model.context import Cell
from gpuprof.model.memory import HeldTensors
from tests.analyses.device.test_device_energy import energy, ramp
from tests.analyses.memory.test_memory_growth import readings, rows
from tests.support.trace_builder import TraceBuilder


@pytest.mark.parametrize(("size", "known"), [(NEGLIGIBLE_BYTES - 1, False), (NEGLIGIBLE_BYTES, True)])
def test_little_memory_of_the_host_beside_a_device(size: int, known: bool) -> None:
    builder = TraceBuilder().kernel("k", 0, 10).memory(1, size, device=None)
    assert (Results(builder.build()).get(MemoryPeak).host is not None) is known
    alone = TraceBuilder().operator("aten::mm", 0, 10).memory(1, 16, device=None)
    assert Results(alone.build()).get(MemoryPeak).host is not None


@pytest.mark.parametrize(("reserved", "known"), [(-1, None), (0, None), (1, 1)])
def test_nothing_reserved_is_not_known(reserved: int, known: int | None) -> None:
    builder = TraceBuilder().kernel("k", 0, 10).memory(1, 8, allocated=8, reserved=reserved)
    (use,) = Results(builder.build()).get(MemoryPeak).devices
    assert use.peak_reserved_bytes == known


@pytest.mark.parametrize(("count", "levels"), [(3, 0), (4, 2), (11, 9), (12, 6), (13, 7)])
def test_the_warm_up_of_readings(count: int, levels: int) -> None:
    """Two, and half of them from twelve on; fewer than four tell nothing."""
    found = Results(readings([100 * number for number in range(count)]).build()).get(MemoryGrowth)
    assert found.levels == levels
    assert (found.source == FROM_READINGS) is (levels > 0)


@pytest.mark.parametrize(("count", "levels"), [(3, 1), (4, 2), (12, 10), (13, 6)])
def test_the_warm_up_of_rows(count: int, levels: int) -> None:
    """The first step is left out before; twelve others are many."""
    assert Results(rows([1000 + 10 * number for number in range(count)]).build()).get(MemoryGrowth).levels == levels


@pytest.mark.parametrize(("graphs", "held"), [(1, False), (2, True)])
def test_a_holder_has_two_graphs(graphs: int, held: bool) -> None:
    tensors = (HeldTensors(name="losses", kind="global", device="cuda:0", bytes=1, tensors=graphs, graphs=graphs),)
    builder = TraceBuilder().operator("aten::mm", 0, 1).context(held=tensors, cell=Cell(source="x = 1"))
    assert bool(Results(builder.build()).get(KeptGraphs).holders) is held


@pytest.mark.parametrize(("graphs", "each"), [(8, False), (9, True), (10, True)])
def test_nine_graphs_in_ten_steps_are_one_of_each(graphs: int, each: bool) -> None:
    found = KeptGraphs((), (), {"losses": graphs}, ())
    assert bool(found.keeping_each(10)) is each and not found.keeping_each(0)


@pytest.mark.parametrize(("size", "found"), [(LEAST_ELEMENTS - 1, 0), (LEAST_ELEMENTS, 1)])
def test_a_small_tensor_of_double_does_not_count(size: int, found: int) -> None:
    builder = TraceBuilder().operator("aten::sum", 0, 10, dims=f"[[{size}]]", types='["double"]')
    assert len(Results(builder.build()).get(Float64Operators).operators) == found


@pytest.mark.parametrize(("turns", "span_us", "known"), [(10, 10_000, False), (9, 10_000, True), (10, 10_001, True)])
def test_cats_of_which_nothing_is_known_may_be_few_or_cheap(turns: int, span_us: float, known: bool) -> None:
    """Without shapes and source: ten of 10 µs are a hundredth of 10 ms."""
    builder = TraceBuilder().operator("aten::mm", span_us - 1, 1)
    for turn in range(turns):
        builder.operator("aten::cat", 20 * turn, 10)
    assert Results(builder.build()).get(GrownTensors).known is known
    assert LEAST_TURNS == 10


@pytest.mark.parametrize(("begins", "compiles"), [(190, 0), (200, 1)])
def test_compiling_in_the_first_two_steps_is_no_recompiling(begins: float, compiles: int) -> None:
    builder = TraceBuilder()
    for number in range(4):
        builder.step(100 * number, 100)
    builder.operator("_compile.compile_inner (dynamo_timed)", begins, 5)
    found = Results(builder.build()).get(CompileEvents)
    assert (found.steps, found.count, found.steps_with, found.compiles.total_ns) == (
        2,
        compiles,
        compiles,
        5000 * compiles,
    )


@pytest.mark.parametrize(("until", "known"), [(0.9, True), (0.899, False)])
def test_readings_cover_nine_tenths_of_the_steps(until: float, known: bool) -> None:
    """The last reading at that part of the second."""
    builder = ramp(100, 100).build()
    assert energy(builder).joules == pytest.approx(100)
    short = TraceBuilder().context(sampling=builder.context.sampling).step(0, 1_000_000)
    short.kernel("gemm", 0, 500_000, launch_at_us=0).sample(0, power_mw=100_000)
    short.sample(until * 1_000_000, power_mw=100_000)
    assert (energy(short.build()).joules is not None) is known


@pytest.mark.parametrize(("distance", "known"), [(1_000_000, True), (1_000_001, False)])
def test_a_second_without_a_reading_is_the_most(distance: float, known: bool) -> None:
    first = ramp(100, 100).build()
    builder = TraceBuilder().context(sampling=first.context.sampling).step(0, 1_000_000)
    builder.kernel("gemm", 0, 500_000, launch_at_us=0).sample(0, power_mw=100_000)
    assert (energy(builder.sample(distance, power_mw=100_000).build()).joules is not None) is known
