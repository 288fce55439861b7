"""What is said of loops over small pieces, where the look was whole and where it was cut off."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Cell
from gpuprof.model.kinds import ValueKind
from gpuprof.model.memory import Composition, ModuleBytes
from gpuprof.model.operands import MadeValue
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.needless.pieces_one_by_one import PiecesOneByOne
from tests.analyses.accounts.cells import line as cell_line
from tests.rules.cases.needless.pieces_one_by_one import looked
from tests.rules.needless.unread_runs import recorded
from tests.support.look_builder import LookBuilder
from tests.support.trace_builder import TraceBuilder


def said(**facts: Any) -> Finding | Abstention | None:
    return PiecesOneByOne().check(Results(looked(80, **facts)))


def test_of_a_look_that_was_cut_off_the_recording_says_the_share() -> None:
    """80 % in the close look, 600 of 1000 µs of a recorded step."""
    for share in (None, 0.3):
        found = said(operators_share=share, ended_by="seconds")
        assert isinstance(found, Finding)
        assert found.title == "A Python loop processes small pieces one by one: 60 % of the recorded time"
        assert found.evidence["loop_share"] == pytest.approx(0.6)
        assert "80 % of the operators’ time in the close look" in found.explanation


def test_of_a_look_that_was_cut_off_the_sampled_lines_say_the_share() -> None:
    """Line 3 has 70 % of the cell, hardly anything of it in the recording."""
    builder = TraceBuilder()
    for number, us in ((3, 700_000), (9, 300_000)):
        builder.stack(number * 1_000_000, us, cell_line(number))
    look = LookBuilder(builder).tensor("x", shape=(20, 64))
    for row in range(20):
        look.part("row", "x", shape=(64,), strides=(1,), offset=64 * row, view=row)
        look.operator("aten::exp", 10, reads="row", makes=f"y{row}", shape=(64,), line=3)
    found = PiecesOneByOne().check(Results(look.build(operators_share=None, ended_by="seconds")))
    assert isinstance(found, Finding)
    assert found.title == "A Python loop processes small pieces one by one: about 70 % of the cell"
    assert found.saving is not None and found.saving.of_cell
    assert found.saving.share == pytest.approx(0.7 * 0.69)


def test_where_lines_were_not_recorded_nothing_is_known_of_a_part_of_an_iteration() -> None:
    assert isinstance(said(operators_share=None, line=5), Abstention)


def test_fewer_turns_are_those_before_the_end() -> None:
    found = said(turns=5, ended_by="seconds")
    assert found is None
    look = LookBuilder(recorded("aten::exp", "aten::mm")).tensor("x", shape=(5, 64))
    for row in range(5):
        look.part("row", "x", shape=(64,), strides=(1,), offset=64 * row, view=row)
        look.operator("aten::exp", 10, reads="row", makes=f"y{row}", shape=(64,), line=3, random=row >= 0)
    found = PiecesOneByOne().check(Results(look.build(ended_by="seconds")))
    assert isinstance(found, Finding)
    assert "run 5 times in a row before the close look ended" in found.explanation
    assert found.change.endswith("It then draws other random numbers than the loop.")
    assert '`torch.vmap(f, randomness="different")(x)`' in found.change


def test_a_tensor_that_is_searched_is_to_be_sorted() -> None:
    look = LookBuilder(recorded("aten::eq", "aten::nonzero")).tensor("x", shape=(90_000,))
    for each in range(20):
        look.operator("aten::eq", 10, reads="x", makes=f"m{each}", shape=(90_000,), line=3)
        look.operator("aten::nonzero", 10, reads=f"m{each}", makes=f"y{each}", shape=(9, 1), line=3)
    found = PiecesOneByOne().check(Results(look.build()))
    assert isinstance(found, Finding)
    assert found.title.startswith("A whole tensor of shape [90000] is searched in each iteration of a loop: 100 %")
    assert "Each time they compare the whole tensor of shape [90000] with one item" in found.explanation
    assert "torch.searchsorted" in found.change


def test_a_backward_pass_of_the_loop_counts() -> None:
    look = LookBuilder(recorded("aten::exp", "aten::mm"))
    for each in range(2):
        look.tensor("x", shape=(20, 64))
        for row in range(20):
            look.part("row", "x", shape=(64,), strides=(1,), offset=64 * row, view=row)
            look.operator("aten::exp", 1, reads="row", makes=f"y{row}", shape=(64,), line=3, iteration=each)
        for row in range(20):
            made: dict[str, Any] = {"backward": True, "forward_line": 3, "line": 4, "iteration": each, "shape": (64,)}
            look.operator("aten::mul", 3, reads=f"y{row}", makes="g", **made)
    whole, cut = (PiecesOneByOne().check(Results(look.build(operators_share=share))) for share in (1.0, None))
    assert isinstance(whole, Finding) and isinstance(cut, Finding)
    assert whole.evidence["backward_share"] == pytest.approx(0.75)
    assert "100 % of the operators’ time in the close look, 75 % of it in backward passes" in whole.explanation
    # nothing joins the recorded operators to a backward pass
    assert cut.evidence["loop_share"] == pytest.approx(0.6)


def test_of_gradients_of_each_piece_it_says_how_to_get_all() -> None:
    found = gradients_of_pieces()
    assert found.title.startswith("Gradients are computed for one small piece at a time: ")
    assert "`torch.func.vmap(torch.func.grad(loss), (None, 0, 0))(params, x, y)`" in found.change


def test_torch_vmap_draws_random_numbers_only_where_it_is_told_how() -> None:
    change = gradients_of_pieces(random=True).change
    assert '`torch.func.vmap(torch.func.grad(loss), (None, 0, 0), randomness="different")(params, x, y)`' in change


def gradients_of_pieces(random: bool = False) -> Finding:
    """A forward and a backward pass for each of 20 rows, with dropout where it is random."""
    look = LookBuilder(recorded("aten::exp", "aten::mm")).tensor("x", shape=(20, 64))
    for row in range(20):
        look.part("row", "x", shape=(64,), strides=(1,), offset=64 * row, view=row)
        look.operator("aten::exp", 1, reads="row", makes=f"y{row}", shape=(64,), line=3, random=random)
        look.operator(
            "aten::mul", 3, reads=f"y{row} row", makes="g", backward=True, forward_line=3, line=4, shape=(64,)
        )
    found = PiecesOneByOne().check(Results(look.build()))
    assert isinstance(found, Finding)
    return found


ROWS = """\
def rate(dataset, right=0):
    for row, label in dataset:
        y = model(row)
        right += (y.item() > 0) == label
    return right

