"""From which part of the steps on a graph that is run again is a finding."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Abstention, Severity
from gpuprof.rules.training.repeated_backward import RepeatedBackward
from tests.rules.cases.training.repeated_backward import LAYERS, steps

GRADIENT_US = 5
AGAIN = 2 * LAYERS  # nodes of each step of 1000 µs that run again


def judged(share: float, rule: RepeatedBackward | None = None) -> Severity | None:
    trace = steps(1000 * share / AGAIN - GRADIENT_US).build()
    answer = (rule or RepeatedBackward()).check(Results(trace))
    assert not isinstance(answer, Abstention)
    return answer.severity if answer is not None else None


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (0.0495, None),
        (0.0505, Severity.LOW),
        (0.0795, Severity.LOW),
        (0.0805, Severity.MEDIUM),
        (0.199, Severity.MEDIUM),
        (0.201, Severity.HIGH),
    ],
)
def test_by_the_share_of_the_steps(share: float, expected: Severity | None) -> None:
    assert judged(share) == expected


def test_a_few_nodes_are_no_model() -> None:
    assert judged(0.2, RepeatedBackward(nodes=LAYERS)) is not None
    assert judged(0.2, RepeatedBackward(nodes=LAYERS + 1)) is None
