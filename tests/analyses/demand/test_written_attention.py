"""Attention that is written out, in real looks, and its near misses."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.demand.written_attention import WrittenAttention, WrittenOut
from gpuprof.capture.look.close_look import CloseLook
from tests.support.looked_runs import looked_at

LENGTH, WIDTH = 48, 8
BIAS = torch.zeros(LENGTH, LENGTH, requires_grad=True)
MASK = torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril()
SEEN: list[torch.Tensor] = []


def found(code: Callable[..., Any], *, backward: bool = True) -> tuple[WrittenOut, ...]:
    """Of code that runs in each of three iterations on queries, keys and values of two batches with two heads."""

    def run(look: CloseLook) -> None:
        for _ in range(3):
            tensors = [torch.rand(2, 2, LENGTH, WIDTH, requires_grad=backward) for _ in range(3)]
            made = code(*tensors)
            if backward:
                made.sum().backward()
            look.iteration_ended()

    SEEN.clear()
    return Results(looked_at(run, iterations=4)).get(WrittenAttention).found


def plain(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(WIDTH), -1) @ v


def masked(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    scores = q @ k.transpose(-2, -1)
    scores = (scores * 0.3).masked_fill(~MASK, -1e9)
    weights = scores.softmax(-1)
    return weights @ v


def by_einsum(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    weights = F.softmax(torch.einsum("bhid,bhjd->bhij", q, k), dim=-1)
    return torch.einsum("bhij,bhjd->bhid", weights, v)


def with_unread_mean(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    weights = torch.softmax(q @ k.transpose(-2, -1), -1)
    weights.mean(1)
    return weights @ v


def with_dropout(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return F.dropout(torch.softmax(q @ k.transpose(-2, -1), -1), 0.1) @ v


def with_bias(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return torch.softmax(q @ k.transpose(-2, -1) + BIAS, -1) @ v


def with_relu(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return torch.softmax(torch.relu(q @ k.transpose(-2, -1)), -1) @ v


def with_two_products(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    weights = torch.softmax(q @ k.transpose(-2, -1), -1)
    return weights @ (weights @ v)


def with_changed_weights(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return (torch.softmax(q @ k.transpose(-2, -1), -1) * 0.5) @ v


def with_read_weights(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    weights = torch.softmax(q @ k.transpose(-2, -1), -1)
    return weights @ v + weights.amax(-1).mean()


@pytest.mark.parametrize("code", [plain, masked, by_einsum, with_unread_mean])
@pytest.mark.parametrize("backward", [True, False])
def test_attention_that_could_be_fused(code: Callable[..., Any], backward: bool) -> None:
    (only,) = found(code, backward=backward)
    assert only.times == 3 and only.width == WIDTH
    assert math.prod(only.shape) == 4 * LENGTH * LENGTH and only.shape[-1] == LENGTH
    assert not (only.dropout or only.bias_learned or only.weights_read)
    # two products and the softmax of each iteration, and what leads back through them
    assert len(only.rows) >= (24 if backward else 9)


@pytest.mark.parametrize(
    ("code", "fact"),
    [
        (with_dropout, "dropout"),
        (with_bias, "bias_learned"),
        (with_read_weights, "weights_read"),
        (with_two_products, "weights_read"),
        (with_changed_weights, "weights_read"),
    ],
)
def test_what_one_call_cannot_do(code: Callable[..., Any], fact: str) -> None:
    (only,) = found(code)
    facts = {each: getattr(only, each) for each in ("dropout", "bias_learned", "weights_read")}
    assert facts == {each: each == fact for each in facts}


def test_the_weights_of_a_module_that_nobody_reads() -> None:
    module = torch.nn.MultiheadAttention(16, 2, batch_first=True)

    def code(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        tokens = q.transpose(1, 2).flatten(2)
        made, _ = module(tokens, tokens, tokens)
        return made

    (only,) = found(code)
    assert only.shape == (4, LENGTH, LENGTH) and not only.weights_read


def test_what_is_no_attention() -> None:
    head = torch.rand(WIDTH, 5)
    for code in (
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v),
        lambda q, k, v: (q @ head).softmax(-1).log().sum(),
        lambda q, k, v: q.softmax(-1) @ k.transpose(-2, -1),
        lambda q, k, v: torch.sigmoid(q @ k.transpose(-2, -1)) @ v,
        # no bias or mask of one call is that
        with_relu,
    ):
        assert found(code) == ()
