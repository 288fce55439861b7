"""The way to most of what a name holds."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from gpuprof.capture.memory.held_values import EACH
from gpuprof.capture.memory.holder_levels import WaysIn, item_parts_of, levels_of


def most(*ways: tuple[list[str], int]) -> tuple[str, ...]:
    found = WaysIn()
    for steps, size in ways:
        found.add(steps, size)
    return found.to_most()


def test_as_far_as_seven_tenths_go() -> None:
    assert most() == ()
    assert most(([], 8)) == ()
    assert most((["[…]", ".a"], 7), (["[…]", ".b"], 3)) == ("[…]", ".a")
    assert most((["[…]", ".a"], 69), (["[…]", ".b"], 31)) == ("[…]",)
    # not into models and optimizers
    assert most((["[…]", "", "[…]"], 8)) == ("[…]",)


def test_what_lies_on_a_way() -> None:
    found = WaysIn()
    for steps, size in ((["[…]", ".a"], 7), (["[…]", ".a", "[…]"], 2), (["[…]", ".b"], 3)):
        found.add(steps, size)
    assert [found.bytes_on(each) for each in ((), ("[…]", ".a"), ("[…]", ".c"))] == [12, 9, 0]


def levels(value: Any, *steps: str) -> list[tuple[str, int, str]]:
    return [(each.kind, each.items, each.step) for each in levels_of(value, steps)]


@pytest.mark.parametrize(
    ("value", "steps", "expected"),
    [
        (torch.zeros(2), (), []),
        ([torch.zeros(2)] * 3, ("[…]",), [("list", 3, "[…]"), ("Tensor", 0, "")]),
        ([[], [1, 2]], ("[…]",), [("list", 2, "[…]"), ("list", 2, "")]),
        ([{"a": 1, "b": [3]}], ("[…]", '["b"]'), [("list", 1, "[…]"), ("dict", 2, '["b"]'), ("list", 1, "")]),
        # gone meanwhile
        ([], ("[…]", '["b"]'), [("list", 0, "[…]")]),
    ],
)
def test_what_is_on_the_way(value: Any, steps: tuple[str, ...], expected: list[Any]) -> None:
    assert levels(value, *steps) == expected


class Fitted:
    def __init__(self) -> None:
        self.data, self.net, self.losses = torch.zeros(64), torch.nn.Linear(4, 4), [torch.zeros(1)]


def test_what_the_items_hold() -> None:
    items, found = [Fitted() for _ in range(3)], WaysIn()
    for each in items:
        for steps, tensor in (([EACH, ".data"], each.data), ([EACH, ".net", ""], each.net.weight)):
            found.add(steps, tensor.nbytes)
        found.add([EACH, ".losses", EACH], each.losses[0].nbytes)
    parts = item_parts_of(items, found, 0.5)
    # what is small is left out, what was not looked at is estimated
    assert [(each.kind, each.step, each.bytes, each.model) for each in parts] == [
        ("Fitted", ".data", 2 * 3 * 256, False),
        ("Fitted", ".net", 2 * 3 * 64, True),
    ]
    assert item_parts_of([torch.zeros(2)], WaysIn(), 1.0) == ()
