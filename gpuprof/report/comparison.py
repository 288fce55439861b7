"""Two Reports side by side: step time, budget, peaks, findings gone and new, and the code between them."""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuprof import units
from gpuprof.analyses.memory_peak import MemoryPeak
from gpuprof.analyses.step_time import StepTime
from gpuprof.model import intervals
from gpuprof.model.context import Cell
from gpuprof.report.report import Report
from gpuprof.units import milliseconds

_LEAST_NOISE = 0.02  # the same cell run twice differs by as much
_UNKNOWN_NOISE = 0.4  # short cells run once differ by a third without any change
_FEWEST_STEPS = 4
_MAGIC_LINE = "# %%gpuprofile"  # its options are no part of the code


@dataclass(frozen=True, eq=False)
class Comparison:
    """`before` is the earlier run. Ratios are before ÷ after: above 1 is faster."""

    before: Report
    after: Report

    @property
    def basis(self) -> str:
        """What is compared: `median step` where both runs have steps, else the `whole cell`, else `recorded span`."""
        if self.before.step_ns is not None and self.after.step_ns is not None:
            return "median step"
        cells = [report.trace.context.window for report in (self.before, self.after)]
        return "whole cell" if all(cells) else "recorded span"

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

        Twice the standard error of the difference of two medians, each 1.25 σ/√n with σ = inter-quartile range ÷ 1.35
        (normal steps). Steps of one run are alike for reasons of their own: between runs more can differ by chance.
        """
        errors = [_median_error(report) for report in (self.before, self.after)]
        if self.basis != "median step" or None in errors:
            return None
        return 2 * math.sqrt(sum(error**2 for error in errors if error is not None))

    @property
    def gone(self) -> tuple[str, ...]:
        """Rules that found something before and no longer do."""
        now = {finding.rule for finding in self.after.findings}
        return tuple(finding.rule for finding in self.before.findings if finding.rule not in now)

    @property
    def new(self) -> tuple[str, ...]:
        """Rules that find something only now."""
        then = {finding.rule for finding in self.before.findings}
        return tuple(finding.rule for finding in self.after.findings if finding.rule not in then)

    @property
    def code_diff(self) -> str:
        """Unified diff of the two cells; empty where a source is unknown or nothing changed."""
        old, new = self.before.trace.context.cell, self.after.trace.context.cell
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
            parts.append(f"{', '.join(self.gone)} gone")
        if self.new:
            parts.append(f"{', '.join(self.new)} new")
        change = self._peak_change()
        if change:
            parts.append(change)
        return "; ".join(parts) + "."

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; times in ms."""
        return {
            "schema": 1,
            "before": self.before.trace.source.path,
            "after": self.after.trace.source.path,
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

    def _time_ns(self, report: Report) -> float:
        window = report.trace.context.window
        if self.basis == "median step" and report.step_ns is not None:
            return float(report.step_ns)
        if self.basis == "whole cell" and window is not None:
            return float(window.cell_end_ns - window.cell_start_ns)
        return float(report.trace.span_ns)

    def _budget(self, report: Report) -> dict[str, float]:
        if self.basis != "median step":
            return {entry.category: float(entry.ns) for entry in report.budget.entries}
        times = report.results.get(StepTime)
        steady = intervals.union(intervals.of(report.trace.steps.take(times.steady)))
        count = int(times.steady.sum())
        return {
            category: intervals.intersect(part, steady).total_ns / count
            for category, part in report.budget.parts.items()
            if not category.endswith("outside_steps")
        }

    def _speed(self) -> str:
        times = f"{self.basis} {units.duration(self.before_ns)} → {units.duration(self.after_ns)}"
        ratio = self.speedup
        if ratio is None:
            return f"Speed unknown ({times})"
        word = "faster" if ratio > 1 else "slower"
        told = f"{units.factor(ratio if ratio > 1 else 1 / ratio)} {word} than before"
        if self.noise_share is None:
            if abs(math.log(ratio)) <= _UNKNOWN_NOISE:
                return f"No clear difference ({times}, one measurement each)"
            return f"{told} ({times}, one measurement each)"
        if abs(math.log(ratio)) <= max(self.noise_share, _LEAST_NOISE):
            return f"No difference beyond the noise of the steps ({times})"
        return f"{told} ({times})"

    def _peak_change(self) -> str:
        peaks = (report.results.get(MemoryPeak) for report in (self.before, self.after))
        old, new = (peak.primary or peak.host for peak in peaks)
        if old is None or new is None or old.peak_allocated_bytes is None or new.peak_allocated_bytes is None:
            return ""
        change = new.peak_allocated_bytes - old.peak_allocated_bytes
        return f"peak {'+' if change >= 0 else '−'}{units.size(abs(change))}"


def _code(cell: Cell) -> list[str]:
    return [line for line in cell.source.splitlines() if not line.startswith(_MAGIC_LINE)]


def _median_error(report: Report) -> float | None:
    times = report.results.get(StepTime)
    durations = times.durations_ns[times.steady]
    if len(durations) < _FEWEST_STEPS or not times.median_ns:
        return None
    low, high = np.percentile(durations, [25, 75])
    return float(1.25 * (high - low) / 1.35 / math.sqrt(len(durations)) / times.median_ns)
