"""What a comparison found, in one line and as an object."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import Any

from gpuprof.rules.base.guard import Guard
from gpuprof.units import NS_PER_S, count, duration, factor, plural, size
from gpuprof.verification.guards import GuardResult, Status
from gpuprof.verification.timing.outcome import Estimate, Outcome

SCHEMA = 1
_NOTICED_BYTES = 1024 * 1024


@dataclass(frozen=True)
class ArmFacts:
    """One side. Times are wall clock, in ns.

    `step_ns`: median over blocks of the time of one step (of the whole cell, where that was timed); `p50_ns` and
    `p95_ns`: of single steps, from the host's side, None where none were seen. `start_up_ns`: what its first run took
    beyond its steps at full pace (set-up, compilation, workers). `peak_bytes`: of device memory allocated in a block.
    """

    step_ns: float | None = None
    p50_ns: float | None = None
    p95_ns: float | None = None
    start_up_ns: float | None = None
    warm_up_blocks: int = 0
    settled: bool = True
    peak_bytes: int | None = None


@dataclass(frozen=True, repr=False)
class Measurement:
    """Before against after. `ratio` is time before ÷ time after (above 1: the change is faster), `low` to `high` its
    95 % interval; None where there were too few pairs. `sequence` is the anytime-valid interval that decided.

    `seconds` is everything, guard and warm-up included. `predicted`: (low, central, high), as ratios too; three
    times the same where no range was predicted.
    `memory_delta_bytes`: peak of device memory allocated, after − before; None where there is no device.
    `break_even_steps`: after so many steps a faster change has earned back its longer start.
    """

    outcome: Outcome
    ratio: float | None
    low: float | None
    high: float | None
    sequence: tuple[float, float] | None
    pairs: int
    seconds: float
    guard: GuardResult
    before: ArmFacts = field(default_factory=ArmFacts)
    after: ArmFacts = field(default_factory=ArmFacts)
    whole_cell: bool = False
    predicted: tuple[float, float, float] | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, found: Estimate, guard: GuardResult, **facts: Any) -> Measurement:
        """From the final figures."""
        return cls(found.outcome, found.ratio, found.low, found.high, found.sequence, guard=guard, **facts)

    @property
    def saved_share(self) -> float | None:
        """Of the time before, 0..1; negative where the change is slower."""
        return None if self.ratio is None else 1 - 1 / self.ratio

    @property
    def memory_delta_bytes(self) -> int | None:
        """Peak after − peak before."""
        one, other = self.before.peak_bytes, self.after.peak_bytes
        return None if one is None or other is None else other - one

    @property
    def break_even_steps(self) -> float | None:
        """None where the change is not faster, or starts no later."""
        before, after = self.before, self.after
        if self.outcome is not Outcome.FASTER or before.step_ns is None or after.step_ns is None or self.whole_cell:
            return None
        extra, gain = (after.start_up_ns or 0) - (before.start_up_ns or 0), before.step_ns - after.step_ns
        return extra / gain if extra > 0 and gain > 0 else None

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def __str__(self) -> str:
        parts = [self._measured(), self.guard.text, self._memory()]
        if self.guard.kind is Guard.SEMANTIC:
            parts.insert(0, "training dynamics change")
        if self.predicted is not None:
            low, central, high = self.predicted
            reach = f"{factor(central)} ({_range(low, high)})" if low < high else f"about {factor(central)}"
            parts.insert(0, f"predicted {reach}")
        if self.guard.status is Status.FAILED:
            parts.remove(self.guard.text)
            parts.insert(0, f"does not compute the same: {self.guard.text}")
        return ", ".join(part for part in parts if part)

    def lines(self) -> list[str]:
        """The whole measurement: the one line, then what else is worth knowing."""
        found = [str(self)]
        if self.guard.status is Status.FAILED:
            found.insert(0, "the change does not compute the same; its time means nothing until it does")
        if self.before.step_ns is not None and self.after.step_ns is not None:
            what = "the cell" if self.whole_cell else "a step"
            found.append(
                f"{what} takes {duration(self.before.step_ns)} before and {duration(self.after.step_ns)} after"
            )
        if (steps := self.break_even_steps) is not None and steps >= 1:
            extra = (self.after.start_up_ns or 0) - (self.before.start_up_ns or 0)
            found.append(f"it starts {duration(extra)} later, earned back after {count(round(steps))} steps")
        return [*found, *self.notes]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; ratios are before ÷ after, times ns."""
        return {
            "schema": SCHEMA,
            "outcome": str(self.outcome),
            "ratio": self.ratio,
            "low": self.low,
            "high": self.high,
            "saved_share": self.saved_share,
            "sequence": None if self.sequence is None else list(self.sequence),
            "pairs": self.pairs,
            "seconds": round(self.seconds, 3),
            "guard": {
                "class": str(self.guard.kind),
                "status": str(self.guard.status),
                "text": self.guard.text,
                "loss_difference": _finite(self.guard.loss_difference),
            },
            "before": vars(self.before),
            "after": vars(self.after),
            "whole_cell": self.whole_cell,
            "memory_delta_bytes": self.memory_delta_bytes,
            "break_even_steps": self.break_even_steps,
            "predicted": None if self.predicted is None else list(self.predicted),
            "notes": list(self.notes),
            "text": str(self),
        }

    def _measured(self) -> str:
        took = duration(self.seconds * NS_PER_S)
        shown = (
            ""
            if self.ratio is None or self.low is None or self.high is None
            else (f"{factor(self.ratio)} ({_range(self.low, self.high)})")
        )
        if self.outcome is Outcome.NO_EFFECT:
            return f"no effect: measured {shown} in {plural(self.pairs, 'pair')}"
        if self.outcome is Outcome.INCONCLUSIVE:
            so_far = f": {shown} in {plural(self.pairs, 'pair')}" if shown else f" ({plural(self.pairs, 'pair')})"
            return f"inconclusive after {took}{so_far}"
        slower = ", slower" if self.outcome is Outcome.SLOWER else ""
        return f"measured {shown} in {plural(self.pairs, 'pair')}{slower}"

    def _memory(self) -> str:
        change = self.memory_delta_bytes
        if change is None:
            return ""
        return (
            f"memory {'+' if change > 0 else '−'}{size(abs(change))}"
            if abs(change) >= _NOTICED_BYTES
            else "memory same"
        )

    def _repr_html_(self) -> str:
        first, *rest = (html.escape(line) for line in self.lines())
        return f"<p><strong>{first}</strong></p>" + "".join(f"<p>{line}</p>" for line in rest)


def _range(low: float, high: float) -> str:
    return f"{low:.2f}–{high:.2f}" if high < 100 else f"{low:.2f} and more"


def _finite(value: float | None) -> float | None:
    return value if value is None or abs(value) < float("inf") else None
