"""Which operator made a node: built cases, what torch records, and Kineto's own arrows."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.checkpoint import checkpoint

from gpuprof.analyses.basics.graph_joins import makers
from gpuprof.ingest.load import load_trace
from gpuprof.model.trace import Trace
from tests.support.shared import shared_file
from tests.support.trace_builder import TraceBuilder

NODE = "autograd::engine::evaluate_function: "


def joins(trace: Trace) -> dict[str, str | None]:
    """The name and number of each node, and the name of its maker."""
    operators, found = trace.operators, makers(trace)
    names = trace.names_of(operators)
    return {
        f"{names[row].removeprefix(NODE)} {operators['sequence'][row]}": names[maker] if maker >= 0 else None
        for row, maker in enumerate(found.tolist())
        if names[row].startswith(NODE) and operators["sequence"][row] >= 0
    }


def test_an_operator_without_a_graph_carries_the_number_of_the_next_but_made_no_node() -> None:
    """GIVEN two operators without a graph, then a product within a linear, all with the number 4."""
    builder = TraceBuilder().operator("aten::normalize", 0, 10, sequence=4).operator("aten::add", 10, 5, sequence=4)
    builder.operator("aten::linear", 20, 20, sequence=4).operator("aten::t", 22, 5, sequence=4)
    builder.operator("aten::addmm", 30, 9, sequence=5).operator("aten::sum", 50, 5, sequence=6)
    builder.operator("aten::item", 60, 2, sequence=7)
    for number, name in ((6, "SumBackward0"), (5, "AddmmBackward0"), (4, "TBackward0")):
        builder.operator(NODE + name, 200 - number * 10, 8, sequence=number, forward_thread=1)
    assert joins(builder.build()) == {
        "SumBackward0 6": "aten::sum",
        "AddmmBackward0 5": "aten::addmm",
        "TBackward0 4": "aten::t",
    }


def test_a_number_that_no_operator_has_belongs_to_the_one_before() -> None:
    builder = TraceBuilder().operator("aten::select", 0, 5, sequence=17).operator("aten::mul_", 10, 5, sequence=18)
    builder.operator("aten::slice", 20, 5, sequence=21).operator(NODE + "CopySlices", 50, 5, sequence=19)
    assert joins(builder.build()) == {"CopySlices 19": "aten::mul_"}


def test_a_librarys_node_is_made_by_its_last_operator_without_a_number() -> None:
    """GIVEN a lookup of fbgemm's without a number, after a check that shares the node's number, then torch's own."""
    builder = TraceBuilder().operator("fbgemm::bounds_check", 0, 20).operator("aten::zero_", 2, 5, sequence=7)
    builder.operator("fbgemm::lookup", 30, 20).operator("aten::empty", 32, 3).operator("aten::empty", 55, 3)
    builder.operator("aten::cat", 60, 5, sequence=8).operator("fbgemm::sort", 70, 5)
    builder.operator(NODE + "torch::autograd::CppNode<Lookup>", 100, 9, sequence=7, forward_thread=1)
    assert joins(builder.build()) == {"torch::autograd::CppNode<Lookup> 7": "fbgemm::lookup"}
    alone = TraceBuilder().operator("aten::zero_", 2, 5, sequence=7).operator("aten::cat", 60, 5, sequence=8)
    alone.operator(NODE + "torch::autograd::CppNode<Lookup>", 100, 9, sequence=7, forward_thread=1)
    assert joins(alone.build()) == {"torch::autograd::CppNode<Lookup> 7": "aten::zero_"}


def test_a_node_that_was_made_before_the_recording_has_no_maker() -> None:
    builder = TraceBuilder().operator(NODE + "MulBackward0", 0, 5, sequence=3)
    assert joins(builder.operator("aten::mul", 10, 5, sequence=9).build()) == {"MulBackward0 3": None}
    assert joins(TraceBuilder().operator(NODE + "MulBackward0", 0, 5, sequence=3).build()) == {"MulBackward0 3": None}
    later = TraceBuilder().operator(NODE + "MulBackward0", 0, 5, sequence=3).operator("aten::mul", 10, 5, sequence=3)
    assert joins(later.build()) == {"MulBackward0 3": None}


def test_threads_count_apart() -> None:
    """GIVEN nodes with the same numbers that two threads made, run by one."""
    builder = TraceBuilder().thread("main").operator("aten::mul", 0, 5, sequence=1)
    builder.operator("aten::mul", 6, 5, sequence=2).thread("other")
    builder.operator("aten::exp", 0, 5, sequence=2).operator("aten::exp", 6, 5, sequence=3)
    builder.thread("autograd")
    for at, number, thread in ((50, 1, 1), (60, 2, 1), (70, 2, 4), (80, 3, 4)):
        name = f"{'Mul' if thread == 1 else 'Exp'}Backward0"
        builder.operator(NODE + name, at, 5, sequence=number, forward_thread=thread)
    assert joins(builder.build()) == {
        "MulBackward0 1": "aten::mul",
        "MulBackward0 2": "aten::mul",
        "ExpBackward0 2": "aten::exp",
        "ExpBackward0 3": "aten::exp",
    }


