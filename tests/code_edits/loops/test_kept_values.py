"""What was computed for a state is kept until another takes its place, where the text shows that it is the same."""

from __future__ import annotations

import pytest
import torch

from gpuprof.code_edits.loops.kept_values import keep_value
from tests.code_edits.executed import assert_rest_is_kept, line_of, run

CHAIN = """\
import torch
X, noise = torch.rand(20, 3), torch.rand(8, 3)
def density(w, scale):
    return -(X @ w).square().sum() * scale
def walk(w):
    draws = torch.empty(8, 3)
    for k in range(8):
        new = w + noise[k] - 0.5
        ratio = density(new, 0.3) - density(w, 0.3)  # here
        if ratio > -0.5:
            w = new
        draws[k] = w
    return draws
y = walk(torch.zeros(3))
"""
AT_TOP = """\
import torch
def energy(x):
    return x.pow(4).sum()
x, taken = torch.ones(3), 0
for k in range(9):
    other = x * 0.9 + torch.rand(3) * 0.3
    before = energy(x)  # here
    after = energy(other)
    if after < before:
        x = other
        taken += 1
y = x * taken
"""


def edited(cell: str) -> str | None:
    return keep_value(cell, [line_of(cell, "# here")])


@pytest.mark.parametrize("cell", [CHAIN, AT_TOP])
def test_the_changed_cell_computes_the_same_to_the_last_bit(cell: str) -> None:
    after = edited(cell)
    assert after is not None
    assert_rest_is_kept(cell, after)
    assert torch.equal(run(cell)["y"], run(after)["y"])


def test_it_is_computed_once_for_each_state() -> None:
    after = edited(CHAIN)
    assert after is not None
    assert "    kept_density = density(w, 0.3)\n    for k" in after
    assert "        new_density = density(new, 0.3)\n        ratio = new_density - kept_density  # here\n" in after
    assert "            w = new\n            kept_density = new_density\n" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # the state changes in other ways
        ("        draws[k] = w\n", "        draws[k] = w\n        w = w * 2\n"),
        ("        draws[k] = w\n", "        draws[k] = w\n        w.mul_(2)\n"),
        ("        draws[k] = w\n", "        draws[k] = w\n        w[0] = 2\n"),
        ("        draws[k] = w\n", "        draws[k] = w\n        change(w)\n"),
        ("            w = new\n", "            w = new * 1\n"),
        ("            w = new\n", "            w = other\n"),
        ("            w = new\n", "            w, done = new, 1\n"),
        ("            w = new\n", "            print(w)\n"),
        ("        if ratio", "        new = new * 2\n        if ratio"),
        # the function gives something else, or does more
        ("        draws[k] = w\n", "        draws[k] = w\n        X.mul_(2)\n"),
        ("density(w, 0.3)", "density(w, 0.4)"),
        ("0.3", "k"),
        ("    return -(X", "    print(w)\n    return -(X"),
        ("    return -(X", "    return torch.rand(1) * (X"),
        ("    return -(X", "    w.add_(1)\n    return -(X"),
        ("def density", "@cached\ndef density"),
        # not in each iteration
        ("        ratio =", "        if k:\n            new = w\n        ratio ="),
        ("        new = w + noise[k] - 0.5\n", ""),
    ],
)
def test_what_may_differ_is_computed_each_time(old: str, new: str) -> None:
    assert old in CHAIN
    assert edited(CHAIN.replace(old, new)) is None


def test_what_may_carry_a_graph_is_computed_each_time() -> None:
    trained = CHAIN.replace("y = walk", "loss = density(weights, 1.0)\nloss.backward()\ny = walk")
    assert edited(trained.replace("walk(torch.zeros(3))", "walk(weights)")) is None
    assert edited(trained.replace("def walk", "@torch.no_grad()\ndef walk")) is not None
