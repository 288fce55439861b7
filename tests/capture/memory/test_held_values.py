"""Values within values, the steps to them, and what is left when time is up."""

from __future__ import annotations

import itertools
from collections import OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch

from gpuprof.capture.memory.held_values import HeldValues

LONG_NS = 10**12


@dataclass
class Run:
    net: Any = None
    history: list[Any] = field(default_factory=list)


def ways(value: Any) -> set[str]:
    walk, found = HeldValues(LONG_NS), set()
    for _ in walk.of(value):
        found.add("".join(walk.steps))
    return found


def tensor() -> torch.Tensor:
    return torch.zeros(2)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (tensor(), {""}),
        ([tensor(), np.zeros(3)], {"[…]"}),
        ({"a": [tensor()], "b": deque([tensor()])}, {"[…][…]"}),
        (defaultdict(list, {"x": [{"state": tensor(), "score": 1.0}]}), {'[…][…]["state"]'}),
        ({0.1: Run(None, [{"state": OrderedDict({"0.weight": tensor()})}])}, {'[…].history[…]["state"][…]'}),
        ([(tensor(), {"w": tensor()})], {"[…][0]", '[…][1]["w"]'}),
        (Run(torch.nn.Linear(2, 2)), {".net"}),
    ],
)
def test_the_steps_to_each(value: Any, expected: set[str]) -> None:
    assert ways(value) == expected


def test_what_a_cycle_keeps() -> None:
    stream = itertools.cycle(iter([tensor(), tensor()]))
    next(stream)
    walk = HeldValues(LONG_NS)
    assert [walk.cycles for _ in walk.of(stream)] == [1]


def weighed(value: Any, most: int, size: Any = lambda each: each.nbytes) -> tuple[int, int]:
    """What is found and what is missing where time is up after so many tensors."""
    walk = HeldValues(LONG_NS)
    for found, each in enumerate(walk.of(value), 1):
        walk.bytes += size(each)
        if found == most:
            walk.until_ns = 0
    return walk.bytes, walk.missing_bytes


def whole(value: Any, most: int) -> float:
    """Found and missing, as a share of all."""
    return sum(weighed(value, most)) / weighed(value, 10**9)[0]


@pytest.mark.parametrize(
    ("value", "most"),
    [
        ([tensor() for _ in range(400)], 100),
        ([({"w": tensor(), "b": tensor()}, 1.0) for _ in range(300)], 100),
        ({name: [tensor() for _ in range(100)] for name in range(8)}, 450),
        (Run(None, [{"state": tensor()} for _ in range(200)]), 100),
    ],
)
def test_what_is_left_is_told_by_what_was_seen(value: Any, most: int) -> None:
    assert weighed(value, 10**9)[1] == 0
    assert whole(value, most) == pytest.approx(1, abs=0.1)


def test_the_same_again_and_again_is_nothing_more() -> None:
    seen: set[int] = set()

    def fresh(each: Any) -> int:
        known = id(each) in seen
        seen.add(id(each))
        return 0 if known else each.nbytes

    assert weighed([tensor()] * 400, 100, fresh) == (8, 0)


@pytest.mark.parametrize("value", [[tensor(), tensor(), *range(400)], [*(tensor() for _ in range(100)), "end"]])
def test_of_other_things_nothing_is_told(value: Any) -> None:
    assert weighed(value, 1)[1] == 0
