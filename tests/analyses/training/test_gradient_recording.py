"""Autograd's nodes, counted by its sequence numbers."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest
import torch
from hypothesis import given

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.training.gradient_recording import GradientRecording
from gpuprof.ingest.load import load_trace
from gpuprof.model.context import Optimizer
from gpuprof.model.trace import Trace
from tests.analyses.random_runs import runs
from tests.support.trace_builder import TraceBuilder


def recording(trace: Trace) -> GradientRecording:
    return Results(trace).get(GradientRecording)


def _profiled(folder: Path, around: AbstractContextManager[object], *, frozen: bool = False, backward: bool = False):
    """Four forward passes of linear, relu, linear, as torch records them."""
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 4))
    model.requires_grad_(not frozen)
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities) as profiler, around:
        for number in range(4):
            with torch.profiler.record_function(f"ProfilerStep#{number}"):
                out = model(torch.ones(2, 4))
                if backward:
                    out.sum().backward()
    path = folder / "trace.json"
    profiler.export_chrome_trace(str(path))
    return recording(load_trace(path))


def test_a_real_forward_pass_with_gradients_makes_nodes(tmp_path: Path) -> None:
    found = _profiled(tmp_path, nullcontext())
    assert (found.backward, found.steps_with) == (False, 4)
    assert found.nodes_per_step >= 3


@pytest.mark.parametrize("around", [torch.no_grad(), torch.inference_mode()], ids=["no_grad", "inference_mode"])
def test_without_gradients_it_makes_none(tmp_path: Path, around: AbstractContextManager[object]) -> None:
    assert _profiled(tmp_path, around).nodes == 0


def test_frozen_parameters_make_none(tmp_path: Path) -> None:
    assert _profiled(tmp_path, nullcontext(), frozen=True).nodes == 0


def test_a_backward_pass_is_seen(tmp_path: Path) -> None:
    assert _profiled(tmp_path, nullcontext(), backward=True).backward


def test_an_optimizer_means_training() -> None:
    known = Optimizer(name="SGD", parameters=1, elements=1)
    assert recording(TraceBuilder().operator("aten::mm", 0, 1).context(optimizers=(known,)).build()).backward
    assert recording(TraceBuilder().operator("aten::mm", 0, 1).optimizer_step("SGD", 2, 1).build()).backward


def test_nothing_recorded_is_unknown(empty_trace: Trace) -> None:
    found = recording(empty_trace)
    assert (found.recorded, found.nodes_per_step, found.steps_with) == (False, None, None)


@given(runs())
def test_no_run_breaks_it(trace: Trace) -> None:
    assert recording(trace).nodes >= 0
