"""What is computed again for the same items, by the text alone."""

from __future__ import annotations

import pytest

from gpuprof.rules.reads.same_items import SameItems, same_items

BEGIN = """import numpy as np
import torch
K = 8
rows = [np.arange(n) for n in range(90)]
targets = torch.zeros(90)
def build(row):
    d = np.abs(row[:, None] - row[None])
    return d.argsort(1)[:, :K]
"""
SHUFFLED = """for epoch in range(12):
    for ids in torch.randperm(90).split(10):
        graphs = [build(rows[i]) for i in ids]
        loss = net(graphs)
        loss.backward()
"""
PLAIN = "for epoch in range(3):\n    for row in rows:\n        x = build(row)\n"
COUNTED = "for epoch in range(1, 4):\n    for i, row in enumerate(rows):\n        x = build(row)\n"
NAMED = "for e in range(3):\n    for i in torch.randperm(90):\n        row = rows[i]\n        x = build(row)\n"
SLICED = """for e in range(3):
    perm = np.random.permutation(90)
    for b in range(0, 90, 9):
        x = [build(rows[i]) for i in perm[b:b + 9]]
"""
JOINED = "for e in range(3):\n    x = torch.stack([torch.as_tensor(build(rows[i])) for i in range(90)])\n"
BY_NAME = "E = 5\nfor e in tqdm(range(E)):\n    for i in range(90):\n        x = build(rows[i])\n"
IN_FUNCTION = """def epoch(net, data):
    for i in torch.randperm(90):
        x = build(data[i])
for e in range(4):
    epoch(net, rows)
"""
AROUND = """def fit(net, data):
    for e in range(4):
        for i in torch.randperm(90):
            x = build(data[i])
"""
MEMO = """seen = {}
for e in range(9):
    for i in torch.randperm(90):
        if i not in seen:
            seen[i] = build(rows[i])
        x = seen[i]
"""
GIVEN_ANEW = """def epoch(data):
    data = data[1:]
    for i in torch.randperm(90):
        x = build(data[i])
for e in range(4):
    epoch(rows)
"""
CHANGES = GIVEN_ANEW.replace("data = data[1:]", "data[0] = 1")


def found(text: str, begin: str = BEGIN) -> list[tuple[str, str, int]]:
    return [(each.value, each.collection, each.passes) for each in same_items(begin + text)]


def test_items_in_any_order() -> None:
    assert same_items(BEGIN + SHUFFLED) == (SameItems(11, 11, "build(rows[i])", "i", "rows", 9, 12),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (PLAIN, ("build(row)", "rows", 3)),
        (COUNTED, ("build(row)", "rows", 3)),
        ("for lr in (0.1, 0.2):\n    xs = [build(row) for row in rows]\n", ("build(row)", "rows", 2)),
        (NAMED, ("build(row)", "rows", 3)),
        (SLICED, ("build(rows[i])", "rows", 3)),
        (JOINED, ("build(rows[i])", "rows", 3)),
        (BY_NAME, ("build(rows[i])", "rows", 5)),
        (IN_FUNCTION, ("build(data[i])", "data", 4)),
        (AROUND, ("build(data[i])", "data", 4)),
    ],
)
def test_where_it_is_told(text: str, expected: tuple[str, str, int]) -> None:
    assert found(text) == [expected]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # chance, and what changes
        ("d = np.abs(row[:, None] - row[None])", "d = np.abs(row - np.random.rand(9))"),
        ("    return d", "    row += 1\n    return d"),
        ("def build(row):\n", "def build(row):\n    calls.append(1)\n"),
        ("for epoch in range(12):\n", "for epoch in range(12):\n    rows[epoch] = 3\n"),
        ("for epoch in range(12):\n", "for epoch in range(12):\n    rows = rows[1:]\n"),
        ("for epoch in range(12):\n", "for epoch in range(12):\n    K = epoch\n"),
        ("rows = [np.arange(n) for n in range(90)]", "rows = nn.Embedding(90, 4)"),
        # what is made is changed
        ("        loss =", "        graphs.reverse()\n        loss ="),
        # it depends on more
        ("build(rows[i])", "build(rows[i], epoch)"),
        ("build(rows[i])", "net(rows[i])"),
        ("build(rows[i])", "build(rows[i]) + torch.rand(8)"),
        ("build(rows[i])", "(build(rows[i]) if epoch else 0)"),
        # places that may be other ones each time
        ("torch.randperm(90).split(10)", "torch.randint(90, (9, 10))"),
        ("torch.randperm(90).split(10)", "torch.randperm(90)[:20].split(10)"),
        # batches: the result may depend on what comes together
        ("[build(rows[i]) for i in ids]", "build(rows[ids])"),
        # once, or on purpose
        ("range(12)", "range(1)"),
        ("for epoch in range(12):\n    for", "for epoch in range(12):\n  if epoch == 3:\n    for"),
        ("def build(row):", "@cache\ndef build(row):"),
        ("def build", "def def build"),
    ],
)
def test_where_it_is_not_told(old: str, new: str) -> None:
    text = BEGIN + SHUFFLED
    assert old in text
    assert same_items(text.replace(old, new)) == ()


def test_what_is_no_item() -> None:
    assert found(MEMO) == found(GIVEN_ANEW) == found(CHANGES) == []
    weights = BEGIN.replace("K = 8", "K = torch.zeros(8, requires_grad=True)")
    assert found(SHUFFLED, weights) == []


WITHOUT_ITEMS = """A = torch.randn(9, 9)
for hour in range(336):
    P = torch.linalg.inv(A)
    x = move(P, x)
"""


def test_what_depends_on_no_item() -> None:
    assert same_items(BEGIN + WITHOUT_ITEMS) == (SameItems(11, 11, "torch.linalg.inv(A)", "", "", 10, 336),)
    assert found(WITHOUT_ITEMS.replace("inv(A)", "inv(A).float()")) == [("torch.linalg.inv(A)", "", 336)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("inv(A)", "inv(x)"),
        ("inv(A)", "inv(A) @ x"),
        ("inv(A)", "inv(unknown)"),
        ("torch.linalg.inv(A)", "A.inverse()"),
        ("torch.linalg.inv(A)", "torch.zeros(9)[A]"),
        ("torch.linalg.inv(A)", "torch.load(A)"),
        ("torch.linalg.inv(A)", "net(A)"),
        ("    x = move(P, x)\n", "    x = step(P, x)\n    A += x\n"),
        ("    x = move(P, x)\n", "    x = step(P, x)\n    P[0] = 1\n"),
        ("randn(9, 9)", "randn(9, 9, requires_grad=True)"),
        ("for hour", "A.requires_grad_()\nfor hour"),
        ("for hour", "opt = torch.optim.SGD([A], 0.1)\nfor hour"),
    ],
)
def test_what_is_not_known_without_items(old: str, new: str) -> None:
    assert old in WITHOUT_ITEMS
    assert found(WITHOUT_ITEMS.replace(old, new)) == []
