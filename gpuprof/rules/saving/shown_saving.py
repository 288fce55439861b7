"""What a reader is shown of a saving: a range where it is narrow and does not begin at nothing, else to measure it.

Findings are ranked and graded by the Saving's own ends, which are the least and the most that their assumptions allow:
half of these ranges are wider than 45 points. What a reader is shown is

* on a CPU the range that holds what is measured in 8 of 10 changes, by split conformal prediction (Papadopoulos et
  al., ECML 2002; Lei et al., JASA 113, 2018). With L(s) = ln(s ÷ (1 − s)), which compares what a change saves with what
  it leaves, and e = |L(measured) − L(central)| of each of n measured changes, the factor f is the ⌈(n + 1) · 0.8⌉-th
  smallest e, and the range is L⁻¹(L(central) ± f), never beyond what the cause takes (e is infinite for a change that
  was measured to save more than that). It holds the saving of one more change like these in at least 8 of 10 cases,
  however e is distributed. All kinds of changes have one factor: by kinds there are too few of each.
  `python -m benchmarks.proving.ranges` finds f in docs/evidence/data, and how often ranges hold what is measured of a
  change that had no part in their f;
* with a GPU the Saving's own range: no change has been measured there yet.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from gpuprof.rules.base.finding import Finding, Saving, Severity

COVERED = 0.8
# What `python -m benchmarks.proving.ranges` finds; a test holds it against the evidence.
FACTOR = 1.21
# a reader can use a range of up to 20 points
_WIDEST = 0.20
# less is shown as 0 %
NOTHING = 0.005
# On a CPU 8 of 10 central shares were off by 22 points or less. With a GPU nothing is known of guesses (grade C).
_SIMULATED = "AB"


class HiddenRange(StrEnum):
    """Why no range is shown."""

    WIDE = "wide"
    FROM_ZERO = "from_zero"


@dataclass(frozen=True)
class ShownSaving:
    """Shares 0..1 of the saving's whole: the range that is expected to hold what is measured, and its middle.

    `hidden`: why the range is not shown; None where it is. `about`: whether the middle is shown, with it or alone.
    `upper_bound`: it was simulated on a device as the most that can be saved.
    """

    low_share: float
    share: float
    high_share: float
    hidden: HiddenRange | None
    about: bool
    upper_bound: bool = False

    @property
    def from_zero(self) -> bool:
        """Whether it may save nothing that is seen."""
        return self.low_share < NOTHING


def shown_saving(finding: Finding, *, on_device: bool) -> ShownSaving | None:
    """What is shown of the finding's saving; None where it has none."""
    saving = finding.saving
    if saving is None:
        return None
    low, high = (saving.least_share, saving.most_share) if on_device else expected_shares(saving)
    hidden = None
    if low < NOTHING and finding.severity > Severity.LOW:
        hidden = HiddenRange.FROM_ZERO
    elif not narrow(low, high):
        hidden = HiddenRange.WIDE
    about = hidden is None or not on_device or saving.grade in _SIMULATED
    upper_bound = on_device and saving.basis.startswith("upper bound")
    return ShownSaving(low, saving.share, high, hidden, about, upper_bound)


def narrow(low_share: float, high_share: float) -> bool:
    """Whether a range of shares is narrow enough to be shown."""
    return high_share - low_share <= _WIDEST and high_share > 0


def expected_shares(saving: Saving, factor: float = FACTOR) -> tuple[float, float]:
    """The range that holds what is measured in 8 of 10 changes on a CPU, as shares 0..1; never more than the cause.

    A saving that was found from the steps has its range there, as steps were what was measured.
    """
    scale = saving.per_step or 1.0
    middle = log_odds(min(saving.share * scale, 1.0))
    low, high = _share(middle - factor) / scale, _share(middle + factor) / scale
    return min(low, saving.share), max(min(high, _cause_share(saving)), saving.share)


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
