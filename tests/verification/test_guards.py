"""What passes each class of guard, on made-up runs."""

from __future__ import annotations

import math
from typing import Any

import torch

from gpuprof.rules.base.guard import EXACT_TOLERANCE, FUSED_TOLERANCE, Guard
from gpuprof.verification.cells.hooks import Counted
from gpuprof.verification.guards import GuardResult, Seen, Status, Tolerances, judge
from gpuprof.verification.record import Record

LOSSES = [2.0, 1.5, 1.25]


def seen(losses: list[float], *, weights: tuple[float, ...] = (1.0,), **facts: Any) -> Seen:
    record = Record()
    record.ends_ns[Counted.OPTIMIZER] = [1] * facts.pop("steps", len(losses))
    record.backwards, record.batches, record.shapes = len(losses), [1] * len(losses), [[(4,)]] * len(losses)
    for name, value in facts.items():
        setattr(record, name, value)
    return Seen(losses, list(weights), record)


def judged(guard: Guard, after: Seen, *, again: Seen | None = None, tolerance: float = EXACT_TOLERANCE) -> GuardResult:
    return judge(guard, seen(LOSSES), again or seen(LOSSES), after, Tolerances(tolerance))


def off(relative: float) -> list[float]:
    return [loss * (1 + relative) for loss in LOSSES]


def test_exact() -> None:
    same = judged(Guard.EXACT, seen(LOSSES))
    assert same.status is Status.PASSED and same.text == "loss identical over 3 steps"
    assert judged(Guard.EXACT, seen(off(5e-6))).status is Status.PASSED
    assert judged(Guard.EXACT, seen(off(5e-5))).status is Status.FAILED
    assert judged(Guard.EXACT, seen(off(5e-5)), tolerance=FUSED_TOLERANCE).status is Status.PASSED
    assert "weights" in judged(Guard.EXACT, seen(LOSSES, weights=(1.1,))).text


def test_the_originals_own_noise_is_allowed() -> None:
    assert judged(Guard.EXACT, seen(off(5e-4)), again=seen(off(3e-4))).status is Status.PASSED
    assert judged(Guard.EXACT, seen(off(5e-4)), again=seen(off(1e-4))).status is Status.FAILED


def test_numeric() -> None:
    assert judged(Guard.NUMERIC, seen(off(1e-3))).status is Status.PASSED
    assert judged(Guard.NUMERIC, seen(off(1e-2))).status is Status.FAILED
    half = judge(Guard.NUMERIC, seen(LOSSES), seen(LOSSES), seen(off(1e-2)), Tolerances(EXACT_TOLERANCE, half=True))
    assert half.status is Status.PASSED
    assert "not finite" in judged(Guard.NUMERIC, seen([2.0, math.nan, math.inf])).text


def test_the_first_gradients_point_the_same_way() -> None:
    before, turned = torch.tensor([1.0, 0.0]), torch.tensor([1.0, 0.2])
    one, other = seen(LOSSES, gradients=[before]), seen(LOSSES, gradients=[turned])
    assert "cosine 0.98" in judge(Guard.NUMERIC, one, one, other, Tolerances(EXACT_TOLERANCE)).text
    scaled = seen(LOSSES, gradients=[before * 65536])
    assert judge(Guard.NUMERIC, one, one, scaled, Tolerances(EXACT_TOLERANCE)).status is Status.PASSED


def test_skipped_work_fails_whatever_the_losses() -> None:
    for change in ({"steps": 2}, {"backwards": 1}, {"batches": [1]}):
        assert judged(Guard.EXACT, seen(LOSSES, **change)).status is Status.FAILED, change
    assert judged(Guard.NUMERIC, seen(LOSSES, steps=2)).status is Status.PASSED  # a scaler's first step
    assert judged(Guard.NUMERIC, seen(LOSSES, steps=1)).status is Status.FAILED


def test_other_numbers_in_batches_of_the_same_shapes_cannot_be_compared() -> None:
    other = judged(Guard.EXACT, seen(off(0.5), batches=[2, 2, 2]))
    assert other.status is Status.NOT_COMPARABLE and "workers" in other.text
    assert judged(Guard.EXACT, seen(LOSSES, batches=[2] * 3, shapes=[[(8,)]] * 3)).status is Status.FAILED


def test_without_a_loss_nothing_is_claimed() -> None:
    nothing = seen([])
    assert judge(Guard.EXACT, nothing, nothing, nothing, Tolerances(EXACT_TOLERANCE)).status is Status.NOT_COMPARABLE


def test_semantic_is_never_passed() -> None:
    assert judged(Guard.SEMANTIC, seen(off(1.0), steps=1)).status is Status.NOT_COMPARABLE
