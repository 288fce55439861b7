"""Sums over what comes before or after each item, by a comparison of all pairs."""

from __future__ import annotations

import pytest

from gpuprof.rules.reads.order_masks import OrderMask, order_masks

COX = """at_risk = t.unsqueeze(0) >= t.unsqueeze(1)
scores = eta.unsqueeze(0).masked_fill(~at_risk, float("-inf"))
loss = torch.logsumexp(scores, dim=1)
"""
IN_FUNCTION = "def f(t, e):\n    m = t[None] >= t[:, None]\n    return (m * e[None]).sum(1)\nm = 3\ny = m.sum(1)\n"


def test_a_risk_set() -> None:
    assert order_masks(COX) == (OrderMask(1, "t", (1, 2, 3), "logcumsumexp"),)


@pytest.mark.parametrize(
    ("text", "lines", "running"),
    [
        ("m = t[None, :] <= t[:, None]\ny = (m * w[None]).sum(1)\n", (1, 2), "cumsum"),
        ("m = x.t[None] <= x.t[:, None]\ny = m.float() @ w\n", (1, 2), "cumsum"),
        ("m = (t[None] <= t[:, None])\nf = m.float()\ny = f @ w\n", (1, 2, 3), "cumsum"),
        ("m = t[None] >= t[:, None]\nz = torch.where(m, e[None], 0.0)\ny = z.sum(dim=1)\n", (1, 2, 3), "cumsum"),
        (
            "def f(t, e):\n    m = t[None] >= t[:, None]\n    return (m * e[None]).sum(1)\nm = 3\ny = m.sum(1)\n",
            (2, 3),
            "cumsum",
        ),
    ],
)
def test_other_ways_to_write_it(text: str, lines: tuple[int, ...], running: str) -> None:
    assert [(each.lines, each.running) for each in order_masks(text)] == [(lines, running)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (">=", "=="),
        # an item does not count for itself
        (">=", ">"),
        # numbers of pairs, as in attention
        ("eta.unsqueeze(0).masked_fill", "(q @ k.T).masked_fill"),
        ("eta.unsqueeze(0).masked_fill", "scores.masked_fill"),
        ("t.unsqueeze(1)", "other.unsqueeze(1)"),
        ("t.unsqueeze(1)", "t.unsqueeze(0)"),
        ("t.unsqueeze(0)", "t[0]"),
        ("torch.logsumexp(scores, dim=1)", "scores.sum()"),
        ("torch.logsumexp(scores, dim=1)", "torch.sum(scores)"),
        ("torch.logsumexp(scores, dim=1)", "scores.max()"),
        ("at_risk =", "at_risk == ("),
    ],
)
def test_what_is_no_such_sum(old: str, new: str) -> None:
    assert old in COX and order_masks(COX.replace(old, new)) == ()
