from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from gpuprof.analyses.accounts.cell_phases import CellPhases
from gpuprof.analyses.accounts.phase import Phase
from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.training.evaluation_share import EvaluationShare
from tests.rules.cases.training.evaluation_share import training


def found(epochs: int) -> Finding:
    answer = EvaluationShare().check(Results(training(60, epochs=epochs)))
    assert isinstance(answer, Finding)
    return answer


def test_of_many_evaluations_every_second_one_can_go() -> None:
    """20 of 60 ms beside 800 ms of training: ten of the nineteen before the last one."""
    many = found(20)
    assert many.severity is Severity.MEDIUM and many.saving is not None and many.saving.of_cell
    assert many.saving.share == pytest.approx(10 / 19 * 19 * 60 / 2000)
    assert "every second time" in many.saving.basis


def test_a_few_are_likely_read() -> None:
    few = found(19)
    assert few.severity is Severity.LOW and few.saving is None


SERVING = """for epoch in range(10):
    for x, y in batches():
        step(x, y)
    answer()

def answer():
    with torch.no_grad():
        return replies.append(model(request))
"""


def test_what_is_served_or_extracted_between_steps_is_no_evaluation() -> None:
    trace = training()
    assert isinstance(EvaluationShare().check(Results(trace)), Finding)
    cell = trace.context.cell
    assert cell is not None
    serving = msgspec.structs.replace(cell, source=SERVING)
    files = tuple(
        msgspec.structs.replace(each, source=SERVING) if each.kind == "cell" else each
        for each in trace.context.stacks.files  # type: ignore[union-attr]
    )
    functions = tuple("answer" if each == "validate" else each for each in trace.context.stacks.functions)  # type: ignore[union-attr]
    stacks = msgspec.structs.replace(trace.context.stacks, files=files, functions=functions)
    served = replace(trace, context=msgspec.structs.replace(trace.context, cell=serving, stacks=stacks))
    results = Results(served)
    assert EvaluationShare().check(results) is None
    assert results.get(CellPhases).share(Phase.INFERENCE) == pytest.approx(0.43, abs=0.01)
