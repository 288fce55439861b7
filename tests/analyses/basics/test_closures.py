"""What of an optimizer's step is the closure's: built cases, and real loops that give one."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from gpuprof.analyses.basics.closures import Closures
from gpuprof.analyses.basics.phases import Phases
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.run.operators import Operators
from gpuprof.analyses.run.time_budget import TimeBudget
from gpuprof.analyses.training.optimizer_steps import OptimizerSteps
from gpuprof.capture.session.session import Session
from gpuprof.ingest.load import load_captured, load_trace
from gpuprof.model.intervals import Intervals
from gpuprof.model.recording import CLOSURE
from gpuprof.model.trace import Trace
from tests.capture.conftest import new_session
from tests.support.trace_builder import TraceBuilder

__all__ = ["new_session"]

NODE = "autograd::engine::evaluate_function: MmBackward0"
GRADIENT = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"


def us(found: Intervals) -> list[tuple[float, float]]:
    return [(start / 1000, end / 1000) for start, end in zip(found.starts, found.ends, strict=True)]


def step(builder: TraceBuilder, at: float, number: int, *, marked: bool) -> TraceBuilder:
    """200 µs: zero_grad, forward 20 to 60, backward 70 to 100, a read at 105, the update 120 to 190."""
    builder.optimizer_step("SGD", at, 200).span("Optimizer.zero_grad#SGD.zero_grad", at + 5, 10)
    if marked:
        builder.span(CLOSURE, at + 4, 111)
    builder.operator("aten::linear", at + 20, 20, sequence=number).operator("aten::mm", at + 25, 10, sequence=number)
    builder.operator("aten::mm", at + 45, 15, sequence=number + 1)
    builder.operator(NODE, at + 70, 10, sequence=number + 1).operator(NODE, at + 82, 8, sequence=number)
    builder.operator(GRADIENT, at + 92, 8).operator("aten::item", at + 105, 5, sequence=number + 2)
    return builder.operator("aten::add_", at + 120, 30).operator("aten::add_", at + 155, 35)


def test_a_marked_closure_is_not_the_optimizers() -> None:
    results = Results(step(TraceBuilder(), 0, 1, marked=True).build())
    assert us(results.get(Closures).ran) == [(4, 115)]
    assert us(results.get(Phases).optimizer) == [(0, 4), (5, 15), (115, 200)]
    found = results.get(Operators)
    assert (found.forward_ns, found.backward_ns, found.optimizer_ns) == (40_000, 26_000, 65_000)
    (use,) = results.get(OptimizerSteps).uses
    assert (use.ns, use.operators_per_step, use.closure_untold) == (89_000, 2, False)


def test_without_a_mark_it_lies_between_an_operator_and_its_node() -> None:
    """GIVEN a recording from elsewhere WHEN the read after the backward pass cannot be told from the optimizer's."""
    results = Results(step(step(TraceBuilder(), 0, 1, marked=False), 300, 5, marked=False).build())
    assert us(results.get(Closures).ran) == [(20, 90), (92, 100), (320, 390), (392, 400)]
    found = results.get(Operators)
    assert (found.forward_ns, found.backward_ns, found.optimizer_ns) == (70_000, 52_000, 140_000)
    (use,) = results.get(OptimizerSteps).uses
    assert (use.ns, use.operators_per_step, use.closure_untold) == (2 * 112_000, 3, False)


def test_a_forward_pass_outside_the_step_stays_there() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 10, sequence=1).optimizer_step("SGD", 20, 50)
    results = Results(builder.operator(NODE, 25, 10, sequence=1).operator("aten::add_", 40, 20).build())
    assert us(results.get(Closures).ran) == [(25, 35)]
    assert results.get(Operators).optimizer_ns == 20_000


def test_a_backward_pass_without_a_beginning_leaves_nothing_to_the_optimizer() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 10).optimizer_step("SGD", 20, 50).operator(NODE, 25, 10)
    results = Results(builder.operator("aten::add_", 40, 20).optimizer_step("SGD", 100, 30).build())
    assert us(results.get(Closures).untold) == us(results.get(Closures).ran) == [(20, 70)]
    assert us(results.get(Phases).optimizer) == [(100, 130)]
    assert results.get(OptimizerSteps).uses[0].closure_untold


