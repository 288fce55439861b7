"""What a block computes twice from the same is computed once, where the text shows that nothing changes in between."""

from __future__ import annotations

import pytest
import torch

from gpuprof.code_edits.loops.used_again import use_again
from tests.code_edits.executed import assert_rest_is_kept, line_of, run

PARTS = """\
import torch
w, seen = torch.rand(6, 6), []
for x in torch.rand(3, 6):
    top = torch.linalg.svdvals(w).max() * x
    z = top + 1
    low = torch.linalg.svdvals(w).min() * z  # here
    seen.append(low + top)
y = torch.stack(seen)
"""
NAMED = """\
import torch
w, seen = torch.rand(6, 6), []
for x in torch.rand(3, 6):
    spread = torch.linalg.svdvals(w * x[0])
    low = torch.linalg.svdvals(w * x[0]).min() * x  # here
    seen.append(low + spread[0])
y = torch.stack(seen)
"""
TRAINED = """\
import torch
net = nn.Sequential(nn.Linear(8, 4), nn.Tanh())
opt = torch.optim.SGD(net.parameters(), lr=0.1)
right = 0
for x, label in DataLoader(data, batch_size=16):
    loss = criterion(net(x), label)
    right += (net(x).argmax(1) == label).sum().item()  # here
    opt.zero_grad()
    loss.backward()
    opt.step()
y = torch.cat([p.detach().flatten() for p in net.parameters()] + [torch.tensor([float(right)])])
"""


def edited(cell: str, **facts: bool) -> str | None:
    return use_again(cell, [line_of(cell, "# here")], **facts)


@pytest.mark.parametrize("cell", [PARTS, NAMED, TRAINED.replace("criterion(", "nn.functional.cross_entropy(")])
def test_the_changed_cell_computes_the_same_to_the_last_bit(cell: str) -> None:
    after = edited(cell)
    assert after is not None
    assert_rest_is_kept(cell, after)
    assert torch.equal(run(cell)["y"], run(after)["y"])


def test_a_name_that_has_it_is_used_else_a_new_one() -> None:
    assert "    low = spread.min() * x  # here\n" in (edited(NAMED) or "")
    after = edited(PARTS) or ""
    assert "    once_svdvals = torch.linalg.svdvals(w)\n    top = once_svdvals.max() * x\n" in after
    assert "    low = once_svdvals.min() * z  # here\n" in after
    again = NAMED.replace("    low =", "    spread = spread * 2\n    low =")
    assert "    low = once_svdvals.min()" in (edited(again) or "")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    z = top + 1\n", "    z = top + 1\n    w = w + 1\n"),
        ("    z = top + 1\n", "    z = top + 1\n    w.add_(1)\n"),
        ("    z = top + 1\n", "    z = top + 1\n    w[0] = 0\n"),
        ("    z = top + 1\n", "    z = top + 1\n    change(w)\n"),
        ("    z = top + 1\n", "    z = top + 1\n    row = w[0]\n    row.zero_()\n"),
        ("    z = top + 1\n", "    for w in x:\n        z = top + 1\n"),
        ("    z = top + 1\n", "    z = yield top\n"),
        ("    low = torch.linalg.svdvals(w)", "    low = torch.linalg.svdvals(w * 2)"),
        ("    low = torch.linalg.svdvals(w).min()", "    low = 0 and torch.linalg.svdvals(w).min()"),
        ("    low = torch", "    if x[0] > 1:\n        low = torch"),
        ("torch.linalg.svdvals(w)", "torch.rand(6)"),
        ("torch.linalg.svdvals(w)", "measure(w)"),
        ("torch.linalg.svdvals(w)", "w.view(36)"),
        ("torch.linalg.svdvals(w).max()", "torch.linalg.svdvals(w).mul_(2)"),
        ("    top = torch.linalg.svdvals(w).max() * x\n", "    top = torch.linalg.svdvals(w)\n    top += 1\n"),
    ],
)
def test_what_may_differ_is_computed_again(old: str, new: str) -> None:
    assert old in PARTS
    assert edited(PARTS.replace(old, new)) is None


def test_a_graph_is_not_used_by_two_backward_passes() -> None:
    cell = TRAINED.replace("criterion(", "nn.functional.cross_entropy(")
    assert edited(cell) is not None
    twice = cell.replace("    opt.step()\n", "    opt.step()\n    net(x).sum().backward()\n")
    assert edited(twice) is None and edited(twice, without_backward=True) is not None
    between = cell.replace("    right +=", "    loss.backward()\n    right +=").replace(
        "    loss.backward()\n    opt.step()\n", ""
    )
    assert edited(between) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("nn.Tanh()", "nn.Dropout(0.5)"),
        ("nn.Tanh()", "nn.BatchNorm1d(4)"),
        ("    right +=", "    opt.step()\n    right +="),
        ("net = nn.Sequential(nn.Linear(8, 4), nn.Tanh())", "net = given"),
        ("    right += (net(x)", "    x = x + 1\n    right += (net(x)"),
    ],
)
def test_a_model_that_may_give_something_else_runs_again(old: str, new: str) -> None:
    cell = TRAINED.replace("criterion(", "nn.functional.cross_entropy(")
    assert old in cell
    assert edited(cell.replace(old, new)) is None
    # a loss of another cell may change what it is given
    assert edited(TRAINED) is None
