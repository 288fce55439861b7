from __future__ import annotations

import pytest

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