rate(images)
"""


def rows_one_by_one(source: str = ROWS, **context: Any) -> Results:
    """Rows from elsewhere go through a model one by one, and Python reads each result."""
    model = Composition(device="cpu", parameter_bytes=40, modules=(ModuleBytes(name="model", parameter_bytes=40),))
    builder = recorded("aten::addmm", "aten::mm").context(
        cell=Cell(filename="cell", source=source), compositions=(model,), **context
    )
    called = source.count("\n")
    look = LookBuilder(builder).tensor("w", shape=(5, 2), kind=ValueKind.PARAMETER)
    for row in range(20):
        look.tensor(f"x{row}", shape=(1, 5))
        made = {"reads": f"x{row} w", "makes": f"y{row}"}
        look.operator("aten::addmm", 10, **made, shape=(1, 2), line=3, by_lines=(called,))
        look.operator("aten::_local_scalar_dense", 1, reads=f"y{row}", line=4, by_lines=(called,))
    return Results(look.build())


def test_the_text_may_show_that_what_python_reads_ties_no_turns() -> None:
    found = PiecesOneByOne().check(rows_one_by_one())
    assert isinstance(found, Finding)
    assert found.where.lines == (3, 4)
    assert "The loop at line 2 runs its operators 20 times, on results of 2 elements" in found.explanation
    assert "By its text, no turn needs another one." in found.explanation
    tied = ROWS.replace("model(row)", "model(row + right)")
    assert PiecesOneByOne().check(rows_one_by_one(tied)) is None


@pytest.mark.parametrize(("contents", "found"), [(None, False), (7, False), (8, True), (0, True)])
def test_with_a_loop_around_it_the_looks_have_to_show_many_turns(contents: int | None, found: bool) -> None:
    seen = {"file": "cell", "function": "rate", "first": 1, "name": "label", "kind": "builtins.int"}
    values = () if contents is None else (MadeValue(**seen, looks=90, made=64, contents=contents),)
    around = ROWS.replace("rate(images)", "for epoch in range(9):\n    rate(images)")
    told = PiecesOneByOne().check(rows_one_by_one(around, made_values=values))
    assert isinstance(told, Finding) == found
    assert not isinstance(told, Finding) or "The loop at line 2 runs its operators on results" in told.explanation
