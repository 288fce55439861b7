"""The line a verdict is shown as."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gpuprof.rules.base.guard import Guard
from gpuprof.verification.guards import GuardResult, Status
from gpuprof.verification.measurement import ArmFacts, Measurement
from gpuprof.verification.timing.outcome import Outcome

PASSED = GuardResult(Guard.EXACT, Status.PASSED, "loss identical over 20 steps", 0.0)
GIB = 1024**3
BEFORE = ArmFacts(step_ns=12.7e6, start_up_ns=1e9, peak_bytes=2 * GIB)
AFTER = ArmFacts(step_ns=10e6, start_up_ns=28e9, peak_bytes=int(1.9 * GIB))


def verdict(outcome: Outcome, low: float, high: float, **facts: Any) -> Measurement:
    given: dict[str, Any] = {"pairs": 14, "seconds": 22.0, "guard": PASSED, "before": BEFORE, "after": AFTER}
    return Measurement(outcome, 1.27, low, high, (low, high), **(given | facts))


def test_the_line_of_the_issue() -> None:
    found = verdict(Outcome.FASTER, 1.24, 1.30, predicted=(1.18, 1.31, 1.42))
    assert str(found) == (
        "predicted 1.31× (1.18–1.42), measured 1.27× (1.24–1.30) in 14 pairs, loss identical over 20 steps, "
        "memory −102 MiB"
    )
    assert found.saved_share == pytest.approx(1 - 1 / 1.27) and found.break_even_steps == pytest.approx(10_000)
    assert any("earned back after 10,000 steps" in line for line in found.lines())


@pytest.mark.parametrize(
    ("outcome", "begins"),
    [
        (Outcome.NO_EFFECT, "no effect: measured 1.27× (1.00–1.01) in 14 pairs"),
        (Outcome.INCONCLUSIVE, "inconclusive after 22.0 s: 1.27× (1.00–1.01) in 14 pairs"),
    ],
)
def test_no_gain_is_not_dressed_up(outcome: Outcome, begins: str) -> None:
    assert str(verdict(outcome, 1.0, 1.01)).startswith(begins)


def test_without_a_device_nothing_is_said_of_memory() -> None:
    found = verdict(Outcome.FASTER, 1.2, 1.3, before=ArmFacts(), after=ArmFacts())
    assert "memory" not in str(found) and found.memory_delta_bytes is None and found.break_even_steps is None


def test_a_failed_guard_comes_first_and_the_page_needs_no_style() -> None:
    failed = GuardResult(Guard.EXACT, Status.FAILED, "losses differ by up to 0.3 <b>", 0.3)
    found = verdict(Outcome.FASTER, 1.2, 1.3, guard=failed)
    assert found.lines()[0] == "the change does not compute the same; its time means nothing until it does"
    assert str(found).startswith("does not compute the same: losses differ by up to 0.3 <b>, measured 1.27×")
    assert "<style" not in found._repr_html_() and "&lt;b&gt;" in found._repr_html_()


def test_the_object_is_plain_json() -> None:
    infinite = GuardResult(Guard.NUMERIC, Status.FAILED, "not finite", float("inf"))
    plain = json.loads(json.dumps(verdict(Outcome.FASTER, 1.2, 1.3, guard=infinite).to_dict(), allow_nan=False))
    assert plain["outcome"] == "faster" and plain["guard"]["class"] == "N" and plain["guard"]["loss_difference"] is None


def test_a_prediction_without_a_range_is_one_figure() -> None:
    assert str(verdict(Outcome.FASTER, 1.24, 1.30, predicted=(1.31,) * 3)).startswith(
        "predicted about 1.31×, measured "
    )
