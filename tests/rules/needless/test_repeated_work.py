"""What is said of work that is repeated: where to keep it depends on when it is the same."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.needless.repeated_work import RepeatedOperators
from tests.rules.cases.needless.repeated_work import recorded
from tests.support.look_builder import LookBuilder


def told(*matrices: str) -> Finding:
    """The inverse of that matrix in each iteration."""
    look = LookBuilder(recorded())
    for name in dict.fromkeys(matrices):
        look.tensor(name)
    for each, name in enumerate(matrices):
        look.tensor(f"x{each}").operator("aten::linalg_inv_ex", 50, reads=name, makes="k", line=3, iteration=each)
        look.operator("aten::mm", 50, reads=f"k x{each}", makes="y", line=4, iteration=each)
    found = RepeatedOperators().check(Results(look.build()))
    assert isinstance(found, Finding)
    return found


@pytest.mark.parametrize(
    ("matrices", "change", "when"),
    [
        ("aaaa", "Compute it once, before the loop", "in each iteration"),
        ("aabbcc", "Keep the value of the last iteration", "as in the iteration before"),
    ],
)
def test_where_to_keep_it(matrices: str, change: str, when: str) -> None:
    found = told(*matrices)
    assert found.change.startswith(change)
    assert f" the same {when}, from equal inputs" in found.explanation
