"""Loops that compare a whole tensor with one item in each turn, in real looks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.analyses.dataflow.test_separate_turns import N, found_in


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


def masked_sums() -> Any:
    group, x = edges()[0], torch.rand(50_000)
    return torch.stack([(x * (group == each)).sum() for each in range(N)])


def short_ones() -> Any:
    group, x = torch.arange(200) % 10, torch.rand(200)
    return torch.stack([x[group == each].mean() for each in range(N)])


@pytest.mark.parametrize("code", [edges_of_a_node, members_of_a_group])
def test_a_tensor_that_is_searched_in_each_turn(code: Callable[[], Any]) -> None:
    (loop,) = found_in(code)
    assert loop.searched == "[50000]" and loop.turns == N


@pytest.mark.parametrize("code", [halves, masked_sums, short_ones])
def test_what_is_no_search(code: Callable[[], Any]) -> None:
    """Much is found, all of it is used, or it takes the time of a call."""
    assert not any(loop.searched for loop in found_in(code))
