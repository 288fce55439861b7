"""Attention that is written out where no device is, in cells that really run under the close look."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.demand.written_attention import WrittenOut
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.kernels.attention_looked import _can_be_fused, _saved
from gpuprof.rules.kernels.eager_attention import EagerAttention
from tests.rules.needless.test_product_order import looked_cell

SET_UP = """import math
import torch
import torch.nn.functional as F
torch.set_num_threads(1)
q, k, v = (torch.rand(2, 4, 256, 16, requires_grad=True) for _ in range(3))
module = torch.nn.MultiheadAttention(64, 4, batch_first=True)
tokens = torch.rand(2, 256, 64)
def step():
    made = {made}
    made.sum().backward()
"""
LINE = 9
WRITTEN = "torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(16), -1) @ v"


def looked(made: str, set_up: str = SET_UP) -> Trace:
    return looked_cell(set_up.replace("{made}", made), "step()")


def said(trace: Trace, rule: EagerAttention | None = None) -> Finding | None:
    answer = (rule or EagerAttention()).check(Results(trace))
    assert not isinstance(answer, Abstention)
    return answer


def masks_and_scale(change: str) -> bool:
    """A float mask of 0 and 1 would be added, one that is True for padding would be turned round, and another factor
    would be lost."""
    mask = "boolean with True where a position may be read (`tril.bool()`, `~padding`)" in change
    return mask and "attn_mask=mask" not in change and "Pass `scale=` where you do not divide by the square" in change


def test_on_a_device_the_same_is_said_of_masks_and_scale() -> None:
    from tests.rules.cases.kernels.eager_attention import fires

    found = EagerAttention().check(Results(fires()))
    assert isinstance(found, Finding) and masks_and_scale(found.change)


def test_three_operators_instead_of_one_call() -> None:
    found = said(looked(WRITTEN))
    assert found is not None and found.where.lines == (LINE,)
    assert found.title.startswith(f"Attention at line {LINE} is written out and takes")
    assert "scaled_dot_product_attention(q, k, v)" in found.change and masks_and_scale(found.change)
    assert (found.evidence["keys"], found.evidence["head_width"]) == (256, 16)
    # 16 times as many keys as numbers in a head
    assert found.evidence["saved_share"] == 0.35
    assert "2 × 4 × 256 × 256" in found.explanation or "8 × 256 × 256" in found.explanation


def test_a_module_whose_weights_nobody_reads() -> None:
    found = said(looked("module(tokens, tokens, tokens)[0]"))
    assert found is not None and "need_weights=False" in found.change and found.diff is None


def test_the_more_keys_for_each_number_in_a_head_the_more_one_call_saves() -> None:
    """From as many keys as numbers in a head, where it saves nothing, never more than half; twice as many keys save at
    most twice as much."""
    written = WrittenOut(0, (), np.zeros(0, np.int64), (2, 256, 64), 64, 1, False, False, False)
    found = [_saved(replace(written, shape=(2, 256, keys))) for keys in (64, 255, 256, 511, 512, 1024, 2048, 9999)]
    assert found == sorted(found) and found[:2] == [0, 0] and found[2] == found[3] > 0 and found[-1] <= 0.5
    rising = [found[2], found[4], found[5], found[6]]
    assert all(before < after <= 2 * before for before, after in itertools.pairwise(rising))


def test_it_matters_from_a_tenth_of_the_operators_on() -> None:
    trace = looked(WRITTEN)
    found = said(trace)
    assert found is not None
    share = found.evidence["attention_share"]
    assert isinstance(share, float)
    assert said(trace, EagerAttention(looked_share=share - 0.001)) is not None
    assert said(trace, EagerAttention(looked_share=share + 0.001)) is None
    assert found.severity <= Severity.HIGH
    mild = said(trace, EagerAttention(looked_high_share=0.9))
    assert mild is not None and mild.severity < Severity.HIGH


@pytest.mark.parametrize(
    "made",
    [
        "F.scaled_dot_product_attention(q, k, v)",
        "F.dropout(torch.softmax(q @ k.transpose(-2, -1), -1), 0.1) @ v",
        "(lambda w: w @ v + w.amax(-1, keepdim=True))(torch.softmax(q @ k.transpose(-2, -1), -1))",
        "module(tokens, tokens, tokens, need_weights=False)[0]",
        # as many numbers in a head as keys: one call is no faster
        "torch.softmax(q.transpose(-2, -1) @ k, -1) @ v.transpose(-2, -1)",
    ],
)
def test_what_one_call_does_not_do_sooner(made: str) -> None:
    assert said(looked(made)) is None


def test_without_a_look_the_kernels_are_asked_for() -> None:
    from tests.rules.cases.kernels.eager_attention import abstains

    assert isinstance(EagerAttention().check(Results(abstains())), Abstention)


@pytest.mark.parametrize(
    ("shape", "width", "fused"),
    [
        ((2, 256, 64), 16, True),
        ((256, 64), 16, True),
        # one key too few, one axis too few, one number too many in a head
        ((2, 256, 63), 15, False),
        ((64,), 16, False),
        ((2, 256, 64), 17, False),
    ],
)
def test_from_64_keys_on_and_four_times_as_many_as_numbers_in_a_head(
    shape: tuple[int, ...], width: int, fused: bool
) -> None:
    assert _can_be_fused(WrittenOut(0, (), np.zeros(0, np.int64), shape, width, 1, False, False, False)) is fused


@pytest.mark.parametrize(("keys", "saved"), [(63, 0), (64, 0.1), (128, 0.2), (255, 0.2), (256, 0.35), (512, 0.5)])
def test_what_one_call_saves_is_a_step_below_what_was_measured(keys: int, saved: float) -> None:
    """benchmarks/written_attention.py measures it at these sizes."""
    written = WrittenOut(0, (), np.zeros(0, np.int64), (2, 256, keys), 16, 1, False, False, False)
    assert _saved(written) == saved
