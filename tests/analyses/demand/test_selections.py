"""Which arguments operators take nothing of, in real looks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from gpuprof.analyses.demand.looked import operators_of, values_of
from gpuprof.analyses.demand.selections import Selection, selections
from tests.support.looked_runs import looked_at

ALL, NONE = torch.ones(4, dtype=torch.bool), torch.zeros(4, dtype=torch.bool)
SOME = torch.tensor([True, False, True, True])
A, B = torch.rand(4), torch.rand(4)


def chosen(code: Callable[[], Any]) -> list[tuple[str, Selection]]:
    trace = looked_at(lambda look: code())
    operators = operators_of(trace)
    found = selections(operators, values_of(trace))
    return [(operators[row].name.partition(".")[0], each) for row, each in sorted(found.items())]


@pytest.mark.parametrize(
    ("code", "unread"),
    [
        (lambda: torch.where(ALL, A, B), (2,)),
        (lambda: torch.where(NONE, A, B), (1,)),
        (lambda: torch.where(SOME, A, B), None),
        (lambda: A.masked_fill(ALL, 0.0), (0,)),
        (lambda: A.masked_fill(NONE, 0.0), None),
        (lambda: A.masked_fill(NONE, torch.tensor(2.0)), (2,)),
        (lambda: A * NONE, (0,)),
        (lambda: A * NONE.long(), (0,)),
        (lambda: NONE.float() * A, (1,)),
        (lambda: A * (~ALL).float(), (0,)),
        (lambda: A * ALL, None),
        (lambda: A * torch.zeros(4), None),
        (lambda: ALL | SOME, (1,)),
        (lambda: SOME & NONE, (0,)),
        (lambda: NONE | SOME, None),
        (lambda: A.clone().__setitem__(NONE, B[:0]), (2,)),
        (lambda: A.clone().__setitem__(ALL, B), (0,)),
        (lambda: A.clone().__setitem__(SOME, B[:3]), None),
        (lambda: torch.rand(5, 4).__setitem__((slice(None), ALL), 1.0), None),
    ],
)
def test_what_is_not_taken(code: Callable[[], Any], unread: tuple[int, ...] | None) -> None:
    found = [each.unread for _, each in chosen(code)]
    assert found == ([] if unread is None else [unread])


def test_of_two_masks_the_one_that_was_there_first_decides() -> None:
    (_, one), (_, other) = chosen(lambda: [ALL | ~NONE, ~NONE | ALL])
    assert (one.unread, other.unread) == ((1,), (0,))


def loop(update: Callable[[Any, int], Any], start: Any, turns: int = 4) -> list[bool]:
    """Whether the flags by which each turn chooses are said to last."""

    def code() -> Any:
        flags = start.clone()
        for turn in range(turns):
            torch.where(flags, A, B)
            flags = update(flags, turn)
        return flags

    return [each.lasting for name, each in chosen(code) if name == "aten::where"]


def grown(turn: int) -> Any:
    return torch.arange(4) <= turn + 2


@pytest.mark.parametrize(
    ("update", "start", "lasting"),
    [
        (lambda flags, turn: flags | grown(turn), NONE, [False, True, True]),
        (lambda flags, turn: flags.logical_or(grown(turn)), SOME, [True, True, True]),
        (lambda flags, turn: flags & ~grown(turn), ALL, [False, True, True]),
        (lambda flags, turn: flags.masked_fill(grown(turn), True), SOME, [True, True, True]),
        (lambda flags, turn: flags.masked_fill(grown(turn), False), ALL, [False, True, True]),
        # they may change again
        (lambda flags, turn: flags.masked_fill(grown(turn), bool(turn % 2)), NONE, [False] * 4),
        (lambda flags, turn: grown(turn) | grown(turn), NONE, [False, False, False]),
        (lambda flags, turn: flags.clone(), ALL, [False, False, False, False]),
        (lambda flags, turn: flags | NONE, NONE, [False, False, False, False]),
    ],
)
def test_flags_that_stay_as_they_are(update: Callable[[Any, int], Any], start: Any, lasting: list[bool]) -> None:
    assert loop(update, start) == lasting


def test_flags_that_are_asked_for() -> None:
    def code(ask: Callable[[Any], Any]) -> list[bool]:
        def turns() -> None:
            done = NONE.clone()
            for turn in range(5):
                torch.where(done, A, B)
                done |= grown(turn)
                if turn == 4:
                    bool(ask(done))

        return [each.tested for name, each in chosen(turns) if name == "aten::where" and each.lasting]

    assert code(torch.all) == [True] * 3
    assert code(lambda done: (~done).any()) == [True] * 3
    assert code(lambda done: done.sum() > 9) == [False] * 3
