from __future__ import annotations

import pytest

from gpuprof.analyses.accounts.run_kind import KindOfRun, RunKind
from gpuprof.analyses.basics.result import Results
from tests.analyses.accounts.cells import cell, line
from tests.analyses.accounts.test_sample_phases import libraries
from tests.support.trace_builder import TraceBuilder

__all__ = ["libraries"]  # a fixture


def mm() -> TraceBuilder:
    return TraceBuilder().operator("aten::mm", 0, 10)


@pytest.mark.parametrize(
    ("builder", "kind"),
    [
        (mm(), KindOfRun.INFERENCE),
        (mm().optimizer_step("Adam", 20, 10), KindOfRun.TRAINING),
        (mm().operator("autograd::engine::evaluate_function: MmBackward0", 20, 10), KindOfRun.TRAINING),
        (mm().call("cudaGraphInstantiate", 10, 20), KindOfRun.CAPTURE),
        (mm().call("cudaStreamBeginCapture", 2, 1).call("cudaStreamEndCapture", 8, 1), KindOfRun.CAPTURE),
        (mm().call("cudaStreamBeginCapture", 2, 1), KindOfRun.CAPTURE),
        # captured once, then replayed for longer
        (mm().call("cudaStreamBeginCapture", 2, 1).call("cudaStreamEndCapture", 3, 1).call("cudaGraphLaunch", 9, 1),
         KindOfRun.INFERENCE),
        (mm().call("cudaFree", 0, 6), KindOfRun.START_UP),
        (mm().call("cudaFree", 0, 4), KindOfRun.INFERENCE),
        (mm().call("cudaFree", 0, 6).step(0, 10), KindOfRun.INFERENCE),
        (mm().span("execute_context_0(0)_generation_1(1)", 20, 10), KindOfRun.SERVING),
        (TraceBuilder().span("work", 0, 10), KindOfRun.OTHER),
    ],
)  # fmt: skip
def test_what_a_run_is_follows_from_what_it_does(builder: TraceBuilder, kind: KindOfRun) -> None:
    assert Results(builder.build()).get(RunKind).kind is kind


def test_a_cell_trains_where_an_optimizer_stepped_outside_the_recording() -> None:
    assert Results(cell(mm(), ends_ms=(10, 20))).get(RunKind).kind is KindOfRun.TRAINING
    assert Results(cell(mm(), ends_ms=(10, 20), optimizer=False)).get(RunKind).kind is KindOfRun.INFERENCE


MODULE = ("/lib/torch/nn/modules/module.py", "Module._call_impl", 9)


def test_operators_infer_where_a_model_is_known_to_run(libraries: None) -> None:
    """A sampler or a score computes; without stacks nothing tells the one from the other."""
    computes = mm().stack(0, 100, line(1))
    assert Results(cell(computes)).get(RunKind).kind is KindOfRun.COMPUTATION
    assert Results(cell(mm().stack(0, 90, line(1)).stack(90, 10, line(2), MODULE))).get(RunKind).kind is (
        KindOfRun.INFERENCE
    )
    layer = TraceBuilder().operator("aten::conv2d", 0, 10).stack(0, 100, line(1))
    assert Results(cell(layer)).get(RunKind).kind is KindOfRun.INFERENCE
    assert Results(mm().build()).get(RunKind).kind is KindOfRun.INFERENCE


def test_a_cell_that_generates_tokens_for_a_third_of_its_time_is_generation(libraries: None) -> None:
    tokens = ("/lib/transformers/generation/utils.py", "GenerationMixin.generate", 9)
    for each_us, kind in ((30, KindOfRun.GENERATION), (29, KindOfRun.COMPUTATION)):
        builder = mm().stack(0, each_us, line(1), tokens).stack(each_us, 100 - each_us, line(2))
        assert Results(cell(builder)).get(RunKind).kind is kind


def test_a_cell_of_functions_that_are_named_so_evaluates() -> None:
    for each_us, kind in ((50, KindOfRun.EVALUATION), (49, KindOfRun.COMPUTATION)):
        builder = mm().stack(0, each_us, line(9), line(1, "evaluate")).stack(each_us, 100 - each_us, line(2))
        assert Results(cell(builder)).get(RunKind).kind is kind
