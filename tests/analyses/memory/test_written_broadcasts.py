"""Broadcasts in the text that are reduced at once."""

from __future__ import annotations

import pytest

from gpuprof.analyses.memory.written_broadcasts import written_broadcasts


def lines(source: str) -> list[tuple[int, int]]:
    return [(each.made, each.reduced) for each in written_broadcasts("", source)]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("d = (a[:, None, :] - b[None, :, :]).pow(2).sum(-1)", (1, 1)),
        ("d = a[:, None] - b[None]\ne = (d ** 2).sum(-1)", (1, 2)),
        ("d = a[:, None] - b[None]\nd = d.pow(2)\nq = d.abs()\ne = torch.sum(q, -1)", (1, 4)),
        ("d = a[:, None] - b[None]\nq = d.pow(2)\nr = q.abs()\ne = torch.sum(r, -1)", (1, 4)),
        ("d = a.unsqueeze(1) * b.unsqueeze(0)\ne = d.sum(2)", (1, 2)),
        ("e = torch.sub(a[:, np.newaxis], b[np.newaxis]).norm(dim=-1)", (1, 1)),
        ("e = torch.maximum(a[:, None], b[None]).amax(-1)", (1, 1)),
        ("def f(a, b):\n    d = a[:, None] - b[None]\n    return d.norm(dim=-1)", (2, 3)),
    ],
)
def test_what_is_found(source: str, found: tuple[int, int]) -> None:
    assert lines(source) == [found]


@pytest.mark.parametrize(
    "source",
    [
        "m = (x * mask[:, :, None]).sum(1)",
        "m = (x[:, None] - y[:, None]).sum(1)",
        "same = labels[:, None] == labels[None]",
        "d = a[:, None] - b[None]\nplot(d)",
        "d = a[:, None] - b[None]\nprint(other.sum())",
        "d = a[0] - b[1]\ne = d.sum()",
        "d = a[:, None] - b[None]\ndef f(d):\n    return d.sum()",
        "d = a[:, None",
    ],
    ids=["mask", "one axis", "comparison", "kept", "other", "rows", "another scope", "no Python"],
)
def test_what_is_left_alone(source: str) -> None:
    assert lines(source) == []


def test_lines_between_that_take_it_count() -> None:
    (found,) = written_broadcasts("", "d = a[:, None] - b[None]\nprint(1)\nd = d.pow(2)\ne = d.sum(-1)")
    assert found.lines == (1, 3, 4)
