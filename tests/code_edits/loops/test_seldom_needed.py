"""Results that are read seldom, once, or never are computed as seldom, where the text shows that it is the same."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from gpuprof.code_edits.loops.seldom_needed import compute_after_loop, compute_where_read, drop_unread
from tests.code_edits.executed import assert_rest_is_kept, line_of, run

SELDOM = """\
import torch
def spread(w, scale):
    rows = {}
    for k in range(2):
        rows[k] = torch.linalg.svdvals(w + k) * scale
    return rows
w, seen = torch.eye(5), {}
for step in range(9):
    w = w * 1.1 + torch.eye(5)
    report = spread(w, 2.0)  # here
    w = w + 1
    if step % 4 == 0:  # test
        seen[step] = report
y = list(seen.values())
"""
LAST = """\
import torch
w, seen = torch.eye(5), []
for step in range(9):
    w = w * 1.1 + 1
    score = torch.linalg.svdvals(w)  # here
    seen.append(step)
y = score * 2
"""
UNREAD = """\
import torch
def go(w):
    kept = []
    for x in torch.ones(3, 4):
        ranks = x.argsort()  # here
        kept.append(x * w)
    return kept
y = torch.stack(go(2.0))
"""


def where_read(cell: str) -> str | None:
    return compute_where_read(cell, line_of(cell, "# here"), line_of(cell, "# test"))


def after_loop(cell: str) -> str | None:
    return compute_after_loop(cell, line_of(cell, "# here"))


def unread(cell: str) -> str | None:
    return drop_unread(cell, line_of(cell, "# here"))


def same(before: Any, after: Any) -> bool:
    if isinstance(before, torch.Tensor):
        return torch.equal(before, after)
    if isinstance(before, dict):
        return before.keys() == after.keys() and all(same(before[each], after[each]) for each in before)
    return len(before) == len(after) and all(map(same, before, after))


MOVED_IN = SELDOM.replace("    w = w + 1\n", "")
TRAINED = """\
import torch
net = nn.Linear(8, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
y = []
for step in range(6):
    loss = net(torch.ones(2, 8)).square().sum()
    opt.zero_grad()
    loss.backward()
    size = torch.stack([p.grad.abs().max() for p in net.parameters()])  # here
    opt.step()
    if step % 3 == 2:  # test
        y.append(size)
"""


@pytest.mark.parametrize(
    ("cell", "edit"),
    [(SELDOM, where_read), (MOVED_IN, where_read), (TRAINED, where_read), (LAST, after_loop), (UNREAD, unread)],
)
def test_the_changed_cell_computes_the_same_to_the_last_bit(cell: str, edit: Any) -> None:
    after = edit(cell)
    assert after is not None
    assert_rest_is_kept(cell, after)
    assert same(run(cell)["y"], run(after)["y"])


def test_it_stays_in_its_place_where_what_it_reads_changes_behind_it() -> None:
    assert "    if step % 4 == 0:\n        report = spread(w, 2.0)  # here\n    w = w + 1\n" in (
        where_read(SELDOM) or ""
    )
    assert "    if step % 4 == 0:  # test\n        report = spread(w, 2.0)  # here\n" in (where_read(MOVED_IN) or "")
    # the optimizer does not change gradients, but what is to be seen after it is not told
    assert "    if step % 3 == 2:\n        size = " in (where_read(TRAINED) or "")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # somebody else reads it
        ("    w = w + 1\n", "    w = w + 1\n    print(report)\n"),
        ("    w = w * 1.1", "    w = w * (1.1 if step else len(report))"),
        ("y = list", "print(report)\ny = list"),
        ("y = list", "def later():\n    return report\ny = list"),
        ("        seen[step] = report\n", "        seen[step] = report\n    else:\n        pass\n"),
        ("        seen[step] = report\n", "        seen[step] = 1\n"),
        # the condition may have another outcome there
        ("    w = w + 1\n", "    step += 1\n"),
        ("step % 4 == 0", "torch.rand(1) > 0.5"),
        ("step % 4 == 0", "seen.pop() if seen else 1"),
        ("step % 4 == 0", "report and step % 4 == 0"),
        # an effect of its own
        ("    rows = {}\n", "    rows = {}\n    print(1)\n"),
        ("    rows = {}\n", "    rows = {}\n    w.add_(1)\n"),
        ("    rows = {}\n", "    rows = seen\n"),
        ("svdvals(w + k)", "svdvals(w + torch.rand(1))"),
        ("spread(w, 2.0)", "other(w, 2.0)"),
        ("    report = spread", "    report = seen[9] = spread"),
        ("    report = spread", "    seen[9] = spread"),
        ("    report = spread", "    if step:\n        report = spread"),
        ("    report = spread", "    report = 0\n    report = spread"),
    ],
)
def test_what_the_condition_does_not_decide_alone_stays(old: str, new: str) -> None:
    assert old in SELDOM
    assert where_read(SELDOM.replace(old, new)) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    seen.append(step)\n", "    seen.append(score)\n"),
        ("    w = w * 1.1", "    w = w * (1.1 if step == 0 else score)"),
        ("    seen.append(step)\n", "    w += 1\n"),
        ("    seen.append(step)\n", "    w = w + 1\n"),
        ("    seen.append(step)\n", "    change(w)\n"),
        ("    seen.append(step)\n", "    if step == 4: break\n"),
        ("range(9)", "walk(w)"),
        ("for step in range(9):", "while w.sum() < 9:"),
        ("y = score", "def later():\n    return score\ny = score"),
        ("torch.linalg.svdvals(w)", "torch.rand(5)"),
        ("torch.linalg.svdvals(w)", "measure(w)"),
        ("    score = torch", "    if step:\n        score = torch"),
    ],
)
def test_what_more_than_the_last_iteration_decides_stays(old: str, new: str) -> None:
    assert old in LAST
    assert after_loop(LAST.replace(old, new)) is None


def test_a_loop_that_may_have_no_iteration_keeps_it() -> None:
    inside = LAST.replace("for step in range(9)", "if go:\n for step in range(n)")
    assert after_loop(inside) is None
    assert after_loop(inside.replace("range(n)", "range(9)")) is not None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    return kept", "    return kept, ranks"),
        ("kept.append(x * w)", "kept.append(x * w * len(ranks))"),
        ("x.argsort()", "x.sort_()"),
        ("x.argsort()", "show(x)"),
        ("x.argsort()", "torch.rand(3)"),
        ("ranks = x.argsort()", "kept[:1] = x.argsort()"),
        ("        kept.append(x * w)\n", ""),
        ("    return kept", "    def later():\n        return ranks\n    return kept"),
        ("def go(w):\n", "go, w = print, 1.0\nfor k in range(2):\n"),
    ],
)
def test_what_may_be_read_or_have_an_effect_is_not_deleted(old: str, new: str) -> None:
    assert old in UNREAD
    cell = UNREAD.replace(old, new)
    assert unread(cell.replace("    return kept\n", "") if "go, w" in new else cell) is None
