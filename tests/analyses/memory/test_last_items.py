"""Lists that grow, of which the last items alone are read."""

import pytest

from gpuprof.analyses.memory.last_items import LastItems, last_items

TWO_LOOP = """
SIDE, MEMORY = 540, 8

def direction(grad, steps, changes):
    recent = list(zip(steps, changes))[-MEMORY:]
    return grad if recent else -grad

def minimise(x, turns):
    s_hist, y_hist = [], []
    for turn in range(turns):
        d = direction(x, s_hist, y_hist)
        t = 1.0 if s_hist else 0.1
        if not y_hist:
            print(len(s_hist))
        s_hist.append(t * d)
        y_hist.append(d)
    return x
"""


def loop(read: str) -> str:
    return f"kept = []\nfor x in data:\n    kept.append(f(x))\n    {read}\n"


def test_by_the_function_that_they_are_handed_to() -> None:
    expected = LastItems("MEMORY", 8, (5,), ("s_hist", "y_hist"))
    assert last_items([TWO_LOOP], "s_hist", "minimise") == expected
    assert last_items(["other = 1", TWO_LOOP], "y_hist", "minimise") == expected
    # nothing grows there
    assert last_items([TWO_LOOP], "steps", "direction") is None


@pytest.mark.parametrize(
    "change",
    [
        ("return x\n", "return x, s_hist\n"),
        ("    return x\n", "    y_hist.sort()\n    return x\n"),
        ("return grad if", "steps = []\n    return grad if"),
        ("[-MEMORY:]", "[:MEMORY]"),
        ("MEMORY = 540, 8", "MEMORY = 540, other()"),
        ("direction(x, s_hist, y_hist)", "direction(x, s_hist, changes=y_hist)"),
        ("list(zip(steps, changes))[-MEMORY:]", "zip(steps, changes)"),
        ("zip(steps, changes)", "zip(steps, changes, others())"),
    ],
)
def test_where_more_is_read(change: tuple[str, str]) -> None:
    assert last_items([TWO_LOOP.replace(*change)], "s_hist", "minimise") is None


@pytest.mark.parametrize(
    ("read", "found"),
    [
        ("y = kept[-1]", LastItems("1", 1, (4,))),
        ("y = kept[-3:]", LastItems("3", 3, (4,))),
        ("y = kept[-1] + kept[-1:][0]", LastItems("1", 1, (4,))),
        ("y = kept[-1] + kept[-2]", None),
        ("y = kept[0]", None),
        ("y = kept[-3:-1]", None),
        ("y = kept[-1:].x; kept[-1] = 0", None),
        ("y = sum(kept)", None),
        ("for each in kept: print(each)", None),
        ("pass", None),
    ],
)
def test_of_the_notebook(read: str, found: LastItems | None) -> None:
    assert last_items([loop(read)], "kept", None) == found


def test_what_is_not_appended_to_in_a_loop() -> None:
    assert last_items(["kept = f()\nprint(kept[-1])\n"], "kept", None) is None
    assert last_items(["def ("], "kept", None) is None
