"""Which range of a saving is shown, and where a measurement is asked for instead."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpuprof.rules.base.finding import Finding, Saving, Severity
from gpuprof.rules.saving.measured_spread import Fit
from gpuprof.rules.saving.shown_saving import HiddenRange, expected_shares, log_odds, shown_saving


def saving(low: float, central: float, high: float, grade: str = "C") -> Saving:
    """In percent of the run."""
    return Saving(low, central, high, central / 100, grade, "some basis")


def found(made: Saving | None, severity: Severity = Severity.HIGH) -> Finding:
    return Finding("some_rule", severity, "", "", {}, "", saving=made)


def test_on_a_device_the_range_is_the_savings_own() -> None:
    shown = shown_saving(found(saving(30, 40, 45)), on_device=True)
    assert shown is not None
    assert (shown.low_share, shown.share, shown.high_share) == pytest.approx((0.30, 0.40, 0.45))
    assert shown.hidden is None and shown.about


@pytest.mark.parametrize("high", [50.0, 50.5])
def test_twenty_points_are_the_widest_that_is_shown(high: float) -> None:
    shown = shown_saving(found(saving(30, 40, high, "B")), on_device=True)
    assert shown is not None and (shown.hidden is None) == (high == 50) and shown.about


def test_a_range_from_zero_is_shown_of_low_severity_alone() -> None:
    made = saving(0, 2, 3, "B")
    minor = shown_saving(found(made, Severity.LOW), on_device=True)
    assert minor is not None and minor.hidden is None and minor.from_zero
    for severity in (Severity.MEDIUM, Severity.HIGH):
        shown = shown_saving(found(made, severity), on_device=True)
        assert shown is not None and shown.hidden is HiddenRange.FROM_ZERO


def test_a_guess_on_a_device_shows_no_figure() -> None:
    shown = shown_saving(found(saving(0, 40, 60)), on_device=True)
    assert shown is not None and not shown.about


RULE = "some_rule"
EVEN = Fit(0.0, -2.0, 3.0, 0.2, {"sure": 0.1})


def test_on_a_cpu_the_expected_range_lies_around_the_central_share_and_never_begins_at_zero() -> None:
    for central in (10, 50, 90):
        low, high = expected_shares(saving(0, central, central), RULE, EVEN)
        assert 0 < low < central / 100 < high < 1
        assert log_odds(central / 100) - log_odds(low) == pytest.approx(0.4)
        assert log_odds(high) - log_odds(central / 100) == pytest.approx(0.6)
        narrow = expected_shares(saving(0, central, central), "sure", EVEN)
        assert low < narrow[0] < narrow[1] < high


def test_on_a_cpu_only_extremes_are_sure_of_a_rule_that_was_not_measured() -> None:
    half = shown_saving(found(saving(0, 50, 50)), on_device=False)
    most = shown_saving(found(saving(0, 95, 95)), on_device=False)
    assert half is not None and half.hidden is HiddenRange.WIDE and half.about
    assert most is not None and most.hidden is None


def test_on_a_cpu_work_that_may_have_to_stay_may_save_nothing() -> None:
    bound = replace(saving(0, 15, 15), basis="upper bound: none of this work")
    minor = shown_saving(found(bound, Severity.LOW), on_device=False)
    assert minor is not None and minor.from_zero and minor.hidden is None
    for each, severity in (
        (bound, Severity.MEDIUM),
        (replace(bound, low_ns=1), Severity.LOW),
        (saving(0, 15, 15), Severity.LOW),
    ):
        shown = shown_saving(found(each, severity), on_device=False)
        assert shown is not None and not shown.from_zero


def test_a_range_holds_its_central_share() -> None:
    """Though measured savings are a little larger at the median."""
    low, high = expected_shares(saving(0, 50, 50), RULE, Fit(0.5, -1.0, 1.0, 0.1))
    assert low == 0.5 < high


def test_the_ends_stay_within_all_and_nothing() -> None:
    low, high = expected_shares(saving(1, 100, 100), RULE)
    assert 0.98 < low < high == 1.0
    low, high = expected_shares(Saving(0, 0, 0, 0.0, "C", "b"), RULE)
    assert low == 0.0 < high < 0.02
    assert shown_saving(found(None), on_device=False) is None
    # of steps it is a range of steps, which are a part of the cell
    part = replace(saving(0, 40, 45), of_cell=True, per_step=2.0)
    assert expected_shares(part, RULE)[1] <= 0.5
