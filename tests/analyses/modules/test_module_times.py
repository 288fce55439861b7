"""Time by module: from marks, frames and ranges; forward and backward; sums that agree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.modules.module_spans import ModuleSource, ModuleSpans
from gpuprof.analyses.modules.module_times import ModuleTime, ModuleTimes
from gpuprof.analyses.modules.nested_spans import NestedSpans
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.marked_modules import MarkedModules
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder

NODE = "autograd::engine::evaluate_function: "


def times(trace: Trace) -> dict[str, ModuleTime]:
    return {".".join(each.path): each for each in Results(trace).get(ModuleTimes).times}


def check(trace: Trace) -> None:
    """What holds on every trace."""
    found = Results(trace).get(ModuleTimes)
    paths = {each.path: each for each in found.times}
    assert len(paths) == len(found.times)
    assert sum(each.own_host_ns for each in found.times) == found.covered_ns
    assert sum(each.host_ns for each in found.roots) == found.covered_ns
    for each in found.times:
        below = [other for other in found.times if other.path[:-1] == each.path]
        assert each.own_host_ns + sum(other.host_ns for other in below) == each.host_ns
        assert 0 <= each.backward_host_ns <= each.host_ns and each.own_host_ns >= 0
        assert all(other.host_ns <= each.host_ns for other in below)
        if each.device_ns is not None and found.device_ns is not None:
            assert each.own_device_ns + sum(other.device_ns for other in below) == each.device_ns <= found.device_ns
            assert 0 <= each.backward_device_ns <= each.device_ns
        else:
            assert each.device_share is None and each.own_device_ns is None
        assert len(each.path) == 1 or each.path[:-1] in paths
    if found.source in (ModuleSource.CALLS, ModuleSource.FRAMES):
        covered_at_least(trace, found)


def covered_at_least(trace: Trace, found: ModuleTimes) -> None:
    """All forward calls, each thread by itself, are covered."""
    spans = Results(trace).get(ModuleSpans).spans
    union_ns = 0
    for thread in set(spans.thread.tolist()):
        mine = spans.thread == thread
        union_ns += intervals.union(Intervals(spans.start_ns[mine], spans.end_ns[mine])).total_ns
    assert union_ns <= found.covered_ns


def training() -> TraceBuilder:
    """One step of `Net(a, layers.0)`: forward 0 to 100 µs, backward on another thread."""
    return (
        TraceBuilder()
        .operator("aten::zeros", 0, 1)
        .module("Net", 10, 90)
        .module("Net.a", 20, 30, kind="Linear")
        .operator("aten::linear", 25, 10, sequence=1)
        .kernel("forward_a", 40, 8, launch_at_us=30, launch_for_us=2)
        .module("Net.layers.0", 60, 20, kind="Linear")
        .operator("aten::linear", 62, 10, sequence=2)
        .kernel("forward_0", 80, 4, launch_at_us=65, launch_for_us=2)
        .kernel("of_net", 90, 2, launch_at_us=85, launch_for_us=2)
        .thread("autograd")
        .operator(f"{NODE}AddmmBackward0", 110, 20, sequence=2, forward_thread=1)
        .operator("AddmmBackward0", 112, 16, sequence=2, forward_thread=1)
        .kernel("backward_0", 125, 6, launch_at_us=115, launch_for_us=2)
        .operator(f"{NODE}AddmmBackward0", 130, 30, sequence=1, forward_thread=1)
        .kernel("backward_a", 150, 16, launch_at_us=135, launch_for_us=2)
        .operator(f"{NODE}torch::autograd::AccumulateGrad", 160, 10)
        .kernel("accumulate", 168, 1, launch_at_us=165, launch_for_us=2)
        .operator("aten::zeros", 199, 1)
        .thread("main")
    )


def test_forward_and_backward_count_for_the_module_that_made_them() -> None:
    trace = training().build()
    found = times(trace)
    assert list(found) == ["Net", "Net.a", "Net.layers", "Net.layers.0"]
    net, a, layers, inner = found.values()
    assert (a.own_host_ns, a.host_ns, a.backward_host_ns) == (60_000, 60_000, 30_000)
    assert (inner.host_ns, inner.backward_host_ns, layers.host_ns, layers.own_host_ns) == (40_000, 20_000, 40_000, 0)
    assert (net.own_host_ns, net.host_ns) == (40_000, 140_000)
    assert (a.device_ns, a.backward_device_ns) == (24_000, 16_000)
    assert (inner.device_ns, inner.backward_device_ns) == (10_000, 6_000)
    assert (net.device_ns, net.own_device_ns) == (36_000, 2_000)
    assert net.device_share == pytest.approx(36 / 37) and net.host_share == pytest.approx(140 / 200)
    assert (net.calls, layers.calls, inner.calls) == (1, 0, 1)
    assert (net.kind, layers.kind, inner.kind) == ("Net", "", "Linear")
    assert net.grown_bytes is None
    check(trace)


def test_a_recomputed_forward_pass_counts_as_backward() -> None:
    """A checkpoint runs the module again on autograd's thread, inside the node that it made."""
    trace = (
        TraceBuilder()
        .module("Net", 0, 50)
        .module("Net.a", 10, 20)
        .operator("CheckpointFunction", 5, 40, sequence=1)
        .thread("autograd")
        .operator(f"{NODE}CheckpointFunctionBackward", 100, 60, sequence=1, forward_thread=1)
        .module("Net.a", 110, 30)
        .build()
    )
    found = times(trace)
    assert found["Net.a"].host_ns == 50_000 and found["Net.a"].backward_host_ns == 30_000
    assert found["Net"].backward_host_ns == 60_000 and found["Net.a"].calls == 2
    check(trace)


