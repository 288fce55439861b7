from __future__ import annotations

import pytest
import torch

from gpuprof.code_edits.models.attention import fuse_attention
from tests.code_edits.executed import assert_rest_is_kept, run

ATTENTION = """\
import math
q, k, v = torch.randn(3, 2, 4, 16, 8)
mask = torch.ones(16, 16).tril()
def attend(q, k, v):
    # every pair of positions
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = F.softmax(scores, dim=-1)
    return (weights @ v).transpose(1, 2)
out = attend(q, k, v)
"""
CALL = "torch.nn.functional.scaled_dot_product_attention"
CLASS = """\
class Attention(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.scale = size ** -0.5
        self.qkv = nn.Linear(size, 3 * size)
    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)

        attn = torch.bmm(q, k.transpose(1, 2)) * self.scale
        attn = attn.softmax(dim=-1)
        x = torch.bmm(attn, v)  # mixed
        return x
out = Attention(8)(torch.randn(2, 5, 8))
"""


def test_three_operators_become_one_call() -> None:
    after = fuse_attention(ATTENTION)
    call = f"{CALL}(q, k, v, attn_mask=mask != 0, scale=1 / math.sqrt(q.size(-1)))"
    assert after is not None
    assert f"    # every pair of positions\n    return {call}.transpose(1, 2)\n" in after
    torch.testing.assert_close(run(after)["out"], run(ATTENTION)["out"], rtol=1e-5, atol=1e-6)


def test_the_scale_may_be_an_attribute_that_is_a_number() -> None:
    after = fuse_attention(CLASS)
    assert after is not None
    assert f"\n\n        x = {CALL}(q, k, v, scale=self.scale)  # mixed\n" in after
    assert_rest_is_kept(CLASS, after)
    torch.testing.assert_close(run(after)["out"], run(CLASS)["out"], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (" / math.sqrt(q.size(-1))", ""),
        (" / math.sqrt(q.size(-1))", " * 0.25"),
        ("k.transpose(-2, -1)", "k.mT"),
        ("mask == 0", "hidden"),
        ("F.softmax(scores, dim=-1)", "torch.softmax(scores, -1)"),
        ("    weights = F.softmax(scores, dim=-1)\n    return (weights", "    return (F.softmax(scores, -1)"),
    ],
)
def test_other_ways_to_write_it_give_the_same(old: str, new: str) -> None:
    cell = ATTENTION.replace(old, new).replace("def attend", "hidden = mask == 0\ndef attend")
    after = fuse_attention(cell)
    assert after is not None and CALL in after
    torch.testing.assert_close(run(after)["out"], run(cell)["out"], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("dim=-1)", "dim=-2)"),
        ("dim=-1)", "dim=-1, dtype=torch.float32)"),
        ("(weights @ v)", "(F.dropout(weights) @ v)"),
        ("    return", "    weights = F.dropout(weights)\n    return"),
        ("    return (weights @ v).transpose(1, 2)", "    return weights @ v, weights"),
        ("    return (weights @ v).transpose(1, 2)", "    out = weights @ v\n    return out, scores"),
        ("(weights @ v)", "(v @ weights)"),
        ("(weights @ v)", "(weights @ v.float())"),
        ("k.transpose(-2, -1)", "k"),
        ("k.transpose(-2, -1)", "k.transpose(1, 2)"),
        ("math.sqrt(q.size(-1))", "temperature"),
        ('float("-inf")', "-1e9"),
        ("mask == 0", "mask < 1"),
        ("mask == 0", "scores == 0"),
        ("    scores = scores.masked", "    print(1)\n    scores = scores.masked"),
        ("    scores = scores.masked_fill(", "    scores += bias\n    scores = scores.masked_fill("),
        ("out = attend(q, k, v)", "out = attend(q, k, v).softmax(-1)"),
    ],
)
def test_doubt_fuses_nothing(old: str, new: str) -> None:
    cell = ATTENTION.replace(old, new)
    assert cell != ATTENTION and fuse_attention(cell) is None


def test_a_scale_that_is_learned_is_no_number() -> None:
    assert fuse_attention(CLASS.replace("size ** -0.5", "nn.Parameter(torch.ones(1))")) is None
