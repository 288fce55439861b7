"""Tensors filled on the host and copied."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch.profiler import ProfilerActivity, profile

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.transfers.host_fills import _FILLS, HostFills, _shapes_inside
from gpuprof.ingest.load import load_trace
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder


def _copied(builder: TraceBuilder, dims: str | None) -> HostFills:
    builder.step(0, 100).operator("aten::zeros", 0, 20, dims=dims and "[[], []]")
    builder.operator("aten::zero_", 5, 10, dims=dims and "[[8, 4]]")
    builder.operator("aten::to", 25, 15, dims=dims).operator("aten::copy_", 26, 13)
    return Results(builder.copy("h2d", 30, 8, launch_at_us=27, launch_for_us=2).build()).get(HostFills)


def test_the_same_shape_makes_it_sure() -> None:
    fills = _copied(TraceBuilder().kernel("gemm", 0, 10), "[[8, 4], []]")
    assert (len(fills.copies), fills.names, len(fills.unsure), fills.habit) == (1, ("aten::zeros",), 0, True)
    assert fills.cost.total_ns == 30_000


def test_another_shape_is_another_tensor() -> None:
    fills = _copied(TraceBuilder(), "[[4, 8], []]")
    assert (len(fills.copies), len(fills.unsure), fills.habit) == (0, 0, False)


def test_without_shapes_nothing_is_sure() -> None:
    fills = _copied(TraceBuilder(), None)
    assert (len(fills.copies), len(fills.unsure)) == (0, 1)
    assert fills.unsure_cost.total_ns == 40_000


def test_what_a_loader_does_is_its_own_affair() -> None:
    fills = _copied(TraceBuilder().data_wait(0, 24), "[[8, 4], []]")
    assert not len(fills.copies)


def test_nothing_recorded_gives_nothing(empty_trace: Trace) -> None:
    assert not len(Results(empty_trace).get(HostFills).copies)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    path: Path = tmp_path_factory.mktemp("fills") / "fills.json"
    like = torch.empty(7, 5)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as recording:
        for name in _FILLS:
            arguments = {"randint": (9, (7, 5)), "full": ((7, 5), 2.0)}.get(name, (7, 5))
            getattr(torch, name)(*((like,) if name.endswith("_like") else arguments))
    recording.export_chrome_trace(str(path))
    return load_trace(path)


@pytest.mark.parametrize("name", _FILLS)
def test_torch_shows_the_shape_inside(recorded: Trace, name: str) -> None:
    """What the rule relies on, as this torch records it."""
    operators = recorded.operators
    named = recorded.names_of(operators) == f"aten::{name}"
    (row,) = np.flatnonzero(named & (operators["parent"] < 0))
    assert (7, 5) in _shapes_inside(recorded, int(row))
