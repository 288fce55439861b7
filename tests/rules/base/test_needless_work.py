"""Work that need not be done: one finding for the same operators, and none for the wait that they make."""

from __future__ import annotations

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Loader
from gpuprof.model.trace import Trace
from gpuprof.rules.registry import judge, rule
from tests.analyses.accounts.cells import line
from tests.rules.cases.needless.hardly_read import SOURCE
from tests.rules.needless.unread_runs import recorded
from tests.support.look_builder import LookBuilder

POSITIONS = 40


def looked(*, same_input: bool = False, waits_from_us: float | None = None) -> Trace:
    """Line 3 makes logits of 40 positions, one of which is read: 80 % of the operators, and of the sampled time. A wait
    for data takes 500 of each step's 1000 µs, and line 3 runs in the first 600."""
    builder = recorded("aten::mm", "aten::exp", SOURCE).stack(0, 8_000, line(3)).stack(8_000, 2_000, line(4))
    if waits_from_us is not None:
        for at in range(0, 10_000, 1000):
            builder.data_wait(at + waits_from_us, 500)
        builder.context(loaders=(Loader(workers=0, line=2, iterations_started=1),))
    look = LookBuilder(builder).tensor("weight", shape=(64, 100))
    for each in range(3):
        look.tensor("hidden", shape=(8 * POSITIONS, 64), content=7 if same_input else 0)
        made = {"makes": "logits", "shape": (8 * POSITIONS, 100)}
        look.operator("aten::mm", 80, reads="hidden weight", line=3, iteration=each, **made)
        look.part("last", "logits", shape=(8, 100), strides=(100 * POSITIONS, 1), offset=100 * (POSITIONS - 1))
        look.operator("aten::exp", 20, line=4, iteration=each, reads="last", makes=f"y{each}", shape=(8, 100))
        look.free("logits")
    return look.build()


def told(trace: Trace) -> list[str]:
    return [each.rule for each in judge(Results(trace), strict=True).findings]


def test_of_two_reasons_for_the_same_operators_the_one_that_saves_more_is_told() -> None:
    results = Results(looked(same_input=True))
    assert all(rule(name).judge(results) is not None for name in ("hardly_read", "repeated_work"))
    assert told(looked(same_input=True)) == ["repeated_work"]
    assert told(looked()) == ["hardly_read"]


def test_needless_work_of_a_dataset_is_the_cause_of_the_wait() -> None:
    assert rule("input_stall").judge(Results(looked(waits_from_us=0))) is not None
    assert told(looked(waits_from_us=0)) == ["hardly_read"]
    # of a wait that is mostly something else it is none
    assert told(looked(waits_from_us=500)) == ["hardly_read", "input_stall"]