def test_a_shared_module_counts_where_its_caller_is() -> None:
    trace = (
        TraceBuilder()
        .module("Net", 0, 100)
        .module("Net.a", 0, 40)
        .module("Net.a.shared", 5, 10, kind="Linear", shared=("Net.b.shared",))
        .module("Net.b", 50, 40)
        .module("Net.a.shared", 55, 20, kind="Linear", shared=("Net.b.shared",))
        .build()
    )
    found = times(trace)
    assert found["Net.a.shared"].host_ns == 10_000 and found["Net.b.shared"].host_ns == 20_000


def test_a_module_that_is_gone_stands_below_its_caller_by_class() -> None:
    trace = (
        TraceBuilder()
        .module("", 0, 50, kind="Block")
        .module("", 10, 5, kind="Linear")
        .module("", 20, 5, kind="Linear")
        .build()
    )
    found = times(trace)
    assert list(found) == ["Block", "Block.Linear"] and found["Block.Linear"].calls == 2


def test_calls_in_a_time_without_marks_are_left_out_and_shares_scaled() -> None:
    trace = training().build()
    marked = trace.context.modules
    assert marked is not None
    narrowed = MarkedModules(start_ns=0, end_ns=200_000, modules=marked.modules, gaps_ns=((150_000, 200_000),))
    context: Any = type(trace.context)(modules=narrowed)
    found = Results(replace(trace, context=context)).get(ModuleTimes)
    assert found.marked_share == 0.75
    assert found.times[0].host_share == pytest.approx(140 / 200 / 0.75)
    broken = MarkedModules(start_ns=0, end_ns=200_000, modules=marked.modules, gaps_ns=((70_000, 75_000),))
    context = type(trace.context)(modules=broken)
    left = Results(replace(trace, context=context)).get(ModuleTimes)
    assert [each.calls for each in left.times] == [0, 1]


def test_memory_is_what_forward_calls_allocate_less_what_they_release() -> None:
    trace = (
        training()
        .memory(30, 1000)
        .memory(31, -200)
        .memory(70, 50)
        .memory(86, 7)
        .memory(5, 1)
        .memory(30, 9, device=None)
    )
    found = times(trace.build())
    assert found["Net.a"].grown_bytes == 800 and found["Net"].grown_bytes == 857
    assert found["Net.layers"].grown_bytes == 50


