"""Losses added up, in built looks: what belongs together, and what each part keeps."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.training.loss_graphs import LossGraphs
from gpuprof.analyses.training.summed_losses import LossSum, SummedLosses
from gpuprof.model.context import Cell
from gpuprof.model.kinds import ValueKind
from tests.support.look_builder import LookBuilder
from tests.support.trace_builder import CELL_FILE, TraceBuilder

ONE = {"elements": 1, "graph": True, "line": 3}


def found(look: LookBuilder) -> LossSum | None:
    return Results(look.build()).get(SummedLosses).found


def begun() -> LookBuilder:
    return LookBuilder().tensor("w", kind=ValueKind.PARAMETER, grad=True)


def forward(look: LookBuilder, each: int, reads: str = "w", elements: int = 1000, line: int = 3) -> LookBuilder:
    """What the loss of one iteration is made of."""
    look.tensor(f"x{each}")
    at = {"graph": True, "line": line}
    look.operator("aten::mm", 10, reads=f"x{each} {reads}", makes=f"h{each}", elements=elements, **at)
    return look.operator("aten::sum", 10, reads=f"h{each}", makes=f"l{each}", elements=1, **at)


def back(look: LookBuilder, root: str, made: str, line: int = 4) -> LookBuilder:
    """The backward pass from `root` reads what was `made`, and frees it."""
    look.operator("aten::ones_like", 1, reads=root, makes="g", elements=1, line=line)
    for each in reversed(made.split()):
        look.operator("aten::mm", 5, reads=f"g {each}", makes="gw", backward=True, forward_of=each, line=line)
        look.free(each)
    return look


def added(look: LookBuilder, losses: int = 3) -> LookBuilder:
    for each in range(losses):
        forward(look, each, elements=1000 * (each + 1))
        total = f"t{each - 1}" if each else ""
        look.operator("aten::add.Tensor", 1, reads=f"{total} l{each}", makes=f"t{each}", **ONE)
    return look


def test_a_running_sum() -> None:
    answer = found(back(added(begun()), "t2", "h0 h1 h2"))
    assert answer is not None
    assert (answer.losses, answer.kept_bytes, answer.largest_bytes) == (3, 24_000, 12_000)
    assert (answer.needless_bytes, answer.device) == (12_000, "cpu")
    # nothing is known of the text
    assert answer.loop == 0


def test_a_loop_whose_lines_are_not_known() -> None:
    """None of the lines on the stack is the user's."""
    cell = Cell(source="for x in data:\n    pass\n", filename=CELL_FILE)
    look = LookBuilder(TraceBuilder().context(cell=cell)).tensor("w", kind=ValueKind.PARAMETER, grad=True)
    for each in range(3):
        forward(look, each, line=0)
        total = f"t{each - 1}" if each else ""
        look.operator("aten::add.Tensor", 1, reads=f"{total} l{each}", makes=f"t{each}", **{**ONE, "line": 0})
    answer = found(back(look, "t2", "h0 h1 h2", line=0))
    assert answer is not None and (answer.loop, answer.losses) == (0, 3)


def test_a_loss_that_is_no_sum_is_added_up_nowhere() -> None:
    trace = back(forward(begun(), 0), "l0", "h0").build()
    (only,) = LossGraphs(trace, Results(trace).get(ValueGraph))
    assert only.added_at == -1 and len(only.parts) == 1


@pytest.mark.parametrize("last", ["aten::mean", "aten::sum"])
def test_a_list_that_is_stacked(last: str) -> None:
    look = begun()
    for each in range(3):
        forward(look, each)
    look.operator("aten::stack", 1, reads="l0 l1 l2", makes="all", **{**ONE, "elements": 3, "line": 5})
    look.operator(last, 1, reads="all", makes="t", **{**ONE, "line": 5})
    answer = found(back(look, "t", "h0 h1 h2"))
    assert answer is not None and answer.losses == 3
    trace = look.build()
    assert trace.context.look is not None
    assert trace.context.look.places[answer.added_at].line == 5
    assert trace.context.look.places[answer.backward_at].line == 4


def test_numbers_of_which_something_else_than_a_sum_is_made_belong_together() -> None:
    for last in ("aten::var", "aten::logsumexp", "aten::max"):
        look = begun()
        for each in range(3):
            forward(look, each)
        look.operator("aten::stack", 1, reads="l0 l1 l2", makes="all", **{**ONE, "elements": 3})
        look.operator("aten::mean", 1, reads="all", makes="m", **ONE)
        look.operator(last, 1, reads="all", makes="v", **ONE)
        look.operator("aten::add.Tensor", 1, reads="m v", makes="t", **ONE)
        assert found(back(look, "t", "h0 h1 h2")) is None


def test_backpropagation_through_time() -> None:
    look, state = begun(), "w"
    for each in range(3):
        forward(look, each, f"{state} w")
        state, total = f"h{each}", f"t{each - 1}" if each else ""
        look.operator("aten::add.Tensor", 1, reads=f"{total} l{each}", makes=f"t{each}", **ONE)
    assert found(back(look, "t2", "h0 h1 h2")) is None


def test_states_that_are_detached_do_not_join() -> None:
    look, state = begun(), "w"
    for each in range(3):
        forward(look, each, f"{state} w")
        state, total = f"d{each}", f"t{each - 1}" if each else ""
        look.detached(state, f"h{each}")
        look.operator("aten::add.Tensor", 1, reads=f"{total} l{each}", makes=f"t{each}", **ONE)
    assert found(back(look, "t2", "h0 h1 h2")) is not None


