"""When a session looks: after the recorded part, between iterations, within its budget; and what that leaves out."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from gpuprof.capture.look import look_budget, look_watch
from gpuprof.capture.session.session import Session
from gpuprof.ingest.load import load_captured, load_trace
from tests.capture.cells import loader, model, train, train_from
from tests.test_import_light import loaded_by

NewSession = Callable[..., Session]


def looked(session: Session, cell: Callable[[], Any]) -> Any:
    session.start()
    try:
        cell()
    finally:
        captured = session.stop()
    assert torch._C._len_torch_dispatch_stack() == 0
    assert "numpy" not in vars(torch.Tensor)
    return load_captured(captured)


def test_iterations_after_the_recorded_ones_are_looked_at(new_session: NewSession) -> None:
    trace = looked(new_session(steps=5, skip=1, close_look=True), lambda: train(60))
    look, window = trace.context.look, trace.context.window
    assert (look.ended_by, look.skipped, look.iterations) == ("iterations", None, 3)
    assert np.bincount(trace.looked_operators["iteration"]).min() > 10
    assert look.start_ns >= window.end_ns
    assert look.names == () and "aten::addmm" in trace.names_of(trace.looked_operators)
    plain = trace.iterations["plain"]
    starts, ends = trace.iterations["start_ns"], trace.iterations["start_ns"] + trace.iterations["duration_ns"]
    beside = (ends > look.start_ns) & (starts < look.end_ns)
    assert beside.sum() >= 3
    assert not plain[beside].any()
    assert plain[-10:].all() and plain.sum() >= 40


def test_with_a_loader_it_begins_and_ends_where_a_batch_is_asked_for(new_session: NewSession) -> None:
    trace = looked(new_session(steps=5, skip=1, close_look=True), lambda: train_from(loader(60)))
    names, iteration = trace.names_of(trace.looked_operators), trace.looked_operators["iteration"]
    for number in range(trace.context.look.iterations):
        those = [name for name, of in zip(names, iteration, strict=True) if of == number]
        assert those.index("aten::stack") < those.index("aten::addmm") < len(those) - 1


def test_by_default_a_short_cell_is_not_looked_at(new_session: NewSession, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = looked(new_session(steps=5, skip=1), lambda: train(60))
    assert trace.context.look.skipped == "the cell was too short"
    assert not len(trace.looked_operators)
    monkeypatch.setattr(look_budget, "_LEAST_CELL_NS", 50_000_000)
    monkeypatch.setattr(look_budget, "_MOST_SHARE", 1.0)
    trace = looked(new_session(steps=5, skip=1), lambda: train(60, pause_s=0.002))
    assert trace.context.look.ended_by == "iterations"


def test_the_budget_grows_with_the_cell(new_session: NewSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look_budget, "_LEAST_CELL_NS", 0)
    monkeypatch.setattr(look_budget, "_MOST_SHARE", 1e-9)
    trace = looked(new_session(steps=5, skip=1), lambda: train(60))
    assert trace.context.look.skipped == "no iteration began while there was time for it"


def test_a_look_that_is_cut_off_is_taken_again_when_there_is_time(
    new_session: NewSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(look_budget, "_LEAST_CELL_NS", 0)
    little, much = 1_000_000, 800_000_000
    left = property(lambda self: much if self.spent_ns else little)
    monkeypatch.setattr(look_budget.LookBudget, "left_ns", left)
    monkeypatch.setattr(look_budget, "_ADDED", 0.0)
    trace = looked(new_session(steps=5, skip=1), lambda: train(100, pause_s=0.002))
    look = trace.context.look
    assert (look.ended_by, look.iterations >= 2) == ("iterations", True)
    of_tables = int(trace.looked_operators["duration_ns"].sum())
    assert look.cost_ns > little and of_tables > 0
    assert trace.iterations["plain"].sum() >= 70


def test_what_was_cut_off_stays_where_no_time_comes(new_session: NewSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look_budget, "_LEAST_CELL_NS", 0)
    left = property(lambda self: 0 if self.spent_ns else 1_000_000)
    monkeypatch.setattr(look_budget.LookBudget, "left_ns", left)
    monkeypatch.setattr(look_budget, "_ADDED", 0.0)
    trace = looked(new_session(steps=5, skip=1), lambda: train(100, pause_s=0.002))
    look = trace.context.look
    assert (look.ended_by, look.skipped) == ("seconds", None)
    assert len(trace.looked_operators) and look.cost_ns >= 1_000_000


@pytest.mark.parametrize("asked", [False, True])
def test_small_matrices_are_inspected_on_request(new_session: NewSession, asked: bool) -> None:
    table, optimizer = torch.eye(64), torch.optim.SGD(model().parameters(), lr=0.01)

    def cell() -> None:
        for _ in range(60):
            table.mm(table)
            train(1, optimizer=optimizer)

    trace = looked(new_session(steps=5, skip=1, close_look=True, inspect=asked), cell)
    assert len(trace.looked_values)
    assert (trace.looked_values["zeros_share"] > 0.9).any() == asked


def train_and_evaluate(pieces: int) -> None:
    """Steps that take little, and an evaluation of so many pieces between them, until that was looked at."""
    table, end, looking = torch.randn(300, 300), time.monotonic() + 60, False
    while time.monotonic() < end and not looking:
        train(10)
        for start in range(pieces):
            scores = table.roll(start)
            for _ in range(10):
                scores = scores @ table
            scores.sort(dim=1)
            looking = looking or torch._C._len_torch_dispatch_stack() > 0
    train(10)


def test_the_evaluation_between_the_steps_is_looked_at_too(new_session: NewSession) -> None:
    trace = looked(new_session(steps=5, skip=1, close_look=True), lambda: train_and_evaluate(60))
    look, operators = trace.context.look, trace.looked_operators
    assert [each.told for each in look.parts] == [True, False]
    names = trace.names_of(operators)
    assert {"aten::addmm"} <= set(names[operators["look"] == 0])
    assert "aten::sort" in names[operators["look"] == 1] and "aten::sort" not in names[operators["look"] == 0]
    evaluated = operators["iteration"][(operators["look"] == 1) & (names == "aten::sort")]
    assert len(np.unique(evaluated)) >= 3
    assert look.cost_ns > 0


def train_and_sort() -> None:
    """Ten short steps, then one long operator, again and again, until a look goes on at its end."""
    table, end, looking = torch.randn(400, 40_000), time.monotonic() + 60, False
    while time.monotonic() < end and not looking:
        train(10)
        table.argsort(dim=1)[:, :20].sum()
        looking = torch._C._len_torch_dispatch_stack() > 0
    train(10)


def test_one_long_operator_between_the_steps_is_seen(new_session: NewSession) -> None:
    """What is asked of the main thread comes when the operator has ended: the look waits for the next one. Where other
    programs hold the cores it may come too late for that: so three tries."""
    for _ in range(3):
        trace = looked(new_session(steps=5, skip=1, close_look=True), train_and_sort)
        names = trace.names_of(trace.looked_operators)
        if "aten::sort" in names:
            break
    assert "aten::sort" in names
    assert all(each.iterations > 0 for each in trace.context.look.each)


def evaluate_until_looked_at() -> None:
    table, end, looked_at = torch.randn(300, 300), time.monotonic() + 60, False
    while time.monotonic() < end and not (looked_at and not torch._C._len_torch_dispatch_stack()):
        looked_at = looked_at or torch._C._len_torch_dispatch_stack() > 0
        (table @ table).sort(dim=1)


def test_what_follows_the_last_step_is_looked_at(new_session: NewSession) -> None:
    """The steps ended with the recording: no iteration of theirs is left to look at."""

    def cell() -> None:
        train(40)
        evaluate_until_looked_at()

    trace = looked(new_session(close_look=True), cell)
    look, window = trace.context.look, trace.context.window
    assert (window.ended_by, window.steps_recorded, look.skipped) == ("pause", 40, None)
    names = trace.names_of(trace.looked_operators)
    assert {"aten::mm", "aten::sort"} <= set(names) and "aten::addmm" not in names


def test_steps_that_come_after_it_are_looked_at_too(new_session: NewSession) -> None:
    def cell() -> None:
        optimizer = torch.optim.SGD(model().parameters(), lr=0.01)
        train(40, optimizer=optimizer)
        evaluate_until_looked_at()
        train(40, optimizer=optimizer)

    trace = looked(new_session(close_look=True), cell)
    look, operators = trace.context.look, trace.looked_operators
    names = trace.names_of(operators)
    assert [each.told for each in look.parts] == [False, True]
    assert "aten::sort" in names[operators["look"] == 0] and "aten::addmm" in names[operators["look"] == 1]


def test_what_came_before_the_first_step_stays(new_session: NewSession) -> None:
    """Recording begins anew at the first step, and looks at the steps; what was seen before is not forgotten."""

    def cell() -> None:
        evaluate_until_looked_at()
        train(60)

    trace = looked(new_session(steps=5, skip=1, close_look=True), cell)
    look, operators = trace.context.look, trace.looked_operators
    names = trace.names_of(operators)
    assert [each.told for each in look.parts] == [False, True]
    assert "aten::sort" in names[operators["look"] == 0] and "aten::addmm" in names[operators["look"] == 1]
    assert "aten::sort" not in names[operators["look"] == 1]


def test_it_can_be_left_out(new_session: NewSession) -> None:
    trace = looked(new_session(steps=5, skip=1, no_close_look=True), lambda: train(60))
    assert trace.context.look is None
    assert trace.iterations["plain"].sum() >= 50


def test_a_cell_that_is_recorded_to_its_end_is_not_looked_at(new_session: NewSession) -> None:
    trace = looked(new_session(close_look=True), lambda: train(3))
    assert trace.context.look.skipped == "the kernel recording lasted to the end of the cell"


def test_a_cell_without_steps_is_looked_at(new_session: NewSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look_budget, "_MOST_NS", 50_000_000)
    x = torch.ones(8, 8)

    def cell() -> None:
        end, on = time.monotonic() + 30, False
        while time.monotonic() < end and not (on and not torch._C._len_torch_dispatch_stack()):
            on = on or torch._C._len_torch_dispatch_stack() > 0
            x.mul(2)
        assert on

    trace = looked(new_session(max_seconds=0.1, close_look=True), cell)
    assert trace.context.look.ended_by == "seconds"
    # the iterations show in the operators
    assert trace.context.look.iterations > 2 and trace.looked_operators["iteration"].max() > 2


def test_a_cell_without_steps_is_looked_at_again_when_it_has_run_on(
    new_session: NewSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(look_budget, "_LEAST_CELL_NS", 0)
    monkeypatch.setattr(look_watch, "_LEAST_ELSEWHERE_NS", 0)
    monkeypatch.setattr(look_budget, "_MOST_SHARE", 0.02)
    x = torch.rand(64, 64)

    def cell() -> None:
        end, looks, on = time.monotonic() + 60, 0, False
        while time.monotonic() < end and (looks < 2 or on):
            before, on = on, torch._C._len_torch_dispatch_stack() > 0
            looks += on and not before
            x.sort() if looks < 2 else x.exp()

    trace = looked(new_session(max_seconds=0.1), cell)
    assert len(trace.context.look.parts) >= 2
    names, look = trace.names_of(trace.looked_operators), trace.looked_operators["look"]
    assert "aten::sort" in names[look == 0] and "aten::exp" in names[look == 1]


def test_a_line_without_steps_that_takes_most_of_the_time_is_looked_at(
    new_session: NewSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The look by itself would see the short operators of the inner loop alone."""
    monkeypatch.setattr(look_budget, "_LEAST_CELL_NS", 0)
    monkeypatch.setattr(look_watch, "_LEAST_FOR_A_TURN_NS", 0)
    monkeypatch.setattr(look_watch, "_MOST_LOOKS_ANYWHERE", 1)
    monkeypatch.setattr(look_budget, "_MOST_NS", 400_000_000)
    # a first look that ends before the long operator
    seconds, begun = iter([0.002]), list[float]()
    usual = look_watch.CloseLook

    def short_at_first(*args: Any, most_seconds: float, **others: Any) -> Any:
        begun.append(next(seconds, most_seconds))
        return usual(*args, most_seconds=begun[-1], **others)

    monkeypatch.setattr(look_watch, "CloseLook", short_at_first)
    x, wide = torch.rand(8, 8), torch.rand(700, 700)

    def cell() -> None:
        end, looks, on = time.monotonic() + 60, 0, False
        while time.monotonic() < end and (looks < 2 or on):
            for _ in range(40):
                before, on = on, torch._C._len_torch_dispatch_stack() > 0
                looks += on and not before
                x.mul(2)
            torch.linalg.svd(wide)

    trace = looked(new_session(max_seconds=0.1), cell)
    names = trace.names_of(trace.looked_operators)
    # the first look may have seen so little that nothing of it is kept
    assert len(begun) >= 2 and "aten::_linalg_svd" in names


