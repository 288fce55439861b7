"""Gradients of weights that nobody reads while that of an input is read."""

from __future__ import annotations

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.demand.unread_work import Unread, UnreadWork
from gpuprof.model.context import Optimizer
from gpuprof.model.kinds import ValueKind
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.registry import rule
from tests.rules.needless.unread_runs import recorded
from tests.support.look_builder import LookBuilder

SOURCE = "for x in data:\n    out = model(x)\n    loss(out).backward()\n    x = x + x.grad.sign()\n"
AFTER_NS = 1 << 62


def attack(
    *, reads_input: bool = True, reads_weight: bool = False, updates: bool = False, last_step_ns: int | None = 0
) -> Trace:
    """In each of three iterations backward makes the gradients of an input and, added up, of a weight."""
    look = LookBuilder(recorded("aten::mm", "aten::sign", SOURCE))
    look.tensor("weight", kind=ValueKind.PARAMETER).tensor("sum", kind=ValueKind.GRADIENT)
    for each in range(3):
        look.tensor(f"x{each}")
        look.operator("aten::mm", 30, reads=f"x{each} weight", makes="out", line=2, iteration=each)
        back = {"line": 3, "forward_line": 2, "iteration": each, "backward": True}
        look.operator("aten::mm", 30, reads="out weight", makes="slope", **back)
        look.operator("aten::mm", 30, reads=f"out x{each}", makes="part", **back)
        look.operator("aten::add_", 5, reads="part", writes="sum", kind=ValueKind.GRADIENT, **back)
        look.free("part out")
        taken = "slope" if reads_input else f"x{each}"
        look.operator("aten::sign", 5, reads=taken, makes=f"y{each}", line=4, iteration=each)
        if reads_weight:
            look.operator("aten::norm", 5, reads="sum", makes=f"n{each}", line=4, iteration=each)
        if updates:
            update = {"reads": "sum", "writes": "weight", "kind": ValueKind.PARAMETER}
            look.operator("aten::add_", 5, line=4, iteration=each, **update)
        look.free("slope")
    adam = Optimizer(name="Adam", parameters=1, elements=4, steps=9, last_step_ns=last_step_ns)
    look.builder.context(optimizers=(adam,))
    return look.build()


def wasted(trace: Trace) -> list[str]:
    found = Results(trace).get(UnreadWork)
    return sorted({each.operator for each in found.places if each.kind is Unread.GRADIENTS})


def test_gradients_that_pile_up_beside_one_that_is_read() -> None:
    trace = attack()
    assert Results(trace).get(UnreadWork).piled_up
    assert wasted(trace) == ["aten::mm"]
    answer = rule("unread_gradients").check(Results(trace))
    assert isinstance(answer, Finding) and "torch.autograd.grad(loss(out), x)" in answer.change
    assert "no optimizer uses them any more" in answer.explanation and answer.where.lines == (3,)


def test_gradients_that_are_summed_up_for_later_are_needed() -> None:
    assert not Results(attack(reads_input=False)).get(UnreadWork).piled_up


def test_gradients_that_something_reads_are_needed() -> None:
    assert wasted(attack(reads_weight=True)) == []
    assert wasted(attack(updates=True)) == []


def test_where_an_optimizer_steps_later_they_may_be_for_it() -> None:
    assert wasted(attack(last_step_ns=AFTER_NS)) == []
    assert wasted(attack(last_step_ns=None)) == []
