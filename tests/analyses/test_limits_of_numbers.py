"""How many things an analysis looks at or names, how far clocks disagree: the last that counts, and one more."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.kernels.pointwise_chains import PointwiseChains
from gpuprof.analyses.loading.input_pipeline import HANDED_OVER_NS, InputPipeline
from gpuprof.analyses.loops.loop_cost import LoopCosts
from gpuprof.analyses.loops.python_loops import PythonLoops
from gpuprof.analyses.run.device_idle import LAUNCH_LATENCY_LIMIT_NS, DeviceIdle
from gpuprof.analyses.run.launches import CLOCK_TOLERANCE_NS, Launches
from gpuprof.analyses.training.host_gaps import HostGaps
from tests.support.trace_builder import TraceBuilder


def of(builder: TraceBuilder, kind: Any) -> Any:
    """That analysis of that run."""
    return Results(builder.build()).get(kind)


@pytest.mark.parametrize(("early_ns", "number"), [(CLOCK_TOLERANCE_NS, 0), (CLOCK_TOLERANCE_NS + 1, 1)])
def test_kernels_that_begin_before_their_launch(early_ns: int, number: int) -> None:
    assert CLOCK_TOLERANCE_NS == 10_000
    found = of(TraceBuilder().kernel("k", 100 - early_ns / 1000, 5, launch_at_us=100), Launches)
    assert (found.kernels_before_launch, found.clock_ok) == (number, number == 0)


def test_a_kernel_is_launched_for_a_tenth_of_a_millisecond_at_most() -> None:
    """Its launch takes 5 µs and ends at 105; what comes after 205 is for no known reason."""
    builder = TraceBuilder().kernel("k", 0, 100).kernel("k", 300, 5, launch_at_us=100)
    parts = of(builder, DeviceIdle).parts
    assert LAUNCH_LATENCY_LIMIT_NS == 100_000
    assert (parts["idle_launch"].starts.tolist(), parts["idle_launch"].ends.tolist()) == ([100_000], [205_000])


def test_of_a_wait_for_workers_three_milliseconds_may_be_handing_over() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 1).data_wait(10, 6000, workers=2).operator("aten::mm", 7000, 9)
    found = of(builder, InputPipeline)
    assert HANDED_OVER_NS == 3_000_000 and found.handover_share == 0.5


@pytest.mark.parametrize(("operators", "loops"), [(48, 1), (49, 0)])
def test_the_longest_turn_of_a_loop(operators: int, loops: int) -> None:
    """Ten turns; every operator of a turn has another name."""
    builder = TraceBuilder()
    for at in range(10 * operators):
        builder.operator(f"aten::op{at % operators}", 10 * at, 5)
    assert len(of(builder, PythonLoops).loops) == loops


@pytest.mark.parametrize("loops", [9, 10, 11])
def test_the_cost_of_ten_loops_is_told(loops: int) -> None:
    builder, now = TraceBuilder(), 0
    for loop in range(loops):
        for _ in range(10):
            builder.operator("aten::select", now, 5).operator(f"aten::op{loop}", now + 10, 5)
            now += 20
    found = Results(builder.step(0, now).build())
    assert len(found.get(PythonLoops).loops) == loops
    assert len(found.get(LoopCosts).costs) == min(loops, 10)


@pytest.mark.parametrize("gaps", [20, 21])
def test_the_twenty_longest_gaps_are_looked_at(gaps: int) -> None:
    """The shortest, which comes first, is left out of 21."""
    builder, now = TraceBuilder().step(0, 50), 50.0
    begin = now
    for number in range(gaps):
        builder.kernel("k", now + 1, 9, launch_at_us=now)
        length = 1001 + number
        builder.frame("update", now + 10, length)
        now += 10 + length
    builder.step(begin, now + 20 - begin).kernel("k", now + 1, 9, launch_at_us=now)
    found = of(builder, HostGaps)
    lengths = sorted((found.gaps.ends - found.gaps.starts).tolist())
    assert len(lengths) == gaps and found.functions == (("update", sum(lengths[-20:])),)


@pytest.mark.parametrize("kernels", [4, 5, 6])
def test_five_operators_of_a_chain_are_named(kernels: int) -> None:
    builder = TraceBuilder()
    for at in range(kernels):
        builder.operator(f"aten::op{at}", 20 * at, 15)
        builder.kernel("vectorized_elementwise_kernel", 20 * at + 8, 5, launch_at_us=20 * at + 2)
    found = of(builder, PointwiseChains)
    assert found.operators == tuple(f"aten::op{at}" for at in range(min(kernels, 5)))