def test_zero_grad_without_a_backward_pass_leaves_nothing_either() -> None:
    builder = TraceBuilder().optimizer_step("SGD", 20, 50).span("Optimizer.zero_grad#SGD.zero_grad", 25, 5)
    assert us(Results(builder.operator("aten::mm", 40, 20).build()).get(Closures).untold) == [(20, 70)]


def test_kernels_of_a_closure_are_not_the_optimizers() -> None:
    builder = TraceBuilder().optimizer_step("SGD", 0, 100).span(CLOSURE, 10, 40)
    builder.kernel("gemm", 200, 20, launch_at_us=20).kernel("add", 230, 5, launch_at_us=60)
    (use,) = Results(builder.kernel("add", 240, 5, launch_at_us=70).build()).get(OptimizerSteps).uses
    assert use.kernels_per_step == 2
    assert use.device is not None
    assert us(use.device) == [(230, 245)]


def test_no_step_has_no_closure(empty_trace: Trace) -> None:
    assert us(Results(empty_trace).get(Closures).ran) == []
    plain = TraceBuilder().operator("aten::mm", 0, 5, sequence=1).operator(NODE, 10, 5, sequence=1).build()
    assert us(Results(plain).get(Closures).ran) == []


class Loop:
    """Training in closures; `stepped_s` is all that `step()` took, `closed_s` what of it the closures took."""

    def __init__(self, make: Callable[..., torch.optim.Optimizer]):
        self.stepped_s = self.closed_s = 0.0
        layers = [torch.nn.Linear(64, 64) for _ in range(12)]
        self._model = torch.nn.Sequential(*layers)
        self._optimizer = make(self._model.parameters())

    def _closure(self) -> Any:
        began = time.perf_counter()
        self._optimizer.zero_grad()
        loss = self._model(torch.ones(16, 64)).pow(2).mean()
        loss.backward()
        self.closed_s += time.perf_counter() - began
        return loss

    def run(self, steps: int) -> None:
        for _ in range(steps):
            began = time.perf_counter()
            self._optimizer.step(self._closure)
            self.stepped_s += time.perf_counter() - began


MAKES = {
    "SGD": lambda parameters: torch.optim.SGD(parameters, lr=1e-3, momentum=0.9, foreach=False),
    "LBFGS": lambda parameters: torch.optim.LBFGS(parameters, lr=1e-3, max_iter=3),
}


@pytest.mark.parametrize("name", MAKES)
def test_a_real_loop_of_closures(new_session: Callable[..., Session], name: str) -> None:
    Loop(MAKES[name]).run(2)
    session, loop = new_session(no_lines=True, steps=30), Loop(MAKES[name])
    session.start()
    loop.run(20)
    results = Results(load_captured(session.stop()))
    (use,) = results.get(OptimizerSteps).uses
    assert use.count == 20
    closed = results.get(Closures).ran.total_ns
    # the recording's own work on each event is in both, so the parts can be compared and the sum as well
    assert closed == pytest.approx(loop.closed_s * 1e9, rel=0.4)
    assert use.duration_ns.sum() - closed == pytest.approx((loop.stepped_s - loop.closed_s) * 1e9, rel=0.6)
    detail = results.get(TimeBudget).detail
    assert detail["optimizer_ns"] > 0.05 * (detail["forward_ns"] + detail["backward_ns"])
    assert detail["forward_ns"] > 0 and detail["backward_ns"] > 0


@pytest.mark.parametrize("name", MAKES)
def test_a_real_loop_recorded_by_someone_else(name: str, tmp_path: Path) -> None:
    loop = Loop(MAKES[name])
    loop.run(2)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        loop.stepped_s = loop.closed_s = 0.0
        loop.run(10)
    profiler.export_chrome_trace(str(tmp_path / "trace.json"))
    results = Results(load_trace(tmp_path / "trace.json"))
    assert len(results.get(Closures).untold.starts) == 0
    # the beginning and the end of a closure are not seen: Python before its first operator, the last gradients
    assert 0.4 < results.get(Closures).ran.total_ns / (loop.closed_s * 1e9) <= 1
    assert results.get(TimeBudget).detail["optimizer_ns"] > 0
