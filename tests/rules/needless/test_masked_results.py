"""What is said of work that masks throw away."""

from __future__ import annotations

import numpy as np
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.demand.masked_work import LookedRuns, MaskedPlace
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.needless.masked_results import MaskedResults, _likely
from tests.rules.cases.needless.masked_results import SOURCE, looked
from tests.rules.needless.unread_runs import recorded
from tests.support.look_builder import LookBuilder


def found(trace: Trace) -> Finding | None:
    answer = MaskedResults().check(Results(trace))
    assert answer is None or isinstance(answer, Finding)
    return answer


def test_the_loop_is_left_by_the_name_of_its_flags() -> None:
    answer = found(looked(59.5))
    assert answer is not None and answer.diff is not None
    assert "+    if done.all():\n+        break\n" in answer.diff
    assert answer.change.startswith("Leave the loop when all flags are decided: `if done.all(): break`.")
    cleared = SOURCE.replace("done = done | (token == END)", "going = going & (token != END)")
    answer = found(looked(59.5, source=cleared))
    assert answer is not None and answer.diff is not None
    assert "+    if not going.any():\n" in answer.diff and "`if not going.any(): break`" in answer.change


def test_without_the_text_of_a_loop_the_advice_stands_alone() -> None:
    answer = found(looked(59.5, source="generate(net)\n"))
    assert answer is not None and answer.diff is None and "for instance `if done.all(): break`" in answer.change


@pytest.mark.parametrize(
    "leave", ["    if done.all(): break\n", "    if place % 9 == 0 and done.all():\n        break\n"]
)
def test_a_loop_that_is_left_early(leave: str) -> None:
    assert found(looked(59.5, source=SOURCE + leave)) is None
    assert found(looked(59.5, source=SOURCE + "    if clock() > limit: break\n")) is not None


def branch(branch_us: float, runs: int = 5, empty: int = 5, *, line: int = 3, zeros: float = 1.0) -> Trace:
    """Of 100 µs of operators `branch_us` for what the mask of line 4 takes nothing of in the first `empty` runs, in
    which `zeros` of it are False."""
    look = LookBuilder(recorded("aten::mm", "aten::add"))
    look.tensor("x", elements=16)
    for each in range(runs):
        where = {"iteration": each, "elements": 16}
        share = zeros if each < empty else 0.5
        look.tensor("mask", elements=16, dtype="bool", zeros_share=share)
        look.operator("aten::mm", branch_us, reads="x", makes="one", line=line, **where)
        look.operator("aten::mm", 99 - branch_us, reads="x", makes="other", line=2, **where)
        branches = "one other" if zeros else "other one"
        look.operator("aten::where.self", 0.5, reads=f"mask {branches}", makes="y", line=4, **where)
        look.operator("aten::item", 0.5, reads="y", line=5, iteration=each)
        look.free("mask one other y")
    return look.build()


def test_a_branch_that_is_never_taken() -> None:
    answer = found(branch(40))
    assert answer is not None and answer.severity is Severity.HIGH
    assert answer.title == "A branch is computed, and the mask at line 4 never takes it"
    assert answer.where.lines == (3, 4) and answer.diff is None
    # (1 + 5) / (2 + 5) of 40 µs
    assert answer.evidence["masked_share"] == pytest.approx(0.4 * 6 / 7, abs=1e-4)
    assert answer.change == (
        "Compute the branch only if the mask at line 4 is True somewhere, in place of `…`: `x = torch.where(mask, …, "
        "xb) if mask.any() else xb`. `xb` is the other branch, expanded to the shape of the result."
    )


def test_a_branch_for_where_the_mask_is_false() -> None:
    answer = found(branch(40, zeros=0.0))
    assert answer is not None and answer.where.lines == (3, 4)
    assert answer.change.startswith(
        "Compute the branch only if the mask at line 4 is False somewhere, in place of `…`: `x = xb if mask.all() else "
        "torch.where(mask, xb, …)`."
    )


@pytest.mark.parametrize("trace", [branch(40, 5, 4), branch(40, 2, 2), branch(4), branch(40, 5, 0)])
def test_branches_that_are_taken_or_hardly_seen_or_cheap(trace: Trace) -> None:
    assert found(trace) is None


def place(*turns: tuple[int, int], lasting: bool = True) -> MaskedPlace:
    return MaskedPlace(
        0, (), tuple(LookedRuns(*each) for each in turns), 4, lasting, False, False, np.arange(0), 1, 1, 1.0
    )


def test_a_look_is_one_observation_however_many_iterations_it_has() -> None:
    one, long, three = (_likely(place(*turns)) for turns in ([(5, 5)], [(50, 50)], [(5, 5)] * 3))
    assert one == long and one.central == pytest.approx(2 / 3)
    assert three.central == pytest.approx(4 / 5) and three.low > one.low
    assert _likely(place((4, 0), (4, 4))).central == pytest.approx(1 / 2)
    assert _likely(place((50, 50), lasting=False)).central == pytest.approx(51 / 52)
    for each in (one, three):
        assert 0 <= each.low < each.central < each.high <= 1
