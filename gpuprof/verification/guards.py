"""Does the change still compute the same? By class (docs/design/pairs.md): exact, other numerics, another training."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gpuprof.rules.base.guard import Guard
from gpuprof.units import plural
from gpuprof.verification.record import GUARD_STEPS, Record

# of class N: the rounding that is expected of one product, relative (TF32 has 10 bits behind the point, bfloat16 7)
_ROUNDING = 2.0**-10
_HALF_ROUNDING = 2.0**-7
_COSINE, _HALF_COSINE = 0.99, 0.98
_NOISE_BANDS = 3.0
_WEIGHT_TOLERANCE = 1e-3


class Status(StrEnum):
    """How a guard ended."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_COMPARABLE = "not comparable"


@dataclass(frozen=True)
class GuardResult:
    """`text` says in a few words what was seen; `loss_difference` is the largest relative one, None without losses."""

    kind: Guard
    status: Status
    text: str
    loss_difference: float | None = None


@dataclass(frozen=True)
class Tolerances:
    """How far losses may differ. `half`: the change computes in bfloat16 or float16."""

    loss: float
    half: bool = False


@dataclass(frozen=True)
class Seen:
    """What of one Record is compared, once its state is about to be put back."""

    losses: list[float]
    weights: list[float]
    record: Record

    @classmethod
    def of(cls, record: Record) -> Seen:
        """Read what is still on a device."""
        seen = cls(record.losses(), record.weights(), record)
        record.forget()
        return seen


def judge(guard: Guard, before: Seen, again: Seen, after: Seen, tolerances: Tolerances) -> GuardResult:
    """Compare the original with the change, and with a second run of itself: what differs there is noise."""
    if guard is Guard.SEMANTIC:
        return GuardResult(guard, Status.NOT_COMPARABLE, "another training: losses are not compared")
    if (problem := skipped_work(guard, before.record, after.record)) is not None:
        return GuardResult(guard, Status.FAILED, problem)
    if before.record.batches != after.record.batches:
        return _other_batches(guard, before, again, after)
    if _finite(before.losses) and not _finite(after.losses):
        return GuardResult(guard, Status.FAILED, "the change gives losses that are not finite", math.inf)
    noise = _largest_difference(before.losses, again.losses) or 0.0
    difference = _largest_difference(before.losses, after.losses)
    if difference is None:
        return GuardResult(guard, Status.NOT_COMPARABLE, "no loss to compare: the cell runs no backward pass")
    if guard is Guard.NUMERIC:
        return _numeric(before, after, noise, difference, tolerances)
    allowed = max(tolerances.loss, _NOISE_BANDS * noise)
    if difference > allowed:
        return GuardResult(guard, Status.FAILED, f"losses differ by up to {_relative(difference)}", difference)
    moved = _largest_difference(before.weights, after.weights) or 0.0
    if moved > max(_WEIGHT_TOLERANCE, _NOISE_BANDS * (_largest_difference(before.weights, again.weights) or 0.0)):
        return GuardResult(guard, Status.FAILED, "losses agree, the trained weights do not", difference)
    same = "loss identical" if difference == 0 else f"losses within {_relative(difference)}"
    return GuardResult(guard, Status.PASSED, f"{same} over {_steps(before.record)}", difference)


def _numeric(before: Seen, after: Seen, noise: float, difference: float, tolerances: Tolerances) -> GuardResult:
    kind = Guard.NUMERIC
    band = max(noise, _HALF_ROUNDING if tolerances.half else _ROUNDING)
    if difference > _NOISE_BANDS * band:
        text = f"losses differ by up to {_relative(difference)}, more than {_relative(_NOISE_BANDS * band)} of noise"
        return GuardResult(kind, Status.FAILED, text, difference)
    cosine = _cosine(before.record.gradients, after.record.gradients)
    if cosine is not None and cosine < (_HALF_COSINE if tolerances.half else _COSINE):
        text = f"the gradients of the first step point elsewhere (cosine {cosine:.3f})"
        return GuardResult(kind, Status.FAILED, text, difference)
    return GuardResult(kind, Status.PASSED, f"losses within {_relative(difference)}, as rounding allows", difference)


def skipped_work(guard: Guard, before: Record, after: Record) -> str | None:
    """The change must do as much: steps, batches, backward passes, parameters with a gradient."""
    if before.counted is not after.counted:
        return "the change makes its steps in another way"
    spared = 1 if guard is Guard.NUMERIC else 0  # a gradient scaler may skip its first step
    if abs(before.steps - after.steps) > spared:
        return f"the change makes {plural(after.steps, 'step')} where the original makes {before.steps}"
    counts = {
        "batches": (len(before.batches), len(after.batches)),
        "backward passes": (before.backwards, after.backwards),
        "parameters with a gradient": (before.with_gradient, after.with_gradient),
    }
    for name, (one, other) in counts.items():
        if one is not None and other is not None and abs(one - other) > (spared if name != "batches" else 0):
            return f"the change has {other} {name} where the original has {one}"
    return None


def _other_batches(guard: Guard, before: Seen, again: Seen, after: Seen) -> GuardResult:
    if before.record.shapes != after.record.shapes:
        return GuardResult(guard, Status.FAILED, "the batches have other shapes")
    if before.record.batches != again.record.batches:
        text = "the batches differ from run to run, of the original too: losses cannot be compared"
        return GuardResult(guard, Status.NOT_COMPARABLE, text)
    text = "the batches have the same shapes but other numbers (random samples drawn in workers?)"
    return GuardResult(guard, Status.NOT_COMPARABLE, text)


def _finite(losses: list[float]) -> bool:
    return all(math.isfinite(loss) for loss in losses)


def _largest_difference(ones: list[float], others: list[float], floor: float = 1e-8) -> float | None:
    """Of pairs of numbers, relative to the first; None where there are none. Equal infinities do not differ."""
    pairs = list(zip(ones, others, strict=False))
    if not pairs:
        return None
    return max(_difference(one, other, floor) for one, other in pairs)


def _difference(one: float, other: float, floor: float) -> float:
    if one == other or (math.isnan(one) and math.isnan(other)):
        return 0.0
    if not (math.isfinite(one) and math.isfinite(other)):
        return math.inf
    return abs(one - other) / max(abs(one), floor)


def _cosine(ones: list[Any], others: list[Any]) -> float | None:
    if not ones or [each.shape for each in ones] != [each.shape for each in others]:
        return None
    product = sum(float((a.double() * b.double()).sum()) for a, b in zip(ones, others, strict=True))
    lengths = [math.sqrt(sum(float(each.double().square().sum()) for each in part)) for part in (ones, others)]
    return product / (lengths[0] * lengths[1]) if all(lengths) else None


def _steps(record: Record) -> str:
    return plural(min(record.steps, GUARD_STEPS), "step") if record.steps else "the cell"


def _relative(value: float) -> str:
    return "infinity" if math.isinf(value) else f"{value:.1g} (relative)"
