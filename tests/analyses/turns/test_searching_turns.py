"""Loops that compare a whole tensor with one item in each turn, in real looks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from gpuprof.analyses.turns.searching_turns import ItemSearch
from tests.analyses.turns.test_separate_turns import N, found_in


def edges() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.arange(50_000) % 1000, torch.arange(50_000)


def edges_of_a_node() -> Any:
    target, source = edges()
    return [source[(target == node).nonzero().squeeze(1)] for node in range(N)]


def members_of_a_group() -> Any:
    group, x = edges()[0], torch.rand(50_000)
    return torch.stack([x[group == each].mean() for each in range(N)])


def halves() -> Any:
    group, x = edges()[0], torch.rand(50_000)
    return torch.stack([x[group > 400 + each].mean() for each in range(N)])


def pairs() -> Any:
    """As many cells as a confusion matrix of five classes has."""
    one, other = edges()[0] % 5, edges()[1] % 5
    counts = torch.zeros(5, 5, dtype=torch.long)
    for row in range(5):
        for column in range(5):
            counts[row, column] += ((one == row) & (other == column)).sum()
    return counts


def masked_sums() -> Any:
    group, x = edges()[0], torch.rand(50_000)
    return torch.stack([(x * (group == each)).sum() for each in range(N)])


def short_ones() -> Any:
    group, x = torch.arange(200) % 10, torch.rand(200)
    return torch.stack([x[group == each].mean() for each in range(N)])


def eight_classes() -> Any:
    group, right = edges()[0] % 8, torch.rand(50_000) > 0.5
    return [int((right & (group == each)).sum()) for each in range(8)]


def recurrence() -> Any:
    """Each turn compares with what the turn before found."""
    group, at = edges()[0], torch.tensor(1)
    for _ in range(N):
        at = (group > at).sum() % 1000
    return at


@pytest.mark.parametrize("code", [edges_of_a_node, members_of_a_group, masked_sums])
def test_a_tensor_that_is_searched_in_each_turn(code: Callable[[], Any]) -> None:
    (loop,) = found_in(code)
    assert loop.searched == ItemSearch("[50000]", 1) and loop.turns == N


def test_two_that_are_searched_for_each_pair() -> None:
    (loop,) = found_in(pairs)
    assert loop.searched == ItemSearch("[50000]", 2)


def test_eight_turns_are_enough() -> None:
    (loop,) = found_in(eight_classes)
    assert loop.searched == ItemSearch("[50000]", 1) and loop.turns == 8


@pytest.mark.parametrize("code", [halves, recurrence, short_ones])
def test_what_is_no_search(code: Callable[[], Any]) -> None:
    """Much is found, a turn needs another one, or it takes the time of a call."""
    assert not any(loop.searched for loop in found_in(code))
