"""A pass that a factor of 1 cancels is only made for other factors, where the text shows that it is one."""

from __future__ import annotations

import pytest
import torch

from gpuprof.code_edits.loops.cancelled_terms import only_with_factor
from tests.code_edits.executed import assert_rest_is_kept, line_of, run

GUIDED = """\
import torch
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(2)])
    def forward(self, x, k):
        for layer in self.layers:
            x = torch.tanh(layer(x)) + k
        return x
net, seen = Net(), []
def sample(scale):
    for k in range(3):
        x = torch.ones(2, 8) * k
        c = net(x, k)
        u = net(x, 0)
        y = u + scale * (c - u)  # here
        seen.append(y * 2)
sample(SCALE)
sample(SCALE)
y = torch.stack(seen).detach()
"""
PLAIN = GUIDED.replace("SCALE", "1.0")


def edited(cell: str) -> str | None:
    return only_with_factor(cell, line_of(cell, "# here"))


@pytest.mark.parametrize("scale", ["1.0", "1", "3.5"])
def test_it_computes_the_same_but_for_rounding(scale: str) -> None:
    cell = GUIDED.replace("SCALE", scale)
    after = edited(cell)
    assert after is not None
    assert_rest_is_kept(cell, after)
    torch.testing.assert_close(run(after)["y"], run(cell)["y"], rtol=1e-6, atol=1e-6)


def test_the_second_pass_is_made_for_other_factors_alone() -> None:
    assert "        if scale != 1:\n            u = net(x, 0)\n            y = u +" in (edited(PLAIN) or "")
    assert "        else:\n            y = c\n        seen" in (edited(PLAIN) or "")


@pytest.mark.parametrize("sum_of", ["scale * (c - u) + u", "u + (c - u) * scale"])
def test_terms_and_factors_stand_in_any_order(sum_of: str) -> None:
    assert edited(PLAIN.replace("u + scale * (c - u)", sum_of)) is not None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("u + scale * (c - u)", "u + scale * (u - c)"),
        ("u + scale * (c - u)", "u - scale * (c - u)"),
        ("u + scale * (c - u)", "x + scale * (c - u)"),
        ("u + scale * (c - u)", "u + 1.0 * (c - u)"),
        ("u + scale * (c - u)", "u + scale * c"),
        # the factor may be anything
        ("sample(1.0)\ny", "sample(torch.ones(8))\ny"),
        ("sample(1.0)\ny", "sample(given)\ny"),
        ("sample(1.0)\ny", "run(sample)\ny"),
        ("    for k in", "    scale = scale * 1\n    for k in"),
        # somebody else reads it, or it has another shape
        ("seen.append(y * 2)", "seen.append(y * u)"),
        ("        u = net(x, 0)\n", "        u = net(x, 0)\n        print(u)\n"),
        ("        u = net(x, 0)\n", "        u = torch.tanh(x)\n"),
        ("        c = net(x, k)\n", "        c = x\n"),
        # it may do something else, too
        ("torch.tanh(layer(x))", "nn.functional.dropout(layer(x))"),
        ("    def forward(self, x, k):\n", "    def forward(self, x, k):\n        self.calls = k\n"),
        ("net, seen = Net(), []", "net, seen = given, []"),
        ("        u = net(x, 0)", "        u = net(x, torch.rand(1))"),
        # both names stand for one tensor then
        ("seen.append(y * 2)", "y.add_(1)"),
        ("seen.append(y * 2)", "c.add_(1)"),
        ("        y = u +", "        y = z = u +"),
    ],
)
def test_whatever_is_not_surely_the_same_stays(old: str, new: str) -> None:
    assert old in PLAIN
    assert edited(PLAIN.replace(old, new)) is None
