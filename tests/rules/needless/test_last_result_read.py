"""What is computed for results that the next iteration overwrites: how much of it, and what is left alone."""

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.registry import rule
from tests.rules.cases.needless.last_result_read import SOURCE, steps


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
