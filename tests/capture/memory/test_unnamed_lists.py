"""Lists that are being filled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from gpuprof.capture.memory.unnamed_lists import makes_list, unnamed_lists


class Seen:
    """How many items the lists of tensors had, those of this test."""

    def __init__(self) -> None:
        self.mark = torch.zeros(3)
        self.lengths: list[int] = []

    def look(self, at: int) -> torch.Tensor:
        if at == 5:
            self.lengths = [len(each) for each in unnamed_lists() if each[0] is self.mark]
        return self.mark


def test_a_comprehension_and_a_call_of_list() -> None:
    seen = Seen()
    kept = [seen.look(at) for at in range(8)]
    assert seen.lengths == [5]

    def each() -> Iterator[Any]:
        for at in range(8):
            yield seen.look(at)

    list(each())
    assert seen.lengths == [5] and len(kept) == 8


def test_a_list_with_a_name_is_none() -> None:
    seen, kept = Seen(), list[torch.Tensor]()
    for at in range(8):
        kept.append(seen.look(at))
    # the variable is one reference, too: but `named` is a second one
    named = kept
    seen.look(5)
    assert seen.lengths == [] and named is kept


def filled(loader: Any) -> Any:
    return [each for each in loader]  # noqa: C416


def called(loader: Any) -> Any:
    return list(loader)


def neither(loader: Any) -> Any:
    return sum(loader)


def test_code_that_may_fill_one() -> None:
    codes = [filled.__code__, *(each for each in filled.__code__.co_consts if hasattr(each, "co_code"))]
    assert any(map(makes_list, codes)) and makes_list(called.__code__)
    assert not makes_list(neither.__code__)
