"""Long idle time whose cause is the host."""

from __future__ import annotations

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.training.host_gaps import HostGaps
from gpuprof.model.context import Garbage
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder


def _steps() -> TraceBuilder:
    """Three steps of 10 ms whose kernel comes after 4 ms, of which 1 ms is an operator on the CPU."""
    builder = TraceBuilder()
    for at in range(0, 30_000, 10_000):
        builder.step(at, 10_000).operator("aten::sort", at + 1000, 1000)
        builder.kernel("gemm", at + 4000, 6000, launch_at_us=at + 4000)
    return builder.operator("aten::empty", 0, 1)


def test_gaps_are_split_into_python_and_operators_and_leave_out_the_first_step() -> None:
    gaps = Results(_steps().build()).get(HostGaps)
    assert (gaps.steps, gaps.steps_with, gaps.gaps.total_ns) == (2, 2, 8_000_000)
    assert (gaps.python_ns, gaps.operators_ns) == (6_000_000, 2_000_000)
    assert gaps.operators == (("aten::sort", 2_000_000),)
    assert (gaps.functions, gaps.cpu_percent) == ((), None)


def test_time_with_a_cause_of_its_own_is_taken_out() -> None:
    """GIVEN a garbage collection that leaves less than 1 ms of one gap on either side."""
    garbage = Garbage(start_ns=(10_900_000,), duration_ns=(2_200_000,), generation=(2,))
    gaps = Results(_steps().context(garbage=garbage).build()).get(HostGaps)
    assert (gaps.steps_with, gaps.gaps.total_ns) == (1, 4_000_000)


def test_stacks_name_the_innermost_function() -> None:
    builder = _steps().frame("loop.py(1): train", 0, 30_000)
    for at in (10_000, 20_000):
        builder.frame("loop.py(9): metric", at + 100, 3000)
    assert Results(builder.build()).get(HostGaps).functions == (("loop.py(9): metric", 8_000_000),)


def test_readings_of_the_process_count_inside_the_steps() -> None:
    builder = _steps().host_sample(5_000, cpu_percent=10).host_sample(15_000, cpu_percent=90)
    assert Results(builder.host_sample(25_000, cpu_percent=100).build()).get(HostGaps).cpu_percent == 95


def test_nothing_recorded_gives_nothing(empty_trace: Trace) -> None:
    gaps = Results(empty_trace).get(HostGaps)
    assert (gaps.steps, gaps.gaps.total_ns, gaps.cpu_percent) == (0, 0, None)


def test_without_a_device_gaps_lie_beside_training() -> None:
    """Steps of 10 ms: forward and backward until 4 ms, then Python for 5 ms and an operator for 1 ms."""
    builder = TraceBuilder().operator("aten::empty", 0, 1)
    for number, at in enumerate(range(0, 30_000, 10_000)):
        builder.step(at, 10_000).operator("aten::linear", at, 2000, sequence=number)
        builder.operator("autograd::engine::evaluate_function: AddmmBackward0", at + 2000, 2000, sequence=number)
        builder.operator("aten::sort", at + 9000, 1000)
    gaps = Results(builder.build()).get(HostGaps)
    assert (gaps.steps, gaps.steps_with, gaps.gaps.total_ns) == (2, 2, 12_000_000)
    assert (gaps.python_ns, gaps.operators_ns) == (10_000_000, 2_000_000)
