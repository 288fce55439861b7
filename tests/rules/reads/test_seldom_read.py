"""What is computed in each iteration of a loop and read in one of many; and what only looks like it."""

from __future__ import annotations

import pytest

from gpuprof.rules.reads.seldom_read import seldom_read

LOGGED = """import numpy as np
EVERY = 50
for step in range(1000):
    train(step)
    spread = np.median(net)
    ratio = spread / 2
    if step % 100 == 0:
        print(step, ratio)
"""


def changed(before: str, after: str) -> str:
    assert before in LOGGED
    return LOGGED.replace(before, after)


def test_what_every_hundredth_step_prints() -> None:
    (found,) = seldom_read(LOGGED)
    assert (found.first, found.last, found.names, found.call) == (5, 5, ("spread",), "np.median")
    assert (found.loop, found.reader, found.every, found.known) == (3, 7, 100, True)


@pytest.mark.parametrize(
    ("before", "after", "every"),
    [
        ("step % 100 == 0", "not step % 100", 100),
        ("step % 100 == 0", "(step + 1) % EVERY == 0", 50),
        ("step % 100 == 0", "step % 100 == 0 or step == 999", 100),
        ("step % 100 == 0", "rank == 0 and step % 20 == 0", 20),
        ("step % 100 == 0", "step == 999", None),
        ("step % 100 == 0", "verbose and step % 20 == 0", 20),
        ("print(step, ratio)", "print(step, ratio)\n    if step % 10 == 9:\n        kept.append(spread)", 10),
        ("print(step, ratio)", "print(step, ratio)\nprint(ratio)", 100),
        ("for step in range(1000):", "step = 0\nwhile True:\n    step += 1", 100),
        ("for step in range(1000):", "def train():\n  for step in range(1000):", 100),
    ],
)
def test_other_conditions(before: str, after: str, every: int | None) -> None:
    found = seldom_read(changed(before, after))
    assert [each.every for each in found] == ([every] if every else [])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # it holds nearly each time, or nobody knows when
        ("step % 100 == 0", "step % 2 == 0"),
        ("step % 100 == 0", "step % 100"),
        ("step % 100 == 0", "step % 100 != 0"),
        ("step % 100 == 0", "step % n == 0"),
        ("step % 100 == 0", "step % 100 == 0 or done"),
        ("step % 100 == 0", "due(step % 100) == 0"),
        ("step % 100 == 0", "count % 100 == 0; count = more(step)"),
        ("    train(step)", "    train(step); step = other(step)"),
        # it is read otherwise
        ("print(step, ratio)", "print(step, ratio)\n    else:\n        print(spread)"),
        ("    train(step)", "    train(step, spread)"),
        ("    train(step)", "    train(step)\n    spreads.append(spread)"),
        ("np.median(net)", "0.9 * spread + np.median(net)"),
        ("import numpy as np", "import numpy as np\ndef report():\n    print(spread)"),
        ("        print(step, ratio)", "        pass"),
        ("step % 100 == 0", "step % 100 == 0 and spread > 0"),
        # it has an effect, or calls nothing
        ("np.median(net)", "net.step()"),
        ("np.median(net)", "clip_grad_norm_(net, 1.0)"),
        ("np.median(net)", "net"),
    ],
)
def test_what_is_read_or_needed(before: str, after: str) -> None:
    text = changed(before, after).replace(
        "if count % 100 == 0; count = more(step)", "count = more(step)\n    if count % 100 == 0"
    )
    assert [each.names for each in seldom_read(text)] == []


def test_what_is_no_python_has_none() -> None:
    assert seldom_read("for x in (") == ()


@pytest.mark.parametrize(
    ("before", "after", "test"),
    [
        ("step % 100 == 0", "step % 100 == 0", "step % 100 == 0"),
        ("step % 100 == 0", "step % 100 == 0 and verbose", "step % 100 == 0 and verbose"),
        (
            "print(step, ratio)",
            "print(step, ratio)\n    if step == 9:\n        kept.append(spread)",
            "step % 100 == 0 or step == 9",
        ),
        ("for step in range(1000):", "while True:\n    step += 1", "step % 100 == 0"),
        # the condition has another outcome where the statement stands
        ("    ratio = spread / 2", "    ratio = spread / 2\n    step += 1", None),
    ],
)
def test_the_condition_at_the_statement(before: str, after: str, test: str | None) -> None:
    (found,) = seldom_read(changed(before, after))
    assert found.test == test


def test_what_cannot_run_without_it() -> None:
    (found,) = seldom_read(changed("print(step, ratio)", "print(step, ratio)\nprint(step)\nprint(ratio)"))
    assert (found.passed_on, found.after) == ((6,), 10)
    assert seldom_read(LOGGED)[0].after is None


METER = """class Progress:
    def __init__(self, every=60):
        self.every = every
    def update(self, step, truth, guess):
        if len(truth) > 1:
            f1 = f1_score(truth, guess)
        if step % self.every == 0:
            print(f1)
meter = Progress()
for step, batch in enumerate(loader):
    meter.update(step, *batch)
"""


def test_in_a_function_that_a_loop_calls() -> None:
    (found,) = seldom_read("from sklearn.metrics import f1_score\n" + METER)
    assert (found.first, found.names, found.loop, found.every, found.known) == (7, ("f1",), 11, 60, True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("            print(f1)\n", "            print(f1)\n        self.last = f1\n"),
        ("            print(f1)\n", "            print(f1)\n        return f1\n"),
        ("step % self.every == 0", "truth"),
        ("Progress()", "Progress(every=1)"),
        ("every=60", "every=2"),
        ("    meter.update(step, *batch)", "    pass"),
        ("        if len", "        global f1\n        if len"),
        ("        if len", "        step = len(guess)\n        if len"),
    ],
)
def test_a_function_that_reads_it_more_often(old: str, new: str) -> None:
    assert old in METER and seldom_read(METER.replace(old, new)) == ()