def test_the_tables_and_what_is_said_of_them_are_on_disk(new_session: NewSession) -> None:
    session = new_session(steps=5, skip=1, close_look=True)
    session.start()
    train(40)
    captured = session.stop()
    assert captured.folder is not None
    read, kept = load_trace(captured.folder), load_captured(captured)
    assert read.context.look == kept.context.look is not None
    for name in ("looked_operators", "looked_values", "looked_reads", "looked_results"):
        assert read.tables[name].to_dict().keys() == kept.tables[name].to_dict().keys()
        assert len(read.tables[name]) == len(kept.tables[name]) > 0


def test_what_was_looked_at_is_read_and_judged_without_torch(new_session: NewSession) -> None:
    session = new_session(steps=5, skip=1, close_look=True)
    session.start()
    train(20)
    folder = session.stop().folder
    code = f"import gpuprof; run = gpuprof.load({str(folder)!r}); run.findings; assert len(run.trace.looked_operators)"
    assert "torch" not in loaded_by(code)


@pytest.mark.parametrize("error", [ValueError(), KeyboardInterrupt()])
def test_a_cell_that_raises_while_it_is_looked_at(new_session: NewSession, error: BaseException) -> None:
    session = new_session(steps=5, skip=1, close_look=True)
    seen = []

    def cell() -> None:
        for _ in range(40):
            train(1)  # each with an optimizer of its own: one step of it
        optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
        for _ in range(40):
            optimizer.step()
            if torch._C._len_torch_dispatch_stack():
                seen.append(1)
                raise error

    with pytest.raises(type(error)):
        looked(session, cell)
    assert seen
    assert torch._C._len_torch_dispatch_stack() == 0


