from __future__ import annotations

import pytest

from gpuprof.code_edits.syntax import matching as m
from gpuprof.code_edits.syntax.accumulators import Accumulator
from gpuprof.code_edits.syntax.tree import CellTree


def of(cell: str) -> Accumulator | None:
    tree = CellTree.of(cell)
    assert tree is not None
    change = tree.all(m.AugAssign())[0]
    return Accumulator.of(tree, change.target, change)


def test_it_begins_before_the_outermost_loop_that_repeats_only_the_change() -> None:
    found = of(
        "for e in range(3):\n    t = 0\n    for a in b:\n        for c in a:\n            t += c\n    print(t)\n"
    )
    assert found is not None and found.name == "t"
    assert m.matches(found.begin, m.Integer("0"))
    assert m.matches(found.loop, m.For(target=m.Name("a")))
    assert found.shown == () and found.resets == ()


def test_what_happens_every_so_often_is_named() -> None:
    found = of("t = 0.0\nfor i, a in b:\n    t += a\n    if i % 9 == 0:\n        print(t)\n        t = 0.0\nprint(t)\n")
    assert found is not None and len(found.shown) == 1 and len(found.resets) == 1


@pytest.mark.parametrize(
    "cell",
    [
        "for a in b:\n    t += a\n",
        "t = 0\nt += 1\n",
        "t = 0\nt = 1\nfor a in b:\n    t += a\n",
        "t = 0\nfor a in b:\n    t += a\n    print(t)\n",
        "t = 0\nfor a in b:\n    t += a\n    if t % 2: pass\n",
        "t = 0\nfor a in b:\n    t += a\n    if a:\n        t = 0\n",
        "t = 0\nfor i, a in b:\n    t += a\n    if i % 9 == 0:\n        t = a\n",
        "t = 0\nfor a in b:\n    t += a\n    for t in a: pass\n",
        "t = 0\ndef f():\n    return t\nfor a in b:\n    t += a\n",
        "if b:\n    for a in b:\n        t += a\nt = 0\n",
        "t = 0\nif i % 2:\n    for a in b:\n        t += a\n        print(t)\n",
    ],
)
def test_doubt_gives_none(cell: str) -> None:
    assert of(cell) is None
