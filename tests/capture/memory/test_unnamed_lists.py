"""Lists that are being filled."""

from __future__ import annotations

import dis
import gc
from collections.abc import Iterator
from typing import Any

import torch

from gpuprof.capture.memory.unnamed_lists import is_filling, unnamed_lists


class Seen:
    """How many items the lists of tensors had, those of this test."""

    def __init__(self) -> None:
        self.mark = torch.zeros(3)
        self.lengths: list[int] = []
        self.old = False

    def look(self, at: int) -> torch.Tensor:
        if at == 5:
            self.lengths = [len(each) for each in unnamed_lists(old=self.old) if each[0] is self.mark]
        return self.mark


def test_a_comprehension_and_a_call_of_list() -> None:
    seen = Seen()
    kept = [seen.look(at) for at in range(8)]
    assert seen.lengths == [5] and len(kept) == 8

    def each() -> Iterator[Any]:
        for at in range(8):
            yield seen.look(at)

    del kept
    list(each())
    assert seen.lengths == [5]


def test_an_old_list_where_it_is_asked_for() -> None:
    seen = Seen()
    assert len([(at == 4 and gc.collect(), seen.look(at))[1] for at in range(8)]) == 8
    assert seen.lengths == []
    seen.old = True
    assert len([(at == 4 and gc.collect(), seen.look(at))[1] for at in range(8)]) == 8
    assert seen.lengths == [5]


def test_a_list_with_a_name_is_none() -> None:
    seen, kept = Seen(), list[torch.Tensor]()
    for at in range(8):
        kept.append(seen.look(at))
    # the variable is one reference, too: but `named` is a second one
    named = kept
    seen.look(5)
    assert seen.lengths == [] and named is kept


def within(function: Any, name: str = "") -> set[bool]:
    """Whether it is filling a list, at each of its instructions; or the code inside it of that name."""
    code = function.__code__
    inner = [each for each in code.co_consts if name and getattr(each, "co_name", "") == name]
    code = next(iter(inner), code)
    return {is_filling(code, each.offset) for each in dis.get_instructions(code)}


def filled(loader: Any) -> Any:
    loader.start()
    return [each for each in loader]  # noqa: C416


def called(loader: Any) -> Any:
    return list(loader)


def neither(loader: Any) -> Any:
    for each in loader:
        each.append(loader)


def test_code_that_may_be_filling_one() -> None:
    assert within(filled, "<listcomp>") == {True, False}
    assert within(called) == {True}
    assert within(neither) == {False}
