"""The figures of the scores. None is *not yet measured*, never 0."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from benchmarks.proving.score import BESIDES, FALSE, MINOR, OPEN, RIGHT, UNMEASURED, Fault, Judged

RESAMPLES = 2000
NO_RULE = "no rule"
_SEED = 0


@dataclass(frozen=True)
class RuleScore:
    """Of one rule: findings right, false, open (gain around 3 %) and without a measured gain; faults missed."""

    rule: str
    right: int
    false: int
    open: int
    unmeasured: int
    found: int
    missed: int

    @property
    def precision(self) -> float | None:
        """Right ÷ (right + false)."""
        return share(self.right, self.right + self.false)

    @property
    def recall(self) -> float | None:
        """Found ÷ (found + missed), over the faults that cost at least 3 %."""
        return share(self.found, self.found + self.missed)


def _first(fault: Fault) -> str:
    return fault.rules[0] if fault.rules else NO_RULE


def share(part: int, whole: int) -> float | None:
    """`part` ÷ `whole`, None where that is empty."""
    return part / whole if whole else None


def rule_scores(judged: Judged) -> list[RuleScore]:
    """One row for each rule that fired or was missed, by name. A missed fault counts for its first rule."""
    names = {each.rule for each in judged.firings if each.judged != MINOR}
    names |= {each.found or _first(each) for each in judged.faults}
    rows = []
    for rule in sorted(names):
        kinds = [each.judged for each in judged.firings if each.rule == rule]
        found = sum(each.found == rule for each in judged.faults)
        missed = sum(each.found is None and _first(each) == rule for each in judged.faults)
        right, false, undecided, unmeasured = (kinds.count(kind) for kind in (RIGHT, FALSE, OPEN, UNMEASURED))
        rows.append(RuleScore(rule, right, false, undecided, unmeasured, found, missed))
    return rows


def precision(judged: Judged) -> float | None:
    """Findings above low severity that are right, of those that are right or false.

    A right finding of low severity is left out here, as a false one is.
    """
    spoken = [each.judged for each in judged.firings if each.severity != "low"]
    return share(spoken.count(RIGHT), spoken.count(RIGHT) + spoken.count(FALSE))


def precision_with_besides(judged: Judged) -> float | None:
    """The same, where what a label calls right about the workload itself counts as false."""
    spoken = [each for each in judged.firings if each.severity != "low"]
    right = sum(each.judged == RIGHT for each in spoken)
    return share(right, right + sum(each.judged == FALSE or each.why == BESIDES for each in spoken))


def precision_of_all(judged: Judged) -> float | None:
    """The same over every severity: minor remarks that are not labelled count as false."""
    kinds = [each.judged for each in judged.firings]
    return share(kinds.count(RIGHT), kinds.count(RIGHT) + kinds.count(FALSE) + kinds.count(MINOR))


def recall(judged: Judged) -> float | None:
    """Faults that cost at least 3 % and were found, of all that cost so much."""
    return share(sum(each.found is not None for each in judged.faults), len(judged.faults))


def macro(values: Iterable[float | None]) -> float | None:
    """The mean over rules of what is known."""
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def hit_at(judged: Judged, most: int) -> float | None:
    """Faults with a right finding among the first `most`, of all that cost at least 3 %."""
    return share(sum(each.rank is not None and each.rank <= most for each in judged.faults), len(judged.faults))


def regret(judged: Judged) -> float | None:
    """Mean share of the time that following only the first finding leaves on the table."""
    costs = [each.regret for each in judged.faults if each.gain.of != "memory"]
    return statistics.fmean(costs) if costs else None


def on_line(judged: Judged) -> float | None:
    """Right findings that name a labelled line, of those whose rule has one."""
    told = [each.on_line for each in judged.firings if each.judged == RIGHT and each.on_line is not None]
    return share(sum(told), len(told))


def high_on_good(judged: Judged) -> int:
    """Findings of high severity on `good`, but for those that the label calls right about the workload itself."""
    firings = (each for each in judged.firings if each.variant == "good" and each.judged != UNMEASURED)
    return sum(each.severity == "high" for each in firings)


def high_on_good_of_all(judged: Judged) -> int:
    """Findings of high severity on `good`, those that the label calls right about the workload itself included."""
    return sum(each.variant == "good" and each.severity == "high" for each in judged.firings)


def median_error_points(judged: Judged) -> float | None:
    """Median |predicted − measured| in points of the time before."""
    return _median(each.error_points for each in judged.predictions)


def median_log_error(judged: Judged) -> float | None:
    """Median |ln predicted − ln measured| of the factors."""
    return _median(each.log_error for each in judged.predictions)


def sign_accuracy(judged: Judged) -> float | None:
    """Predictions of the right direction, of those whose measurement has one."""
    told = [each.sign_right for each in judged.predictions if each.sign_right is not None]
    return share(sum(told), len(told))


def coverage(judged: Judged) -> float | None:
    """Predicted ranges that hold the measured share."""
    return share(sum(each.covered for each in judged.predictions), len(judged.predictions))


def median_width_points(judged: Judged) -> float | None:
    """Median width of the predicted ranges, in points of the time before: a range may also be right by being wide."""
    return _median(100 * (each.high - each.low) for each in judged.predictions)


def harm_rate(judged: Judged) -> float | None:
    """Cures measured under 0.98×, of those predicted above 1.05×."""
    promised = [each for each in judged.predictions if each.promises]
    return share(sum(each.harms for each in promised), len(promised))


def interval(judged: Judged, metric: Callable[[Judged], float | None]) -> tuple[float, float] | None:
    """95 % interval of a metric by drawing workloads (pairs) anew; None where fewer than two are known."""
    names = judged.pairs
    if len(names) < 2 or metric(judged) is None:
        return None
    rng = np.random.default_rng(_SEED)
    parts = {name: judged.of_pairs([name]) for name in names}
    found = []
    for _ in range(RESAMPLES):
        drawn = Judged()
        for index in rng.integers(0, len(names), len(names)):
            part = parts[names[index]]
            drawn.firings += part.firings
            drawn.faults += part.faults
            drawn.predictions += part.predictions
        if (value := metric(drawn)) is not None:
            found.append(value)
    low, high = np.quantile(found, (0.025, 0.975))
    return float(low), float(high)


def _median(values: Iterable[float]) -> float | None:
    known = list(values)
    return statistics.median(known) if known else None
