"""A loop that asks at its top whether all is decided."""

from __future__ import annotations

import pytest

from gpuprof.code_edits.loops.early_end import end_when_decided

LOOP = "done = zeros(4)\nfor at in range(9):\n    # the next one\n    x = step(x)\n    done |= x > 1\nprint(x)\n"


def test_flags_that_are_set() -> None:
    assert end_when_decided(LOOP, 2, "done", sets=True) == (
        "done = zeros(4)\nfor at in range(9):\n    if done.all():\n        break\n    # the next one\n    x = step(x)\n"
        "    done |= x > 1\nprint(x)\n"
    )


def test_flags_that_are_cleared() -> None:
    changed = end_when_decided(LOOP.replace("done", "alive"), 2, "alive", sets=False)
    assert changed is not None and "    if not alive.any():\n        break\n    # the next one\n" in changed


def test_in_a_function() -> None:
    source = "def f(x):\n    for at in range(9):\n        x |= step(x)\n    return x\n"
    changed = end_when_decided(source, 2, "x", sets=True)
    assert changed is not None and "        if x.all():\n            break\n        x |= step(x)\n" in changed


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (LOOP, 3),
        (LOOP + "for x in y:\n    done |= x\nelse:\n    show()\n", 7),
        ("for done in x:\n    done |= step()\n", 1),
        ("for x in y: done |= x\n", 1),
        ("while True:\n    done |= step()\n", 1),
        ("for x in\n", 1),
    ],
)
def test_no_such_loop(source: str, line: int) -> None:
    assert end_when_decided(source, line, "done", sets=True) is None