@pytest.mark.parametrize("elements", [4096, 1])
def test_what_was_computed_before_the_loop_joins_those_that_read_it(elements: int) -> None:
    """An encoder, a trunk of several heads, or a learned temperature."""
    look = begun().operator("aten::mm", 10, reads="w", makes="code", elements=elements, graph=True, line=1)
    for each in range(3):
        forward(look, each, "code")
        total = f"t{each - 1}" if each else ""
        look.operator("aten::add.Tensor", 1, reads=f"{total} l{each}", makes=f"t{each}", **ONE)
    assert found(back(look, "t2", "h0 h1 h2")) is None


def test_what_the_look_did_not_see_made_joins_too() -> None:
    look = begun().tensor("code", grad=True)
    for each in range(3):
        forward(look, each, "code w")
        total = f"t{each - 1}" if each else ""
        look.operator("aten::add.Tensor", 1, reads=f"{total} l{each}", makes=f"t{each}", **ONE)
    assert found(back(look, "t2", "h0 h1 h2")) is None


def test_gradients_that_are_accumulated_already() -> None:
    look = begun()
    for each in range(3):
        back(forward(look, each), f"l{each}", f"h{each}")
    assert found(look) is None


def test_two_losses_of_one_step_are_no_loop() -> None:
    look = forward(forward(begun(), 0, line=3), 1, line=6)
    look.operator("aten::add.Tensor", 1, reads="l0 l1", makes="t", **ONE)
    assert found(back(look, "t", "h0 h1")) is None


def test_a_graph_that_several_passes_go_through() -> None:
    look = added(begun())
    look.operator("aten::ones_like", 1, reads="l1", makes="g1", elements=1)
    look.operator("aten::mm", 5, reads="g1 h1", makes="gx", backward=True, forward_of="h1", line=9)
    assert found(back(look, "t2", "h0 h1 h2")) is None


def test_a_pass_inside_one_iteration_is_its_own() -> None:
    """The inner steps of meta-learning, or the gradient of an input."""
    look = begun()
    for each in range(3):
        look.tensor(f"x{each}")
        look.operator("aten::mm", 10, reads=f"x{each} w", makes=f"h{each}", graph=True, line=3)
        look.operator("aten::mm", 5, reads=f"h{each}", makes=f"i{each}", backward=True, forward_of=f"h{each}", line=3)
        look.operator("aten::sum", 10, reads=f"h{each}", makes=f"l{each}", **ONE)
        total = f"t{each - 1}" if each else ""
        look.operator("aten::add.Tensor", 1, reads=f"{total} l{each}", makes=f"t{each}", **ONE)
    assert found(back(look, "t2", "h0 h1 h2")) is not None


def test_a_factor_that_was_there_scales_and_one_made_of_the_losses_joins() -> None:
    for scale, joined in (("before", False), ("l0d", True)):
        look = begun().tensor("before", elements=1)
        added(look).detached("l0d", "l0")
        look.operator("aten::mul.Tensor", 1, reads=f"t2 {scale}", makes="scaled", **ONE)
        assert (found(back(look, "scaled", "h0 h1 h2")) is None) is joined


def test_what_is_freed_before_or_read_for_all_is_not_kept_by_one() -> None:
    look = added(begun()).free("h1")
    answer = found(back(look, "t2", "h0 h2"))
    assert answer is not None and (answer.kept_bytes, answer.largest_bytes) == (16_000, 12_000)


@pytest.mark.parametrize(
    ("source", "loop"),
    [
        ("for x in data:\n    for each in x:\n        loss += f(each)\n    loss.backward()\n", 2),
        # one line that calls three times
        ("for x in data:\n    loss = 0\n    loss = f(x) + f(y) + f(z)\n    loss.backward()\n", None),
        ("for x in data:\n    loss = 0\n    loss = sum([f(each) for each in x])\n    loss.backward()\n", 3),
    ],
)
def test_the_loop_holds_the_forward_passes_and_not_the_backward_pass(source: str, loop: int | None) -> None:
    builder = TraceBuilder().context(cell=Cell(source=source, filename=CELL_FILE))
    look = LookBuilder(builder).tensor("w", kind=ValueKind.PARAMETER, grad=True)
    answer = found(back(added(look), "t2", "h0 h1 h2"))
    assert (answer.loop if answer else None) == loop


CALLED = """def losses(x):
    for each in x:
        loss += f(each)
    loss.backward()

for epoch in range(3):
    losses(data)
"""


@pytest.mark.parametrize(("callers", "loop"), [((7,), 2), ((), 2)])
def test_of_a_function_that_a_loop_calls_its_own_loop_counts(callers: tuple[int, ...], loop: int) -> None:
    """Both passes are reached from line 7, which says nothing of where they part."""
    builder = TraceBuilder().context(cell=Cell(source=CALLED, filename=CELL_FILE))
    look = LookBuilder(builder).tensor("w", kind=ValueKind.PARAMETER, grad=True)
    at = {"graph": True, "line": 3, "by_lines": callers}
    for each in range(3):
        look.tensor(f"x{each}").operator("aten::mm", 10, reads=f"x{each} w", makes=f"h{each}", elements=1000, **at)
        look.operator("aten::sum", 10, reads=f"h{each}", makes=f"l{each}", elements=1, **at)
        total = f"t{each - 1}" if each else ""
        look.operator("aten::add.Tensor", 1, reads=f"{total} l{each}", makes=f"t{each}", elements=1, **at)
    after = {"line": 4, "by_lines": callers}
    look.operator("aten::ones_like", 1, reads="t2", makes="g", elements=1, **after)
    for name in ("h2", "h1", "h0"):
        look.operator("aten::mm", 5, reads=f"g {name}", makes="gw", backward=True, forward_of=name, **after).free(name)
    answer = found(look)
    assert answer is not None and answer.loop == loop


def test_nothing_without_a_look() -> None:
    assert Results(TraceBuilder().build()).get(SummedLosses).found is None
