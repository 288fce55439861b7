"""What is said of terms that cancel, and of other factors."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.needless.cancelled_results import CancelledResults
from gpuprof.rules.needless.unread_results import UnreadResults
from tests.rules.needless.unread_runs import recorded
from tests.support.look_builder import LookBuilder

SOURCE = (
    "for x in data:\n    free = net(x)\n    led = net(x, label)\n    out = free + scale * (led - free)\n    show(out)\n"
)


def guided(scale: float, unguided_us: float = 40, shown: bool = False) -> Trace:
    """Of 100 µs of operators in an iteration `unguided_us` in line 2, the rest in line 3; sums in line 4."""
    look = LookBuilder(recorded("aten::exp", "aten::mm", SOURCE))
    for each in range(3):
        where = {"iteration": each}
        look.tensor("x").operator("aten::exp", unguided_us, reads="x", makes="free", line=2, **where)
        look.operator("aten::mm", 100 - unguided_us, reads="x", makes="led", line=3, **where)
        look.operator("aten::sub", 1, reads="led free", makes="d", line=4, arguments="[null, null, 1]", **where)
        look.operator("aten::mul", 1, reads="d", makes="s", line=4, arguments=f"[null, {scale}]", **where)
        look.operator("aten::add", 1, reads="free s", makes="out", line=4, arguments="[null, null, 1]", **where)
        look.operator("aten::item", 1, reads="out" if not shown else "out free", line=5, **where)
        look.free("free led d s out")
    return look.build()


def found(trace: Trace) -> Finding | None:
    answer = CancelledResults().check(Results(trace))
    assert answer is None or isinstance(answer, Finding)
    return answer


def test_a_term_that_cancels() -> None:
    answer = found(guided(1.0))
    assert answer is not None and answer.severity == Severity.HIGH
    assert answer.title == "A factor of 1 at line 4 cancels what was computed for it"
    assert answer.where.lines == (2, 4) and "`if scale != 1:`" in answer.change
    assert answer.evidence["cancelled_share"] == pytest.approx(40 / 104, abs=1e-4)


def test_another_rule_does_not_say_it_too() -> None:
    assert UnreadResults().check(Results(guided(1.0))) is None


@pytest.mark.parametrize("trace", [guided(2.0), guided(1.0, shown=True), guided(1.0, unguided_us=2)])
def test_terms_that_are_needed_or_hardly_cost_anything(trace: Trace) -> None:
    assert found(trace) is None


def test_with_a_factor_of_zero_the_other_one_is_not_needed() -> None:
    answer = found(guided(0.0))
    assert answer is not None and answer.where.lines == (3, 4)
