"""What the changes of several findings gain together: simulated as one change, never multiplied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.saving.shown_saving import narrow
from gpuprof.whatif.changes.graph_edits import together
from gpuprof.whatif.predict import Range, Replay, predict


@dataclass(frozen=True)
class Joint:
    """Recorded span ÷ what simulation leaves of it: `low` ≤ `central` ≤ `high`.

    `most`: among the changes is one of which only the most that it can save is known. `calibrated`: of the span as it
    would be without the recording.
    """

    low: float
    central: float
    high: float
    most: bool
    calibrated: bool = False

    @classmethod
    def of(cls, results: Results, findings: tuple[Finding, ...]) -> Self | None:
        """Of all these findings; None for fewer than two, or where one of them was not simulated (grades A to C)."""
        changes = [finding.replay_edit for finding in findings if finding.replay_edit and finding.saving]
        changes.sort(key=lambda change: change.last)
        if len(changes) < 2 or len(changes) < len(findings):
            return None
        replay = results.get(Replay)
        joint = Range(
            together(*(each.pessimistic for each in changes)),
            together(*(each.central for each in changes)),
            together(*(each.optimistic for each in changes)),
        )
        found = predict(replay, joint)
        if found.low_ns is None or found.central_ns is None or found.high_ns is None:
            return None
        span = replay.run_ns
        # together they save no more than all of their causes
        most_ns = span * sum(known.ceiling_share for each in findings if (known := each.saving) is not None)
        saved_ns = [min(saved, most_ns) for saved in (found.low_ns, found.central_ns, found.high_ns)]
        gains = [span / max(span - saved, 1) for saved in saved_ns]
        if gains[1] <= 1:
            return None
        most = any(f.saving is not None and f.saving.basis.startswith("upper bound") for f in findings)
        return cls(gains[0], gains[1], gains[2], most, replay.calibration is not None)

    @property
    def share(self) -> float:
        """Of the run, 0..1: what goes by the factor that is said."""
        return 1 - 1 / (self.high if self.most else self.central)

    @property
    def _narrow(self) -> bool:
        return narrow(1 - 1 / self.low, 1 - 1 / self.high)

    def __str__(self) -> str:
        low, central, high = (units.factor(each) for each in (self.low, self.central, self.high))
        reach = f"at most {high} as fast" if self.most else f"about {central} as fast"
        if self._narrow and not self.most:
            reach = f"about {central} as fast ({low} to {high})"
        run = "run without recording" if self.calibrated else "recorded run"
        return f"Simulated together, they make the {run} {reach}"
