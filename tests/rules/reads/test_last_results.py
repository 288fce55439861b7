"""What is computed in each iteration of a loop, and read of the last one only; and what only looks like it."""

from __future__ import annotations

import pytest

from gpuprof.rules.reads.last_results import last_results

ERRORS = """for epoch in range(5):
    errors = total = 0
    for x, y in batches:
        out = model(x)
        loss = F.cross_entropy(out, y)
        loss.backward()
        found, count = count_errors(out, y)
        errors += found
        total += count
print(errors / total)
"""
FIGURE = """for step in range(500):
    train(step)
    if step % 10 == 9:
        frame = snapshot(model, step)
show(frame)
"""


def test_sums_that_begin_anew_in_each_epoch() -> None:
    (found,) = last_results(ERRORS)
    assert (found.first, found.names, found.loop, found.call) == (7, ("found", "count"), 1, "count_errors")


def test_what_a_later_turn_writes_over() -> None:
    (found,) = last_results(FIGURE)
    assert (found.first, found.names, found.loop) == (4, ("frame",), 1)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # read in each epoch
        ("print(errors / total)", "    print(errors / total)"),
        # of all epochs together
        ("    errors = total = 0\n", ""),
        # in the last epoch alone
        (
            "        found, count = count_errors(out, y)",
            "        found, count = last(epoch) and count_errors(out, y).step()",
        ),
        ("total += count\n", "total += count\n        if total > 9:\n            break\n"),
        ("range(5):", "range(5):\n    history.append(total)"),
        ("found, count = count_errors(out, y)", "found, count = train(out, y)"),
        ("found, count = count_errors(out, y)", "found, count = next(out)"),
        ("for epoch in range(5):", "while epochs:"),
    ],
)
def test_what_is_read_or_needed(before: str, after: str) -> None:
    assert before in ERRORS
    assert last_results(ERRORS.replace(before, after)) == ()


@pytest.mark.parametrize(
    "condition",
    ["step == 499", "loss < best", "improved(step)", "step > 490"],
)
def test_what_a_condition_makes_rare_or_unforeseen(condition: str) -> None:
    """The best model so far: which one is the last is known at the end."""
    assert last_results(FIGURE.replace("step % 10 == 9", condition).replace("train(step)", "loss = train(step)")) == ()


def test_a_function_of_the_text_with_an_effect() -> None:
    kept = "def snapshot(model, step):\n    seen.append(step)\n    return step\n"
    assert last_results(kept + FIGURE) == ()
    pure = "def snapshot(model, step):\n    own = []\n    own.append(step)\n    return own\n"
    assert len(last_results(pure + FIGURE)) == 1


@pytest.mark.parametrize(
    ("call", "found"),
    [("step.log()", 1), ("np.log(step)", 1), ("torch.log(step)", 1), ("run.log(step)", 0), ("log(step)", 0)],
)
def test_a_logarithm_is_no_log(call: str, found: int) -> None:
    pure = f"def snapshot(model, step):\n    return {call}\n"
    assert len(last_results(pure + FIGURE)) == found


def test_what_a_function_reads_is_read() -> None:
    assert last_results(f"def train(step):\n    return frame\n{FIGURE}") == ()


def test_what_is_no_python_has_none() -> None:
    assert last_results("for x in (") == ()
    assert last_results(f"for x in y:\n    z = f({' + '.join(['y'] * 3000)})\nprint(z)\n") == ()


def test_what_cannot_be_moved_alone() -> None:
    """The sums of a batch loop belong to it; what only a condition or an inner loop reaches is not the loop's own."""
    (found,) = last_results(ERRORS)
    assert (found.passed_on, found.inner) == ((8, 9), True)
    (found,) = last_results(FIGURE)
    assert (found.passed_on, found.inner) == ((), True)
    (found,) = last_results(EVALUATED)
    assert (found.passed_on, found.inner) == ((8,), False)


EVALUATED = """import torch
def accuracy(net):
    with torch.no_grad():
        return (net(points) == labels).float().mean()
for x, y in batches:
    before = x
    score = accuracy(net)
    percent = 100 * score
    print(before)
print(percent)
"""


@pytest.mark.parametrize(
    ("later", "line"),
    [
        ("print(before)", None),
        ("loss(x).backward(); opt.step()", 9),
        ("net[0] = before", 9),
        ("points = before", 9),
        ("fitted(x, y)", 9),
        ("print(x)\n    opt.zero_grad()", 10),
        ("fitted(x, y)\n    opt.step()", 10),
        ("history.append(before)", None),
        ("other = before", None),
        ("total = torch.sum(before)", None),
    ],
)
def test_a_later_line_that_changes_what_it_reads(later: str, line: int | None) -> None:
    found, *_ = last_results(EVALUATED.replace("print(before)", later))
    assert found.names == ("score",) and found.changed_at == line
