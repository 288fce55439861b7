"""What is computed for results that the next iteration overwrites: how much of it, and what is left alone."""

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Cell
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.registry import rule
from tests.rules.cases.host.costly_call_per_item import MODEL, library
from tests.rules.cases.needless.last_result_read import SOURCE, steps
from tests.support.trace_builder import CELL_FILE, TraceBuilder

MEDIAN = library("numpy/lib/_function_base_impl.py", "median")


def answer(for_ms: float = 50, source: str = SOURCE) -> Finding | None:
    found = rule("last_result_read").check(Results(steps(for_ms, source)))
    assert found is None or isinstance(found, Finding)
    return found


@pytest.mark.parametrize(
    ("for_ms", "severity"),
    [(40, Severity.HIGH), (30, Severity.MEDIUM), (15, Severity.MEDIUM), (12, Severity.LOW), (8, None)],
)
def test_by_the_share_that_is_computed_for_nothing(for_ms: float, severity: Severity | None) -> None:
    found = answer(for_ms)
    assert (found.severity if found else None) is severity


@pytest.mark.parametrize(
    "change",
    [
        # it may do something else, or nobody knows what it does
        ("score = accuracy(net)", "score = evaluate(net)"),
        ("    return hits", "    optimizer.step()\n    return hits"),
        ("    with torch.no_grad():\n        hits", "    if True:\n        hits"),
        # each is read, or none
        ("score = accuracy(net)", "score = accuracy(net); scores.append(score)"),
        ("print(score)", "pass"),
        # the loop ends when it is good enough
        ("score = accuracy(net)", "score = accuracy(net)\n    if score > 0.9: break"),
        # to time it
        ("for x, y in batches:", "for x, y in batches:\n    t = time.time(); t = time.time() - t"),
    ],
)
def test_what_is_left_alone(change: tuple[str, str]) -> None:
    assert change[0] in SOURCE
    assert answer(source=SOURCE.replace(*change)) is None


def test_several_names() -> None:
    found = answer(source=SOURCE.replace("score = accuracy(net)", "score, other = accuracy(net), 1"))
    assert found is not None and "`score` and `other` get a value" in found.explanation
    assert "compute them every so many" in (found.change or "")


TRACKED = """import numpy as np
class Tracker:
    def add(self, out):
        self.seen.append(out)
        self.score = np.median(self.seen)
    def line(self):
        return self.score

tracker = Tracker()
for x, y in batches: tracker.add(train(x, y))
print(tracker.line())
"""


def tracked(source: str) -> Trace:
    """A cell of 1 s, of which line 5 takes half, in a method that the loop calls."""
    builder = TraceBuilder().operator("aten::empty", 0, 0.5).operator("aten::mm", 980_000, 20_000)
    for at in range(1, 1_000_000, 100_000):
        builder.stack(at, 50_000, (CELL_FILE, "<module>", 10), (CELL_FILE, "Tracker.add", 5), MEDIAN)
        builder.stack(at + 50_000, 50_000, (CELL_FILE, "<module>", 10), MODEL)
    return builder.context(cell=Cell(source=source, filename=CELL_FILE)).build()


def test_an_attribute_that_is_read_after_the_loop() -> None:
    found = rule("last_result_read").check(Results(tracked(TRACKED)))
    assert isinstance(found, Finding) and found.severity is Severity.HIGH and found.where.lines == (5,)
    assert found.title.startswith("`np.median` runs in each iteration, but only its last result is read: 50 %")
    assert "`self.score` gets a value in each iteration of the loop in line 10" in found.explanation
    assert (found.change or "").startswith(
        "Compute `self.score` where it is read (line 11). In each iteration of the loop"
    )
    assert (
        rule("last_result_read").check(
            Results(tracked(TRACKED.replace(": tracker.add", ": print(tracker.line()); tracker.add")))
        )
        is None
    )


def test_what_every_tenth_iteration_reads() -> None:
    condition = "    if step % 10 == 0:\n        print(score)"
    source = SOURCE.replace("for x, y in batches:", "for step, (x, y) in enumerate(batches):").replace(
        "print(score)", condition
    )
    found = answer(source=source)
    assert found is not None and found.saving is not None and found.saving.share == pytest.approx(0.5 * 0.9)
    assert "`accuracy` runs in each iteration, but its result is seldom read" in found.title
    assert "and line 12 lets only one of 10 read it." in found.explanation
    assert found.change == "Put line 11 under the same condition where it stands: `if step % 10 == 0:`."


SELDOM = SOURCE.replace("for x, y in batches:", "for step, (x, y) in enumerate(batches):").replace(
    "\nprint(score)", "\n    percent = 100 * score\n    opt.zero_grad()\n    if step % 10 == 0:\n        print(percent)"
)


def test_it_stays_where_it_stands() -> None:
    """Below the `if` the gradients are gone; what reads it in between would have nothing to read."""
    found = answer(source=SELDOM)
    assert found is not None
    assert found.change == "Put lines 11 and 12 under the same condition where they stand: `if step % 10 == 0:`."
    found = answer(source=f"{SELDOM}print(percent)\n")
    assert found is not None
    assert found.change.endswith(" Line 16 reads it after the loop: compute it in the last iteration, too.")


def test_a_condition_that_counts_on() -> None:
    found = answer(source=SELDOM.replace("opt.zero_grad()", "step += 1"))
    assert found is not None
    assert found.change == (
        "Run lines 11 and 12 only in iterations in which the condition in line 14 will hold: the loop counts on in "
        "between."
    )


def test_gradients_are_clipped_in_each_step() -> None:
    for clip in ("torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)", "accuracy(net, out=buffer)"):
        source = SELDOM.replace("accuracy(net)\n", f"{clip}\n")
        assert clip in source and answer(source=source) is None


def test_what_changes_later_in_the_last_iteration() -> None:
    moved = "Move line 11 after the loop in line 9."
    found = answer()
    assert found is not None and found.change.startswith(f"{moved} To watch")
    found = answer(source=SOURCE.replace("\nprint(score)", "\n    opt.zero_grad()\nprint(score)"))
    assert found is not None and found.diff is None
    assert found.change.startswith(
        f"{moved} Where line 12 changes what it reads (a step, `zero_grad`), compute it in the last iteration, before "
        "that. To watch"
    )


def test_what_a_condition_reaches_is_not_moved() -> None:
    source = SOURCE.replace("for x, y in batches:", "for step, (x, y) in enumerate(batches):")
    source = source.replace("    score = accuracy(net)", "    if step % 2: score = accuracy(net)")
    found = answer(source=source)
    assert found is not None
    assert found.change.startswith("Run line 11 only in the last iteration of the loop in line 9 that reaches it. To")
