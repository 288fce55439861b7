"""What is said of work that is repeated: where to keep it depends on when it is the same."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Cell
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.needless.repeated_work import RepeatedOperators
from tests.rules.cases.needless.repeated_work import recorded
from tests.support.look_builder import LookBuilder
from tests.support.trace_builder import CELL_FILE, TraceBuilder


def told(*matrices: str, graph: bool = False) -> Finding:
    """The inverse of that matrix in each iteration."""
    look = LookBuilder(recorded())
    for name in dict.fromkeys(matrices):
        look.tensor(name)
    for each, name in enumerate(matrices):
        look.tensor(f"x{each}")
        look.operator("aten::linalg_inv_ex", 50, reads=name, makes="k", line=3, iteration=each, graph=graph)
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


@pytest.mark.parametrize(("callers", "said"), [("1111", ", called from line 1 ("), ("1221", "Line 3 (")])
def test_the_call_is_named_where_it_is_one(callers: str, said: str) -> None:
    """A function is called with the present state and with a new one: the first call is the one to leave out."""
    look = LookBuilder(recorded()).tensor("a")
    for each, caller in enumerate(callers):
        look.operator("aten::linalg_inv_ex", 50, reads="a", makes="k", line=3, by_lines=(int(caller),), iteration=each)
    found = RepeatedOperators().check(Results(look.build()))
    assert isinstance(found, Finding) and said in found.explanation


def cut_off(line_ms: dict[int, float], **facts: object) -> Finding | Abstention | None:
    """A look that ended within its first iteration: line 3 inverted the same matrix four times, line 4 took as long."""
    builder, at = TraceBuilder().operator("aten::empty", 0, 1), 1.0
    for line, ms in line_ms.items():
        builder.stack(at, ms * 1000, (CELL_FILE, "<module>", line))
        at += ms * 1000
    look = LookBuilder(builder.context(cell=Cell(source="a\nb\nc\nd\n", filename=CELL_FILE))).tensor("a")
    for each in range(4):
        look.tensor(f"x{each}").operator("aten::linalg_inv_ex", 50, reads="a", makes="k", line=3)
        look.operator("aten::mm", 50, reads=f"k x{each}", makes="y", line=4)
    return RepeatedOperators().check(Results(look.build(operators_share=None, ended_by="seconds", **facts)))


def test_a_look_that_saw_a_part_of_an_iteration_counts_by_the_time_of_the_lines() -> None:
    found = cut_off({3: 400, 4: 100, 9: 500})
    assert isinstance(found, Finding)
    # three of four inverses
    assert found.title == "The same computation is repeated: 30 % of the cell"
    assert found.explanation.endswith("so the share of the cell comes from samples of these lines.")
    assert found.saving is not None and found.saving.share == pytest.approx(0.3)
    assert found.where.lines == (3,)
    # of the operators that the look saw
    assert (found.evidence["repeated_share"], found.evidence["cell_share"]) == (0.375, 0.3)


@pytest.mark.parametrize("line_ms", [{3: 100, 4: 100, 9: 800}, {4: 500, 9: 500}])
def test_of_such_a_look_little_is_not_told(line_ms: dict[int, float]) -> None:
    assert isinstance(cut_off(line_ms), Abstention)


def test_without_samples_such_a_look_says_nothing() -> None:
    assert isinstance(cut_off({}), Abstention)


def test_what_a_backward_pass_makes_is_not_to_be_kept() -> None:
    """GIVEN a product in `backward()` that is repeated with the inverse WHEN something reads it."""
    look = LookBuilder(recorded()).tensor("a")
    for each in range(4):
        look.tensor(f"x{each}").operator("aten::linalg_inv_ex", 50, reads="a", makes="k", line=3, iteration=0)
        look.operator("aten::mm", 40, reads=f"k x{each}", makes="y", line=4, iteration=0)
        look.operator("aten::cat", 5, reads="k", makes="c", line=5, iteration=0, backward=True)
        look.operator("aten::mul", 5, reads=f"c x{each}", makes="z", line=6, iteration=0, backward=True)
    found = RepeatedOperators().check(Results(look.build()))
    assert isinstance(found, Finding)
    assert "Keep the result of line 3 " in found.change and "line 5" not in found.change


@pytest.mark.parametrize(
    ("matrices", "where"),
    [
        (
            "aaaa",
            "Compute it once, before the loop in which its inputs stay the same, under `torch.no_grad()`, and keep",
        ),
        ("aabbcc", "Keep the value of the last iteration in a variable, computed under `torch.no_grad()`, and use it"),
    ],
)
def test_a_graph_is_not_kept_for_later_iterations(matrices: str, where: str) -> None:
    found = told(*matrices, graph=True)
    assert found.change.startswith(where)
    assert " If a step needs its gradients, compute it once per step instead, and let one backward pass" in found.change
    assert "grad" not in told(*matrices).change


def within(*graphs: bool, iteration: int = 0) -> Finding:
    """The same inverse once for each of them, with gradients or without."""
    look = LookBuilder(recorded()).tensor("a")
    for each, graph in enumerate(graphs):
        look.tensor(f"x{each}")
        look.operator("aten::linalg_inv_ex", 50, reads="a", makes="k", line=3, iteration=iteration, graph=graph)
        look.operator("aten::mm", 50, reads=f"k x{each}", makes="y", line=4, iteration=iteration)
    found = RepeatedOperators().check(Results(look.build()))
    assert isinstance(found, Finding)
    return found


@pytest.mark.parametrize("graphs", [(True, True), (False, True), (True, False)])
def test_within_an_iteration_it_keeps_its_gradients(graphs: tuple[bool, ...]) -> None:
    """Either of them may be the one that is under `no_grad`: what it made has no gradient."""
    assert within(*graphs).change.startswith(
        "Compute it once per iteration and use the result again. Compute it with gradients, outside of "
        "`torch.no_grad()`, give a use that needs none `.detach()`, and let one backward pass go through it (add the "
        "losses up)."
    )
    unknown = within(*graphs, iteration=-1).change
    assert " Within one iteration compute it with gradients" in unknown
    assert " For later iterations compute it under `torch.no_grad()`. Keep the result" in unknown


def test_each_line_whose_result_is_read_is_to_be_kept() -> None:
    """A factor and what is solved with it; the random part of a line is not kept."""
    look = LookBuilder(recorded()).tensor("a")
    for each in range(4):
        look.tensor(f"x{each}").operator("aten::linalg_cholesky_ex", 50, reads="a", makes="l", line=3, iteration=each)
        look.operator("aten::cholesky_solve", 20, reads="l", makes="s", line=4, iteration=each)
        look.operator("aten::mm", 10, reads=f"l x{each}", makes="y", line=5, iteration=each)
        look.operator("aten::mv", 10, reads=f"s x{each}", makes="z", line=5, iteration=each)
    trace = look.build()
    change = told_of(trace).change
    assert "Keep the results of line 3 (" in change and ") and line 4 (" in change and ", which line 5 uses." in change
    look = LookBuilder(recorded()).tensor("a")
    for each in range(4):
        look.tensor(f"x{each}").operator("aten::linalg_inv_ex", 50, reads="a", makes="k", line=3, iteration=each)
        look.operator("aten::bernoulli", 10, reads="k", makes="m", line=3, iteration=each, random=True)
        look.operator("aten::mm", 10, reads=f"k m x{each}", makes="y", line=4, iteration=each)
    assert "Of line 3 keep only what repeats: `bernoulli` there gives another result" in told_of(look.build()).change


def told_of(trace: Trace) -> Finding:
    found = RepeatedOperators().check(Results(trace))
    assert isinstance(found, Finding)
    return found


def test_without_a_graph_gradients_are_not_mentioned() -> None:
    assert "grad" not in within(False, False).change and "grad" not in within(False, False, iteration=-1).change