def test_of_two_threads_that_explain_as_much_the_main_one_made_them() -> None:
    builder = TraceBuilder().thread("other").operator("aten::exp", 0, 5, sequence=1)
    builder.thread("main").operator("aten::mul", 0, 5, sequence=1)
    builder.operator(NODE + "Backward0", 50, 5, sequence=1, forward_thread=9)
    trace = builder.build()
    main = trace.names_of(trace.operators)[int(np.flatnonzero(trace.operators["thread"] == trace.main_thread)[0])]
    assert joins(trace) == {"Backward0 1": main}


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3)), min_size=1, max_size=12))
def test_whatever_runs_before_an_operator_takes_none_of_its_nodes(made: list[tuple[int, int]]) -> None:
    """GIVEN makers of one to three nodes, each after up to three operators without a graph."""
    builder, number, at, expected = TraceBuilder(), 0, 0.0, []
    for idle, nodes in made:
        for _ in range(idle):
            builder.operator("aten::no_graph", at, 1, sequence=number)
            at += 2
        builder.operator("aten::maker", at, 1, sequence=number)
        expected += [at * 1000] * nodes
        number, at = number + nodes, at + 2
    builder.operator("aten::item", at, 1, sequence=number)
    for each in reversed(range(number)):
        at += 2
        builder.operator(NODE + "Node", at, 1, sequence=each, forward_thread=1)
    trace = builder.build()
    found = makers(trace)
    rows = np.flatnonzero(found >= 0)
    begins = trace.operators["start_ns"][found[rows[np.argsort(trace.operators["sequence"][rows])]]]
    assert begins.tolist() == expected


class _Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient * 2


def _without_a_graph() -> None:
    linear, x = torch.nn.Linear(4, 4), torch.randn(2, 4)
    with torch.no_grad():
        x = linear(x).relu()
    linear(x.div(3)).tanh().sum().backward()


def _own_function() -> None:
    _Doubled.apply(torch.ones(3, requires_grad=True).exp()).sum().backward()


def _changed_in_place() -> None:
    y = torch.ones(3, 3, requires_grad=True).clone()
    y[0].mul_(2)
    y.sum().backward()


def _made_again() -> None:
    linear = torch.nn.Linear(4, 4)
    checkpoint(lambda x: linear(x).relu(), torch.ones(2, 4).clone(), use_reentrant=False).sum().backward()


def _made_again_within_its_node() -> None:
    linear, x = torch.nn.Linear(4, 4), torch.ones(2, 4, requires_grad=True)
    checkpoint(lambda x: linear(x).relu(), x, use_reentrant=True).sum().backward()


def _on_two_threads() -> None:
    first, second = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
    other = threading.Thread(target=lambda: first(torch.ones(2, 4)).sum().backward())
    other.start()
    other.join()
    second(torch.ones(2, 4)).exp().sum().backward()


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        (_without_a_graph, ["sum", "tanh", "addmm", "t"]),
        (_own_function, ["sum", "_Doubled", "exp"]),
        (_changed_in_place, ["sum", "mul_", "clone"]),
        (_made_again, ["sum", "relu", "addmm", "t"]),
        (_made_again_within_its_node, ["sum", "CheckpointFunction", "relu", "addmm", "t"]),
        (_on_two_threads, ["sum", "exp", "addmm", "t"]),
    ],
)
def test_what_torch_records(work: Callable[[], None], expected: list[str], tmp_path: Path) -> None:
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        work()
    profiler.export_chrome_trace(str(tmp_path / "trace.json"))
    trace = load_trace(tmp_path / "trace.json")
    operators, found = trace.operators, makers(trace)
    names = trace.names_of(operators)
    rows = [row for row in np.flatnonzero(found >= 0) if names[row].startswith(NODE)]
    assert [names[found[row]].removeprefix("aten::") for row in rows] == expected


@pytest.mark.recordings
@pytest.mark.parametrize(
    ("name", "arrows"),
    [("gpu/mi300x-ddp-resnet18", 355), ("gpu/mi300x-resnet-checkpointing", 213), ("expert/a100-ddp-host-bound", 543)],
)
def test_it_agrees_with_the_arrows_of_the_profiler(name: str, arrows: int) -> None:
    """GIVEN the recordings with `fwdbwd` arrows: from the operator that made a node to the node."""
    path = shared_file(f"{name}.json.gz")
    whole = json.loads(gzip.decompress(path.read_bytes()), parse_float=Decimal)
    base, ends = int(whole.get("baseTimeNanoseconds", 0)), {}
    for event in whole["traceEvents"]:
        if event.get("cat") == "fwdbwd":
            ends[event["id"], event["ph"]] = base + int(event["ts"] * 1000)
    trace = load_trace(path)
    found, begins = makers(trace), trace.operators["start_ns"].tolist()
    joined = {(begins[maker], begins[node]) for node, maker in enumerate(found.tolist()) if maker >= 0}
    drawn = {(ends[key, "s"], ends[key, "f"]) for key, end in ends if end == "s"}
    assert len(drawn) == arrows
    assert drawn <= joined
