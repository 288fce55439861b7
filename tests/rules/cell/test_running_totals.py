from __future__ import annotations

import pytest

from gpuprof.rules.cell.running_totals import RunningTotal, running_totals


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "for t in range(len(rewards)):\n    g = 0\n    for k, r in enumerate(rewards[t:]):\n"
            "        g += GAMMA ** k * r\n    returns.append(g)\n",
            RunningTotal("rewards", 3, 4, 1, True),
        ),
        (
            "for t, step in enumerate(episode):\n    g = 0\n    for k in range(t, len(episode)):\n"
            "        g += gamma ** (k - t) * rewards[k]\n",
            RunningTotal("rewards", 3, 4, 1, True),
        ),
        (
            "for i in range(n):\n    total, scale = 0.0, 1.0\n    for x in xs[:i + 1]:\n        total += scale * x\n"
            "        scale *= 0.9\n    means[i] = total\n",
            RunningTotal("xs", 3, 5, 1, False),
        ),
        ("for i in range(n):\n    out.append(sum(xs[:i]))\n", RunningTotal("xs", 2, 2, 1, False)),
        ("for i in range(n):\n    best[i] = np.max(xs[: i + 1])\n", RunningTotal("xs", 2, 2, 1, False)),
        ("for i in range(n):\n    m = self.losses[:i].mean()\n", RunningTotal("self.losses", 2, 2, 1, False)),
        (
            "for t in range(n):\n    out.append(sum(g ** k * r for k, r in enumerate(rewards[t:])))\n",
            RunningTotal("rewards", 2, 2, 1, True),
        ),
        (
            "returns = [sum(g ** k * r for k, r in enumerate(rewards[t:])) for t in range(len(rewards))]\n",
            RunningTotal("rewards", 1, 1, 1, True),
        ),
        ("means = [np.mean(xs[: i + 1]) for i in range(n)]\n", RunningTotal("xs", 1, 1, 1, False)),
        ("for t in range(n):\n    out.append(sum(r[k] for k in range(t, n)))\n", RunningTotal("r", 2, 2, 1, True)),
    ],
)
def test_totals_that_are_made_anew(source: str, expected: RunningTotal) -> None:
    assert running_totals(source) == (expected,)


@pytest.mark.parametrize(
    "source",
    [
        # all pairs: each term depends on both places
        "for i in range(n):\n    for j in range(i):\n        energy += 1 / (x[i] - x[j]) ** 2\n",
        "for i, a in enumerate(xs):\n    for b in xs[i:]:\n        total += a * b\n",
        "for i in range(n):\n    for x in xs[i:]:\n        total += kernel(x)\n",
        # not a total
        "for i in range(n):\n    for x in xs[i:]:\n        out.append(x)\n",
        "for i in range(n):\n    for x in xs[i:]:\n        total /= x\n",
        "for i in range(n):\n    for x in xs[i:]:\n        if x > 3:\n            total += x\n",
        # windows and parts of another size
        "for i in range(n):\n    out.append(sum(xs[i:i + 8]))\n",
        "for i in range(0, n, 8):\n    out.append(sum(xs[a:]))\n",
        "for i in range(n):\n    out.append(sum(xs[::i]))\n",
        "for x in xs:\n    out.append(sum(xs[x:]))\n",
        "for i in range(n):\n    for k in range(i, i + 4):\n        total += xs[k]\n",
        "out = sum(xs[i:])\n",
        "for i in range(n):\n    out.append(sum(kernel(r) for r in xs[i:]))\n",
        "for i in range(n):\n    out.append(sorted(xs[:i]))\n",
        "for i in range(",
    ],
)
def test_what_is_none(source: str) -> None:
    assert running_totals(source) == ()