def test_giving_up_takes_it_off(new_session: NewSession) -> None:
    session = new_session(steps=5, skip=1, close_look=True)
    session.start()
    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
    while not torch._C._len_torch_dispatch_stack():
        optimizer.step()
    assert session._watch is not None
    session._watch.abandon()
    assert torch._C._len_torch_dispatch_stack() == 0


def test_of_two_optimizers_whole_iterations_are_looked_at(new_session: NewSession) -> None:
    # GIVEN two optimizers that step in turn, one of which ends the iteration
    first, second = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)
    one, other = (torch.optim.SGD(net.parameters(), lr=0.01) for net in (first, second))

    def train_both() -> None:
        for _ in range(40):
            for net, optimizer in ((first, one), (second, other)):
                optimizer.zero_grad()
                net(torch.ones(4, 8)).sum().backward()
                optimizer.step()

    trace = looked(new_session(steps=5, skip=1, close_look=True), train_both)
    # THEN each iteration has the backward pass of both
    passes = np.char.startswith(trace.names_of(trace.looked_operators).astype(str), "aten::addmm")
    iterations = trace.looked_operators["iteration"][passes]
    assert np.bincount(iterations).tolist() == [2] * trace.context.look.iterations


def test_where_one_optimizer_steps_less_often_an_iteration_is_a_whole_turn_of_all(new_session: NewSession) -> None:
    one, other = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
    often = torch.optim.SGD(one.parameters(), lr=0.1)
    seldom = torch.optim.SGD(other.parameters(), lr=0.1)

    def cell() -> None:
        for step in range(120):
            for net, optimizer in ((one, often), (other, seldom)):
                if net is one or step % 3 == 2:
                    optimizer.zero_grad()
                    net(torch.ones(2, 4)).sum().backward()
                    optimizer.step()

    trace = looked(new_session(steps=12, skip=1, close_look=True), cell)
    look, operators = trace.context.look, trace.looked_operators
    assert look.ended_by == "iterations"
    backward = operators["backward"] & (np.array(trace.names_of(operators)) == "aten::mm")
    found = [int((backward & (operators["iteration"] == each)).sum()) for each in range(look.iterations)]
    # three steps of one and one of the other
    assert set(found) == {4}
