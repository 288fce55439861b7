"""What a reader is shown of a saving: a range where it is narrow and does not begin at nothing, else to measure it.

Findings are ranked and graded by the Saving's own ends, which are the least and the most that their assumptions allow:
half of these ranges are wider than 45 points. What a reader is shown is

* on a CPU the range that holds what is measured in 8 of 10 changes, by normalized conformal prediction (Papadopoulos
  et al., ECML 2002; Lei et al., JASA 113, 2018). With L(s) = ln(s ÷ (1 − s)), which compares what a change saves with
  what it leaves, e = L(measured) − L(central) of each of n measured changes has the median m, and for each rule a
  spread: s² = (Σ (e − m)² over its changes + 2 · s₀²) ÷ (their number + 2), s₀² being the mean of (e − m)² over all
  changes. z = (e − m) ÷ s of each change is taken with m and s of the others. With the ⌊(n + 1) · 0.1⌋-th and the
  ⌈(n + 1) · 0.9⌉-th smallest z the range is L⁻¹(L(central) + m + z · s). Where it ends above what the
  cell's samples show of the cause, only its low end is told: of the first 112 changes 50 saved more than that, half
  of those by 4 points or less.
  A finding of low severity whose own range begins at 0 keeps that beginning.
  `python -m benchmarks.proving.ranges` finds m, z and s in docs/evidence/data, and how often ranges hold what is
  measured of a change that had no part in them;
* with a GPU the Saving's own range: no change has been measured there yet.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from gpuprof.rules.base.finding import Finding, Saving, Severity
from gpuprof.rules.saving.measured_spread import FIT, Fit

COVERED = 0.8
# a reader can use a range of up to 20 points
_WIDEST = 0.20
# less is shown as 0 %
NOTHING = 0.005
# On a CPU 8 of 10 central shares were off by 15 points or less. With a GPU nothing is known of guesses (grade C).
_SIMULATED = "AB"


class HiddenRange(StrEnum):
    """Why no range is shown."""

    WIDE = "wide"
    FROM_ZERO = "from_zero"


@dataclass(frozen=True)
class ShownSaving:
    """Shares 0..1 of the saving's whole: the range that is expected to hold what is measured, and its middle.

    `hidden`: why the range is not shown; None where it is. `about`: whether the middle is shown, with it or alone.
    `upper_bound`: it was simulated on a device as the most that can be saved. `at_least`: the range goes on above what
    the cause was seen to take, which `high_share` then is.
    """

    low_share: float
    share: float
    high_share: float
    hidden: HiddenRange | None
    about: bool
    upper_bound: bool = False
    at_least: bool = False

    @property
    def from_zero(self) -> bool:
        """Whether it may save nothing that is seen."""
        return self.low_share < NOTHING


def shown_saving(finding: Finding, *, on_device: bool) -> ShownSaving | None:
    """What is shown of the finding's saving; None where it has none."""
    saving = finding.saving
    if saving is None:
        return None
    low, high = (saving.least_share, saving.most_share) if on_device else expected_shares(saving, finding.rule)
    if not on_device and finding.severity is Severity.LOW and _may_be_needed(saving):
        low, high = 0.0, saving.share
    hidden = None
    if low < NOTHING and finding.severity > Severity.LOW:
        hidden = HiddenRange.FROM_ZERO
    elif not narrow(low, high):
        hidden = HiddenRange.WIDE
    about = hidden is None or not on_device or saving.grade in _SIMULATED
    upper_bound = on_device and saving.basis.startswith("upper bound")
    most = high if on_device else max(min(high, _cause_share(saving)), saving.share)
    return ShownSaving(low, saving.share, most, hidden, about, upper_bound, at_least=most < high)


def _may_be_needed(saving: Saving) -> bool:
    """Whether it is the most that can be saved of work that may have to stay: changes that were measured are such that
    found their work needless."""
    return saving.low_ns <= 0 and saving.basis.startswith("upper bound")


def narrow(low_share: float, high_share: float) -> bool:
    """Whether a range of shares is narrow enough to be shown."""
    return high_share - low_share <= _WIDEST and high_share > 0


def expected_shares(saving: Saving, rule: str, fit: Fit = FIT) -> tuple[float, float]:
    """The range that holds what is measured in 8 of 10 changes on a CPU, as shares 0..1, around the central share.

    A saving that was found from the steps has its range there, as steps were what was measured.
    """
    scale = saving.per_step or 1.0
    low, high = (_share(each) / scale for each in fit.ends(log_odds(min(saving.share * scale, 1.0)), rule))
    return min(low, saving.share), max(min(high, 1 / scale), saving.share)


def _cause_share(saving: Saving) -> float:
    """What the cause takes: of what was found from samples of the cell at most the high end, which is all of it."""
    sampled = saving.of_cell and not saving.per_step and saving.ceiling_share >= 1.0
    return saving.most_share if sampled else saving.ceiling_share


def log_odds(share: float) -> float:
    """L(s): what is saved against what is left, as a logarithm; the ends are kept finite."""
    kept = min(max(share, NOTHING), 1 - NOTHING)
    return math.log(kept / (1 - kept))


def _share(odds: float) -> float:
    return 1 / (1 + math.exp(-odds))