def test_modules_in_frames_are_numbered_by_class() -> None:
    trace = (
        TraceBuilder()
        .frame("nn.Module: Net_0", 0, 100)
        .frame("model.py(3): forward", 5, 90)
        .frame("nn.Module: Linear_0", 10, 20)
        .frame("nn.Module: Linear_1", 40, 20)
        .thread("autograd")
        .frame("nn.Module: Linear_1", 200, 5)
        .build()
    )
    found = Results(trace).get(ModuleTimes)
    assert found.source is ModuleSource.FRAMES
    assert [each.path for each in found.times] == [("Net_0",), ("Net_0", "Linear_0"), ("Net_0", "Linear_1")]
    assert [each.kind for each in found.times] == ["Net", "Linear", "Linear"]
    assert found.times[2].calls == 2 and found.times[2].host_ns == 25_000
    assert found.device_ns is None and found.times[0].device_ns is None
    check(trace)


def test_ranges_of_the_program_stand_in_where_no_module_is_known() -> None:
    trace = (
        TraceBuilder()
        .span("ProfilerStep#1", 0, 100)
        .span("encoder", 10, 50)
        .span("attention", 20, 10)
        .span("Optimizer.step#SGD.step", 70, 10)
        .span("nccl:all_reduce", 85, 5)
        .build()
    )
    found = Results(trace).get(ModuleTimes)
    assert found.source is ModuleSource.RANGES
    assert [each.path for each in found.times] == [("encoder",), ("encoder", "attention")]


def test_without_modules_there_is_nothing(empty_trace: Trace) -> None:
    for trace in (empty_trace, TraceBuilder().operator("aten::mm", 0, 10).span("ProfilerStep#1", 0, 10).build()):
        found = Results(trace).get(ModuleTimes)
        assert found.source is None and found.times == () and found.covered_ns == 0


CALLS = st.lists(
    st.tuples(
        st.sampled_from(["main", "other"]),
        st.sampled_from(["Net", "Net.a", "Net.a.0", "Net.layers.0", "Net.layers.1", "Other", ""]),
        st.integers(0, 100),
        st.integers(0, 50),
    ),
    max_size=12,
)
WORK = st.lists(
    st.tuples(
        st.sampled_from(["main", "other"]), st.integers(0, 150), st.integers(1, 20), st.integers(-1, 4), st.booleans()
    ),
    max_size=12,
)


def _cross(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether they overlap, and neither is within the other."""
    (first, second) = sorted((one, other), key=lambda each: (each[0], -each[1]))
    return first[0] < second[0] < first[1] < second[1]


@given(CALLS, WORK)
@example([("main", "Net", 0, 1), ("main", "Net", 91, 3)], [("main", 0, 1, 0, False), ("main", 90, 2, 0, True)])
def test_sums_agree(calls: list[tuple[str, str, int, int]], work: list[tuple[str, int, int, int, bool]]) -> None:
    builder = TraceBuilder()
    builder.thread("main").operator("aten::zeros", 0, 1)
    for thread, path, at, length in calls:
        builder.thread(thread).module(path, at, length, kind="" if path else "Gone")
    for thread, at, length, sequence, node in work:
        # on one thread a call that begins within a node ends within it
        spans = [(begin, begin + took) for on, _, begin, took in calls if on == thread]
        if node and any(_cross((at, at + length), each) for each in spans):
            continue
        name = f"{NODE}MmBackward0" if node else "aten::mm"
        builder.thread(thread).operator(name, at, length, sequence=sequence, forward_thread=int(node))
        builder.kernel("gemm", at + 10, 5, launch_at_us=at, launch_for_us=1)
    check(builder.build())


def test_every_recording_adds_up(any_shared_trace: Trace) -> None:
    check(any_shared_trace)
    found = Results(any_shared_trace).get(ModuleTimes)
    assert found.marked_share == 1.0
    assert isinstance(Results(any_shared_trace).get(ModuleSpans).spans, NestedSpans)


def test_the_attention_of_a_vision_model_is_found(shared_trace: Any) -> None:
    """Its encoder's attention holds most of the device's time: 90 % of it, in 24 layers."""
    found = times(shared_trace("h100-owlv2-dataloader-stacks"))
    attention = [each for path, each in found.items() if "VisionTransformer" in path and each.kind == "Owlv2Attention"]
    assert len(attention) == 24
    assert sum(each.device_share or 0 for each in attention) == pytest.approx(0.90, abs=0.01)
