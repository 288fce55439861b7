"""Two runs side by side: step time, budget, peaks, findings gone and new, and the code between them."""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass
from typing import Any

from gpuprof import units
from gpuprof.report.summary import Summary
from gpuprof.units import milliseconds

LEAST_NOISE = 0.02  # the same cell run twice differs by as much
_UNKNOWN_NOISE = 0.4  # short cells run once differ by a third without any change
_MAGIC_LINE = "# %%gpuprofile"  # its options are no part of the code


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """`before` is the earlier run. Ratios are before ÷ after: above 1 is faster."""

    before: Summary
    after: Summary

    def __repr__(self) -> str:
        return self.sentence()

    @property
    def basis(self) -> str:
        """What is compared: `median step` where both runs have steps, else the `whole cell`, else `recorded span`."""
        if self.before.step_ns is not None and self.after.step_ns is not None:
            return "median step"
        both_cells = self.before.cell_ns is not None and self.after.cell_ns is not None
        return "whole cell" if both_cells else "recorded span"

    @property
    def before_ns(self) -> float:
        """The earlier run's time on that basis, ns."""
        return self._time_ns(self.before)

    @property
    def after_ns(self) -> float:
        """The later run's time on that basis, ns."""
        return self._time_ns(self.after)

    @property
    def speedup(self) -> float | None:
        """before ÷ after; None where the later run took no time."""
        return self.before_ns / self.after_ns if self.after_ns > 0 else None

    @property
    def noise_share(self) -> float | None:
        """Differences of the medians up to this share may be chance; None where the steps are too few to tell.

        Twice the standard error of the difference of two medians. Steps of one run are alike for reasons of their own:
        between runs more can differ by chance.
        """
        one, other = self.before.step_error_share, self.after.step_error_share
        if self.basis != "median step" or one is None or other is None:
            return None
        return 2 * math.hypot(one, other)

    @property
    def gone(self) -> tuple[str, ...]:
        """Rules that found something before and no longer do."""
        return tuple(rule for rule in self.before.findings if rule not in self.after.findings)

    @property
    def new(self) -> tuple[str, ...]:
        """Rules that find something only now."""
        return tuple(rule for rule in self.after.findings if rule not in self.before.findings)

    @property
    def code_diff(self) -> str:
        """Unified diff of the two cells; empty where a source is unknown or nothing changed."""
        old, new = self.before.source, self.after.source
        if old is None or new is None:
            return ""
        lines = difflib.unified_diff(_code(old), _code(new), "before", "after", lineterm="", n=1)
        return "\n".join(lines)

    def budget_rows(self) -> list[tuple[str, float, float]]:
        """Each category with its ns before and after: of an average steady step, else of the recorded span."""
        before, after = self._budget(self.before), self._budget(self.after)
        names = list(before) + [name for name in after if name not in before]
        return [(name, before.get(name, 0.0), after.get(name, 0.0)) for name in names]

    def sentence(self) -> str:
        """`2.31× faster than before (median step 41 ms → 18 ms); input_stall gone; peak +12 MiB`."""
        parts = [self._speed()]
        if self.gone:
            parts.append(f"{_words(self.gone)} gone")
        if self.new:
            parts.append(f"{_words(self.new)} new")
        change = self._peak_change()
        if change:
            parts.append(change)
        return "; ".join(parts) + "."

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; times in ms."""
        return {
            "schema": 1,
            "before": self.before.path,
            "after": self.after.path,
            "basis": self.basis,
            "before_ms": milliseconds(self.before_ns),
            "after_ms": milliseconds(self.after_ns),
            "speedup": self.speedup,
            "noise_share": self.noise_share,
            "time_budget": [
                {"category": name, "before_ms": milliseconds(old), "after_ms": milliseconds(new)}
                for name, old, new in self.budget_rows()
            ],
            "findings_gone": list(self.gone),
            "findings_new": list(self.new),
            "code_diff": self.code_diff or None,
        }

    def _time_ns(self, run: Summary) -> float:
        if self.basis == "median step" and run.step_ns is not None:
            return run.step_ns
        return float(run.cell_ns if self.basis == "whole cell" and run.cell_ns is not None else run.span_ns)

    def _budget(self, run: Summary) -> dict[str, float]:
        return run.step_budget_ns if self.basis == "median step" else run.budget_ns

    def _speed(self) -> str:
        times = f"{self.basis} {units.duration(self.before_ns)} → {units.duration(self.after_ns)}"
        ratio = self.speedup
        if ratio is None:
            return f"Speed unknown ({times})"
        since = f" from {self.before.reference}" if self.before.run_number is not None else ""
        word = "faster" if ratio > 1 else "slower"
        told = f"{units.factor(ratio if ratio > 1 else 1 / ratio)} {word} than {self.before.reference}"
        if self.noise_share is None:
            if abs(math.log(ratio)) <= _UNKNOWN_NOISE:
                return f"No clear difference{since} ({times}, one measurement each)"
            return f"{told} ({times}, one measurement each)"
        if abs(math.log(ratio)) <= max(self.noise_share, LEAST_NOISE):
            return f"No difference{since} beyond the noise of the steps ({times})"
        return f"{told} ({times})"

    def _peak_change(self) -> str:
        if self.before.peak_bytes is None or self.after.peak_bytes is None:
            return ""
        change = self.after.peak_bytes - self.before.peak_bytes
        if not change:
            return "same peak"
        return f"peak {'+' if change >= 0 else '−'}{units.size(abs(change))}"


def _code(source: str) -> list[str]:
    return [line for line in source.splitlines() if not line.startswith(_MAGIC_LINE)]


def _words(rules: tuple[str, ...]) -> str:
    return ", ".join(rule.replace("_", " ") for rule in rules)
