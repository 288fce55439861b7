"""A teacher whose gradients nobody uses any more."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Window
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.registry import rule
from tests.analyses.training.test_unused_gradients import distilled


def test_gradients_of_a_teacher_that_has_been_trained_before() -> None:
    found = rule("gradients_unused").check(Results(distilled(teacher_ends_us=1_900, filled=7, each_us=40)))
    assert isinstance(found, Finding)
    assert found.title == "Backward fills 5 gradients that no optimizer uses"
    assert "another one has made its last step before" in found.explanation
    assert found.saving is not None and found.saving.low_ns <= found.saving.central_ns <= found.saving.high_ns
    assert found.saving.low_ns == 400_000 and found.saving.high_ns == 420_000


def test_a_teacher_without_gradients_or_one_that_still_learns_is_left_alone() -> None:
    for ends_us, filled in ((1_900, 2), (3_950, 5), (None, 5)):
        assert rule("gradients_unused").check(Results(distilled(teacher_ends_us=ends_us, filled=filled))) is None


def test_most_of_a_cell_comes_after_the_recorded_steps_of_the_teacher() -> None:
    # GIVEN that two of four recorded steps are the student's, and that it steps for 90% of the cell
    trace = distilled(teacher_ends_us=1_900, filled=7, each_us=40)
    teacher, student = trace.context.optimizers
    student = msgspec.structs.replace(student, last_step_ns=91_900_000)
    window = Window(start_ns=0, end_ns=4_000_000, cell_start_ns=0, cell_end_ns=100_000_000)
    context = msgspec.structs.replace(trace.context, optimizers=(teacher, student), window=window)
    # WHEN it is judged
    found = rule("gradients_unused").check(Results(replace(trace, context=context)))
    # THEN the shares are those of the student's steps, of so much of the cell
    assert isinstance(found, Finding) and found.saving is not None and found.saving.of_cell
    assert f"{units.percent(0.2)} of these steps, {units.percent(0.18)} of the cell" in found.explanation
    assert found.saving.low_ns == pytest.approx(18_000_000) and found.saving.high_ns == pytest.approx(18_900_000)
