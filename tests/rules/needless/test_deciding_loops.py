"""Which loop is around a line, which flags it collects, and whether it asks for them."""

from __future__ import annotations

import pytest

from gpuprof.rules.needless.deciding_loops import DecidingLoop, deciding_loop

LOOP = "%magic\nfor place in range(9):\n    token = pick(done)\n    {update}\n    {rest}\n"


def loop(update: str, rest: str = "pass") -> DecidingLoop:
    found = deciding_loop(LOOP.format(update=update, rest=rest), 3)
    assert found is not None and found.line == 2
    return found


@pytest.mark.parametrize(
    ("update", "flag", "sets"),
    [
        ("done |= token == END", "done", True),
        ("done = done | (token == END)", "done", True),
        ("done = (token == END) | done", "done", True),
        ("done = torch.logical_or(done, token == END)", "done", True),
        ("done = done.logical_or(token == END)", "done", True),
        ("alive &= token != END", "alive", False),
        ("alive = alive & (token != END)", "alive", False),
        ("alive = torch.logical_and(token != END, alive)", "alive", False),
        ("left = left.mul((token != END).long())", "left", False),
        ("done = token == END", None, True),
        ("done = other | (token == END)", None, True),
        ("count += token == END", None, True),
        ("done |= a; alive &= b", None, True),
    ],
)
def test_flags(update: str, flag: str | None, sets: bool) -> None:
    found = loop(update)
    assert (found.flag, found.sets, found.ends_early) == (flag, sets, False)


@pytest.mark.parametrize(
    ("rest", "ends"),
    [
        ("if done.all(): break", True),
        ("if torch.all(done): return", True),
        ("if not (~done).any():\n        break", True),
        ("if place % 8 == 0:\n        if done.sum() == 16: break", True),
        ("if place % 8 == 0 and done.all():\n        show()\n    else:\n        break", True),
        ("if done.all(): print('done')", False),
        ("if clock() > limit: break", False),
        ("for each in done:\n        if each.all(): break", False),
        ("def later():\n        if done.all(): return", False),
        ("if not done.isfinite().all(): raise ValueError", False),
    ],
)
def test_early_ends(rest: str, ends: bool) -> None:
    assert loop("done |= token == END", rest).ends_early is ends


def test_while_loops_ask_by_themselves() -> None:
    code = "while {}:\n    token = pick(done)\n    done |= token == END\n"
    ends = [deciding_loop(code.format(test), 2) for test in ("not done.all()", "place < 9", "True")]
    assert [each is not None and each.ends_early for each in ends] == [True, False, False]


def test_the_innermost_loop() -> None:
    code = "for x in data:\n    seen |= x\n    for place in x:\n        done |= place\n        y = 1\n    z = 2\n"
    inner, outer = deciding_loop(code, 5), deciding_loop(code, 6)
    assert inner is not None and (inner.line, inner.flag) == (3, "done")
    assert outer is not None and (outer.line, outer.flag) == (1, "seen")


@pytest.mark.parametrize("source", ["x = 1\n", "for x in y:\n", "def f():\n    return 1\n"])
def test_no_loop(source: str) -> None:
    assert deciding_loop(source, 1) is None
