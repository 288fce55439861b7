"""Two runs side by side: speed for equal work, budget, peaks, findings gone and new, and the code between them."""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gpuprof import units
from gpuprof.report.common_measure import CELL, PLAIN_STEP, RATE, RECORDED_STEP, TOKENS, CommonMeasure
from gpuprof.report.summary import Summary
from gpuprof.units import milliseconds

LEAST_NOISE = 0.02  # the same cell run twice differs by as much
_UNKNOWN_NOISE = 0.4  # short cells run once differ by a third without any change
_LOAD_DIFFERS = 0.2  # of the CPU time asked for: more than the readings of a quiet machine scatter
_MAGIC_LINE = "# %%gpuprofile"  # its options are no part of the code


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """`before` is the earlier run. Ratios are before ÷ after: above 1 is faster."""

    before: Summary
    after: Summary

    def __repr__(self) -> str:
        return self.sentence()

    @cached_property
    def measure(self) -> CommonMeasure:
        """What the two have in common to be compared by."""
        return CommonMeasure.of(self.before, self.after)

    @property
    def basis(self) -> str:
        """What is compared: `samples per second`, `tokens per second`, `unrecorded step`, `median step` (recorded),
        `whole cell` or `recorded span`, the first that both runs have for equal work."""
        return self.measure.basis

    @property
    def before_ns(self) -> float:
        """The earlier run's time on that basis, ns; of one sample for `samples per second`."""
        return self.measure.before_ns

    @property
    def after_ns(self) -> float:
        """The later run's time on that basis, ns; of one sample for `samples per second`."""
        return self.measure.after_ns

    @property
    def per_step(self) -> bool:
        """Whether the budgets are those of an average recorded step: both have steps, of as much work."""
        if self.before.step_ns is None or self.after.step_ns is None:
            return False
        return self.basis in (PLAIN_STEP, RECORDED_STEP) or self.before.batch_size == self.after.batch_size

    @property
    def speedup(self) -> float | None:
        """before ÷ after; None where the later run took no time."""
        return self.before_ns / self.after_ns if self.after_ns > 0 else None

    @property
    def noise_share(self) -> float | None:
        """Differences of the medians up to this share may be chance; None where too few iterations show it.

        Twice the standard error of the difference of two medians. Steps of one run are alike for reasons of their own:
        between runs more can differ by chance.
        """
        return self.measure.noise_share

    @property
    def differences(self) -> tuple[str, ...]:
        """What is not the same in both runs besides the code, in words: batch size, steps, options, load, doubts."""
        one, other = self.before, self.after
        found = []
        if one.batch_size and other.batch_size and one.batch_size != other.batch_size:
            found.append(f"batch size {units.count(one.batch_size)} → {units.count(other.batch_size)}")
        elif one.steps_seen and other.steps_seen and one.steps_seen != other.steps_seen:
            found.append(f"steps {units.count(one.steps_seen)} → {units.count(other.steps_seen)}")
        if self.basis == TOKENS:
            lengths = (f"{run.sample_tokens:,.0f}" for run in (one, other))
            found.append(f"tokens per sample {' → '.join(lengths)}")
        if one.recorded_with != other.recorded_with:
            found.append(f"options {_options(one)} → {_options(other)}")
        shares = (one.core_share, other.core_share)
        if shares[0] is not None and shares[1] is not None and abs(shares[0] - shares[1]) > _LOAD_DIFFERS:
            got = f"{units.percent(shares[0])} → {units.percent(shares[1])}"
            found.append(f"share of the CPU time it asked for {got}")
        sides = ((one, f"the run {one.reference}" if one.run_number is None else one.reference), (other, "this run"))
        for run, name in sides:
            if run.doubts:
                found.append(f"{name} is doubtful: {', '.join(code.replace('_', ' ') for code in run.doubts)}")
        return tuple(found)

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
        """Each category with its ns before and after: of an average steady recorded step, else of the recorded span."""
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
            "plain": self.measure.plain,
            "samples_per_s": {"before": _samples_per_s(self.before), "after": _samples_per_s(self.after)},
            "cell_ms": {"before": _cell_ms(self.before), "after": _cell_ms(self.after)},
            "differences": list(self.differences),
            "time_budget": [
                {"category": name, "before_ms": milliseconds(old), "after_ms": milliseconds(new)}
                for name, old, new in self.budget_rows()
            ],
            "findings_gone": list(self.gone),
            "findings_new": list(self.new),
            "code_diff": self.code_diff or None,
        }

    def _budget(self, run: Summary) -> dict[str, float]:
        return run.step_budget_ns if self.per_step else run.budget_ns

    def _times(self) -> str:
        """The figures of the sentence: those on the basis first, then the whole cell, then what differs."""
        measure, cells = self.measure, (self.before.cell_ns, self.after.cell_ns)
        if measure.basis in (RATE, TOKENS):
            told = f"{_rate(measure.before_ns)} → {_rate(measure.after_ns)} {measure.basis}"
        else:
            told = f"{measure.basis} {units.duration(measure.before_ns)} → {units.duration(measure.after_ns)}"
        parts = [told]
        if measure.basis != CELL and cells[0] is not None and cells[1] is not None:
            parts.append(f"{CELL} {units.duration(cells[0])} → {units.duration(cells[1])}")
        return ", ".join((*parts, *self.differences))

    def _speed(self) -> str:
        times = self._times()
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


def _rate(sample_ns: float) -> str:
    return units.number(float(f"{units.NS_PER_S / sample_ns:.3g}")) if sample_ns > 0 else units.UNKNOWN


def _samples_per_s(run: Summary) -> float | None:
    """Of the unrecorded iterations; null where there are none, or their batch is unknown."""
    return units.NS_PER_S / run.sample_ns if run.sample_ns else None


def _cell_ms(run: Summary) -> float | None:
    return None if run.cell_ns is None else milliseconds(run.cell_ns)


def _options(run: Summary) -> str:
    return " ".join(f"--{name.replace('_', '-')}" for name in run.recorded_with) or "none"


def _code(source: str) -> list[str]:
    return [line for line in source.splitlines() if not line.startswith(_MAGIC_LINE)]


def _words(rules: tuple[str, ...]) -> str:
    return ", ".join(rule.replace("_", " ") for rule in rules)
