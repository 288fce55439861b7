"""A teacher whose gradients nobody uses any more."""

from __future__ import annotations

from gpuprof.analyses.basics.result import Results
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
