"""What a measured cure gives, and what was predicted of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

# docs/design/pairs.md: a finding is right only if its cure is verified to give at least this share
LEAST_GAIN = 0.03
OUTSIDE_STEPS = ("outside_steps", "idle_outside_steps")
# a predicted share of 1 would be an infinite speed-up
_MOST_SHARE = 0.99


@dataclass(frozen=True)
class Gain:
    """What the cure saves, as shares 0..1 of the step (or the cell, or the memory), with its 95 % interval."""

    share: float
    low: float
    high: float
    of: str

    @property
    def verified(self) -> bool | None:
        """Whether at least LEAST_GAIN is saved; None where the interval has it on both sides."""
        if self.low >= LEAST_GAIN:
            return True
        return False if self.high < LEAST_GAIN else None

    @property
    def factor(self) -> float:
        """Before ÷ after."""
        return 1 / (1 - self.share)


def gain_of(result: dict[str, Any]) -> Gain | None:
    """The measured gain of a pair's cure; None where it is not yet measured."""
    if result["label"]["gain"] == "memory":
        memory = result["memory"]
        if memory is None or "error" in memory:
            return None
        share = memory["saved_share"]
        # without an interval: three readings of each lie apart, or they do not
        return Gain(share, share, share, "memory") if memory["certain"] else Gain(share, -1.0, 1.0, "memory")
    measured = result["measured"]
    # too few pairs of blocks give a ratio without an interval; one that is open above holds every larger factor
    if measured is None or "error" in measured or measured["ratio"] is None or measured["low"] is None:
        return None
    of = "cell" if measured.get("whole_cell") else "step"
    share, low = 1 - 1 / measured["ratio"], 1 - 1 / measured["low"]
    return Gain(share, low, 1.0 if measured["high"] is None else 1 - 1 / measured["high"], of)


@dataclass(frozen=True)
class Prediction:
    """A finding's saving beside what was measured, all as shares 0..1 of the time before."""

    pair: str
    size: str
    family: str
    rule: str
    grade: str
    low: float
    central: float
    high: float
    measured: Gain

    @classmethod
    def of(
        cls, result: dict[str, Any], report: dict[str, Any], finding: dict[str, Any], gain: Gain | None
    ) -> Prediction | None:
        """None where the finding predicts nothing, or time was not measured."""
        saving = finding["saving"]
        if saving is None or gain is None or gain.of == "memory":
            return None
        # of the run without the recording, where the saving is of that; shares are of the whole span, or of the cell
        whole_ms = saving["central_ms"] / saving["share"] if saving["share"] else report["source"]["span_ms"]
        span_ms = whole_ms - (_outside_steps_ms(report) if gain.of == "step" else 0.0)
        if span_ms <= 0:
            return None
        of_span = whole_ms / span_ms
        if gain.of == "step" and saving.get("share_of_steps") and saving["share"]:
            of_span = saving["share_of_steps"] / saving["share"]
        low, central, high = (min(saving[name] * of_span, 1.0) for name in ("low_share", "share", "high_share"))
        where = (result["pair"], result["size"], result["label"]["family"])
        return cls(*where, finding["rule"], saving["grade"], low, central, high, gain)

    @property
    def factor(self) -> float:
        """Predicted before ÷ after."""
        return 1 / (1 - min(self.central, _MOST_SHARE))

    @property
    def error_points(self) -> float:
        """|predicted − measured| in points (hundredths) of the time before."""
        return 100 * abs(self.central - self.measured.share)

    @property
    def log_error(self) -> float:
        """|ln of predicted factor − ln of measured factor|."""
        return abs(math.log(self.factor) - math.log(self.measured.factor))

    @property
    def covered(self) -> bool:
        """Whether the range holds the measured share."""
        return self.low <= self.measured.share <= self.high

    @property
    def sign_right(self) -> bool | None:
        """Whether faster or slower was foreseen; None where the measurement itself does not say."""
        if self.measured.low <= 0 <= self.measured.high:
            return None
        return (self.central > 0) == (self.measured.share > 0)

    @property
    def promises(self) -> bool:
        """Whether more than 1.05× is predicted."""
        return self.factor > 1.05

    @property
    def harms(self) -> bool:
        """Whether more than 1.05× is predicted and less than 0.98× measured."""
        return self.promises and self.measured.factor < 0.98


def _outside_steps_ms(report: dict[str, Any]) -> float:
    """What of the recorded span lies outside the steps: a measurement of steps does not see it."""
    return float(sum(entry["ms"] for entry in report["time_budget"] if entry["category"] in OUTSIDE_STEPS))
