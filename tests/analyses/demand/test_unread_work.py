"""What nobody reads, in small programs that really run under the close look."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.looked_lines import LookedLines
from gpuprof.analyses.demand.unread_work import Unread, UnreadPlace, UnreadWork
from gpuprof.capture.look.close_look import CloseLook
from gpuprof.model.trace import Trace
from tests.support.look_builder import LookBuilder
from tests.support.looked_runs import looked_at

torch = pytest.importorskip("torch")


def found(trace: Trace, kind: Unread | None = None) -> list[UnreadPlace]:
    return [place for place in Results(trace).get(UnreadWork).places if kind in (None, place.kind)]


def each_turn(turn: Callable[[], Any], turns: int = 3) -> Trace:
    """The same in each of three iterations."""

    def code(look: CloseLook) -> list[Any]:
        kept = []
        for _ in range(turns):
            kept.append(turn())
            look.iteration_ended()
        return kept

    return looked_at(code, iterations=turns)


def operators(places: list[UnreadPlace]) -> set[str]:
    return {place.operator for place in places}


def test_nothing_is_known_without_a_look() -> None:
    assert not Results(LookBuilder().builder.build()).get(UnreadWork).looked


def test_code_that_is_not_seen_may_read_everything() -> None:
    looked = Results(LookBuilder().operator("aten::mm", 9, makes="x").free("x").build(unseen_writes=1)).get(UnreadWork)
    assert not looked.looked
    assert looked.reason == "code outside of torch’s operators reads or writes tensors"


def test_a_result_that_is_thrown_away() -> None:
    x = torch.rand(64, 64)

    def turn() -> Any:
        (x @ x).relu().sum()
        return x.exp()

    places = found(each_turn(turn), Unread.RESULTS)
    assert operators(places) <= {"aten::mm", "aten::relu", "aten::sum"}
    assert sum(place.operators for place in places) == 9
    assert all(place.elements_read == 0 for place in places)


def test_what_is_kept_printed_or_turned_into_numbers_is_read() -> None:
    x, kept = torch.rand(8, 8), []

    def turn() -> Any:
        kept.append(x @ x)
        (x + 1).tolist()
        (x + 2).numpy()
        return (x + 3).sum().item()

    assert not found(each_turn(turn))


def test_the_diagonal_of_a_product() -> None:
    x = torch.rand(40, 30)
    (place,) = found(each_turn(lambda: (x @ x.T).diagonal().sum().item()), Unread.PARTS)
    assert (place.operator, place.elements_read, place.elements_made) == ("aten::mm", 40, 1600)


def test_the_last_of_all_positions_with_the_backward_pass() -> None:
    """Through the bias, the softmax of each row, and the choice of a column."""
    head, hidden = torch.nn.Linear(16, 50), torch.rand(4, 10, 16)

    def turn() -> None:
        head.zero_grad()
        loss = torch.nn.functional.cross_entropy(head(hidden)[:, -1], torch.zeros(4, dtype=torch.long))
        loss.backward()
        with torch.no_grad():
            for parameter in head.parameters():
                parameter -= 0.1 * parameter.grad

    places = found(each_turn(turn), Unread.PARTS)
    assert {(place.elements_read, place.elements_made) for place in places} == {(200, 2000)}
    assert not found(each_turn(turn), Unread.GRADIENTS)


def _gan(detached: bool) -> Trace:
    # of the size at which products take most of the time
    maker, judge = torch.nn.Linear(256, 256), torch.nn.Linear(256, 1)
    of_maker, of_judge = (torch.optim.SGD(each.parameters(), lr=0.1) for each in (maker, judge))

    def turn() -> None:
        made = maker(torch.rand(64, 256))
        of_judge.zero_grad()
        judge(made.detach() if detached else made).mean().backward()
        of_judge.step()
        of_maker.zero_grad()
        judge.requires_grad_(False)
        judge(maker(torch.rand(64, 256))).mean().backward()
        judge.requires_grad_(True)
        of_maker.step()

    return each_turn(turn)


def test_gradients_that_are_zeroed_before_their_optimizer_steps() -> None:
    places = found(_gan(detached=False), Unread.GRADIENTS)
    assert "aten::mm" in {place.operator for place in places}
    assert len({place.place for place in places}) == 1


def test_detached_there_are_none() -> None:
    assert not found(_gan(detached=True), Unread.GRADIENTS)


@pytest.mark.parametrize("every", [2, 5])
def test_gradients_that_are_accumulated_are_read(every: int) -> None:
    """Also where the step comes after the look."""
    net = torch.nn.Linear(8, 8)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    turns = [0]

    def turn() -> None:
        net(torch.rand(4, 8)).sum().backward()
        turns[0] += 1
        if turns[0] % every == 0:
            optimizer.step()
            optimizer.zero_grad()

    assert not found(each_turn(turn), Unread.GRADIENTS)


def test_a_loss_that_is_not_printed_is_no_waste() -> None:
    net = torch.nn.Linear(8, 8)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def turn() -> None:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(net(torch.rand(4, 8)), torch.rand(4, 8)).backward()
        optimizer.step()

    assert not [place for place in found(each_turn(turn)) if "loss" in place.operator]


def test_statistics_of_a_forward_pass_are_kept() -> None:
    """As when they are computed anew after weights were averaged."""
    net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.BatchNorm1d(8))

    def turn() -> None:
        with torch.no_grad():
            net(torch.rand(4, 8))

    assert not found(each_turn(turn))


def test_memory_that_numpy_shares_is_read_there() -> None:
    import numpy as np

    shared = np.zeros((8, 8), np.float32)

    def turn() -> float:
        torch.from_numpy(shared).copy_(torch.rand(8, 8).exp())
        return float(shared.sum())

    assert not [place for place in found(each_turn(turn)) if place.operator != "aten::rand"]


def test_a_part_that_is_written_leaves_the_rest() -> None:
    def turn() -> Any:
        x = torch.rand(8, 8).exp()
        x[:4] = 0
        return x

    assert not found(each_turn(turn))


def test_what_is_read_in_some_iterations_only_is_needed() -> None:
    """Two of three throw it away; what the last one keeps may be wanted each time."""
    x, turns = torch.rand(32, 32), [0]

    def turn() -> Any:
        turns[0] += 1
        product = x @ x
        return product.tolist() if turns[0] == 2 else None

    assert not found(each_turn(turn), Unread.RESULTS)


def test_columns_of_a_decomposition_that_nobody_reads() -> None:
    """The first result has 400 columns, of which the smaller side has 30; they are for nothing where none is read."""
    x = torch.rand(400, 30)

    def values() -> Any:
        _, values, rows = torch.linalg.svd(x)
        return (values[:3] * rows[:3].T).sum()

    def first_columns() -> Any:
        columns, values, _ = torch.linalg.svd(x)
        return (columns[:, :30] * values).sum()

    def all_columns() -> Any:
        columns, values, _ = torch.linalg.svd(x)
        return columns.sum() + values.sum()

    def reduced() -> Any:
        _, values, _ = torch.linalg.svd(x, full_matrices=False)
        return values.sum()

    for turn in (values, first_columns):
        with torch.inference_mode(turn is values):
            (place,) = found(each_turn(turn), Unread.PARTS)
        assert place.operator in ("aten::_linalg_svd", "aten::linalg_svd")
        assert 0.5 * place.rows_ns < place.wasted_ns < place.rows_ns
        assert place.elements_read in (0, 400 * 30)
    for turn in (all_columns, reduced):
        assert "aten::_linalg_svd" not in operators(found(each_turn(turn)))


def test_a_decomposition_of_which_nothing_is_read() -> None:
    x = torch.rand(100, 30)
    places = found(each_turn(lambda: (torch.linalg.svd(x), x.sum())[1]), Unread.RESULTS)
    assert operators(places) == {"aten::_linalg_svd"}


@pytest.mark.parametrize("inference", [False, True])
def test_the_first_of_a_whole_sort(inference: bool) -> None:
    scores = torch.rand(40, 2000)
    with torch.inference_mode(inference):
        (place,) = found(each_turn(lambda: scores.argsort(dim=1, descending=True)[:, :20].sum()), Unread.PARTS)
        assert place.operator.startswith(("aten::sort", "aten::argsort")) and place.elements_read == 40 * 20
        assert not found(each_turn(lambda: scores.argsort(dim=1).sum()), Unread.PARTS)


def test_what_is_read_in_part_another_time_is_no_result_that_nobody_reads() -> None:
    """The look missed who read the first: a view of it came back as another tensor."""
    look = LookBuilder().tensor("k", shape=(20,))
    for each in range(3):
        look.tensor(f"x{each}", shape=(20, 400))
        look.operator("aten::argsort", 90, reads=f"x{each}", makes=f"r{each}", shape=(20, 400), iteration=each)
        if each:
            look.part(f"top{each}", f"r{each}", shape=(20, 4), strides=(400, 1))
            look.operator("aten::exp", 9, reads=f"top{each}", makes=f"y{each}", shape=(20, 4), line=2, iteration=each)
        look.free(f"r{each}")
    assert {place.kind for place in found(look.build())} == {Unread.PARTS}


def test_an_operator_that_waited_for_a_core_does_not_hide_it() -> None:
    """GIVEN two operators of one kind at a line, of which nobody reads the smaller one, in four iterations."""
    look = LookBuilder().tensor("x", shape=(20, 20)).tensor("y", shape=(10, 20))
    for each in range(4):
        waited = 50 if each == 2 else 1
        look.operator("aten::exp", 90 * waited, reads="x", makes=f"read{each}", shape=(20, 20), iteration=each)
        look.operator("aten::exp", 60, reads="y", makes=f"unread{each}", shape=(10, 20), iteration=each)
        look.operator("aten::sum", 9, reads=f"read{each}", makes=f"sum{each}", line=2, iteration=each)
        look.operator("aten::_local_scalar_dense", 9, reads=f"sum{each}", line=2, iteration=each)
        look.free(f"unread{each}").free(f"read{each}")
    (place,) = found(look.build(), Unread.RESULTS)
    assert (place.operator, place.operators) == ("aten::exp", 4)


def _gram(rows: Any) -> Any:
    return torch.exp(rows @ rows.T)


def _line_of(function: Callable[..., Any], text: str) -> int:
    lines, first = inspect.getsourcelines(function)
    return first + next(number for number, each in enumerate(lines) if text in each)


def test_a_line_that_others_need_all_of_is_judged_by_how_it_was_reached() -> None:
    x = torch.rand(40, 30)

    def turn() -> Any:
        whole = _gram(x + 1).sum().item()
        part = _gram(x).diagonal().sum().item()
        return whole + part

    trace = each_turn(turn)
    (place,) = found(trace, Unread.PARTS)
    assert (place.elements_read, place.elements_made, place.operators) == (40, 1600, 6)
    lines = Results(trace).get(LookedLines)
    computes, takes = lines.line(place.place), lines.line(place.taken_at)
    assert computes is not None and computes.line == _line_of(_gram, "torch.exp")
    assert takes is not None and takes.line == _line_of(turn, "diagonal")
    # one way alone: it is so each time, or it is not
    assert not found(each_turn(lambda: turn_of(x)), Unread.PARTS)


@pytest.mark.parametrize(("ended_by", "calls"), [("cell", 3), ("seconds", 2)])
def test_what_is_read_after_a_look_was_cut_off_is_not_known(ended_by: str, calls: int) -> None:
    x = torch.rand(40, 30)

    def code(_: CloseLook) -> Any:
        kept = []
        for number in range(3):
            made = _gram(x)
            kept.append(made if number == 2 else made.diagonal().sum().item())
        return kept

    trace = looked_at(code, iterations=2)
    assert trace.context.look is not None
    look = msgspec.structs.replace(trace.context.look, ended_by=ended_by)
    trace = replace(trace, context=msgspec.structs.replace(trace.context, look=look))
    (place,) = found(trace, Unread.PARTS)
    assert (place.line.calls, place.line.unread) == (calls, 2)


_TURNS = itertools.count()


def turn_of(x: Any) -> Any:
    """Every other time all of it is read."""
    made = _gram(x)
    return made.sum().item() if next(_TURNS) % 2 else made.diagonal().sum().item()


def test_the_view_that_selects_is_named_and_not_what_reads_it() -> None:
    x, weights = torch.rand(6, 12, 16), torch.rand(16, 32)

    def turn() -> Any:
        scores = x @ weights
        last = scores[:, -1]
        flat = last.unsqueeze(0)
        return flat.softmax(-1).sum().item()

    trace = each_turn(turn)
    place = found(trace, Unread.PARTS)[0]
    takes = Results(trace).get(LookedLines).line(place.taken_at)
    assert takes is not None and takes.line == _line_of(turn, "last = ")


@pytest.mark.parametrize(
    ("select", "seen"),
    [
        (lambda rows, mask: rows[mask], False),
        (lambda rows, mask: rows.masked_select(mask), False),
        (lambda rows, mask: mask.nonzero(), False),
        # numbers of rows: as many rows as numbers
        (lambda rows, mask: rows[torch.arange(4000)], True),
    ],
)
def test_what_is_chosen_by_its_content_takes_as_long_for_a_part(select: Callable[[Any, Any], Any], seen: bool) -> None:
    rows, mask = torch.randn(4000), torch.arange(4000) % 2 == 0

    def turn() -> Any:
        return select(rows, mask)[:6].sum().item()

    assert bool(found(each_turn(turn), Unread.PARTS)) is seen
