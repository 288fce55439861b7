"""Zeroed gradients and the additions to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.training.gradient_zeroing import GradientZeroing
from gpuprof.ingest.load import load_trace
from gpuprof.model.context import Optimizer
from gpuprof.model.trace import Trace
from tests.analyses.random_runs import runs
from tests.support.trace_builder import TraceBuilder


def zeroing(trace: Trace) -> GradientZeroing:
    return Results(trace).get(GradientZeroing)


def _trained(folder: Path, *, to_none: bool, passes: int = 1) -> GradientZeroing:
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.ones(2, 4)).sum().backward()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        for _ in range(3):
            optimizer.zero_grad(set_to_none=to_none)
            for _ in range(passes):
                model(torch.ones(2, 4)).sum().backward()
            optimizer.step()
    profiler.export_chrome_trace(str(folder / "trace.json"))
    return zeroing(load_trace(folder / "trace.json"))


@pytest.mark.parametrize(("passes", "share"), [(1, 1.0), (2, 0.5)])
def test_a_real_run_that_zeroes(tmp_path: Path, passes: int, share: float) -> None:
    found = _trained(tmp_path, to_none=False, passes=passes)
    assert (found.zero_grads, found.zeroed, found.added) == (3, 12, 12 * passes)
    assert found.avoidable_share == share


def test_a_real_run_that_drops_them(tmp_path: Path) -> None:
    assert _trained(tmp_path, to_none=True).zeroed == 0


def test_zeros_below_another_operator_or_on_another_thread_are_not_the_optimizer_s() -> None:
    builder = TraceBuilder().span("Optimizer.zero_grad#SGD.zero_grad", 0, 50)
    builder.operator("aten::zero_", 5, 4)
    builder.operator("aten::zeros", 10, 8).operator("aten::zero_", 12, 4)
    builder.thread("other").operator("aten::zero_", 30, 4)
    assert zeroing(builder.build()).zeroed == 1


@pytest.mark.parametrize(("known", "share"), [(4, 1.0), (2, 0.5), (None, 0.0)])
def test_one_operator_for_all_gradients_needs_their_number(known: int | None, share: float) -> None:
    builder = TraceBuilder().span("Optimizer.zero_grad#SGD.zero_grad", 0, 20).operator("aten::_foreach_zero_", 5, 10)
    if known is not None:
        builder.context(optimizers=(Optimizer(name="SGD", parameters=known, elements=9),))
    for at in range(30, 70, 10):
        builder.operator("torch::autograd::AccumulateGrad", at, 9).operator("aten::add_", at + 1, 5)
    found = zeroing(builder.build())
    assert (found.added, found.avoidable_share) == (4, share)


def test_the_kernels_of_both_are_known() -> None:
    builder = TraceBuilder().span("Optimizer.zero_grad#SGD.zero_grad", 0, 20).operator("aten::zero_", 5, 10)
    builder.kernel("fill", 10, 2, launch_at_us=6).kernel("other", 20, 2, launch_at_us=16)
    builder.operator("torch::autograd::AccumulateGrad", 30, 9).operator("aten::add_", 31, 8)
    found = zeroing(builder.kernel("add", 40, 2, launch_at_us=33).build())
    assert found.zeroing.tolist() == [True, False, False]
    assert found.adding.tolist() == [False, False, True]


def test_the_recorded_run_of_2021_zeroes(shared_trace: Any) -> None:
    found = zeroing(shared_trace("v100-resnet50-workers0"))
    assert (found.zero_grads, found.zeroed, found.added, found.avoidable_share) == (6, 966, 966, 1.0)


def test_nothing_recorded_is_empty(empty_trace: Trace) -> None:
    assert zeroing(empty_trace).zeroed == 0


@given(runs())
def test_no_run_breaks_it(trace: Trace) -> None:
    assert 0 <= zeroing(trace).avoidable_share <= 1
