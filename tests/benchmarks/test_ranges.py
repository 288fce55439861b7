"""Ranges are computed from what was kept, and each is tried without the change that it is asked about."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from benchmarks.proving.foreseen import Foreseen, of_pairs
from benchmarks.proving.ranges import KEPT, Spread, error_of, fit_of, page, read_kept, within, without_each
from gpuprof.rules.saving.measured_spread import FIT
from gpuprof.rules.saving.shown_saving import COVERED, expected_shares
from tests.benchmarks.test_score import finding, recorded, result


def row(name: str = "made", central: float = 0.5, measured: float = 0.5, **more: Any) -> Foreseen:
    ends = {"low": 0.0, "high": 0.9, "run_low": 0.0, "run_high": central}
    known: dict[str, Any] = {
        "name": name,
        "family": "all",
        "rule": "input_stall",
        "severity": "high",
        "basis": "",
        **ends,
    }
    return Foreseen(**{**known, "central": central, "measured": measured, **more})


def rows(*measured: float) -> list[Foreseen]:
    return [row(f"pair {number}", measured=share) for number, share in enumerate(measured)]


def test_the_ends_leave_a_tenth_on_either_side() -> None:
    # of 19 the 2nd and the 18th: one more change is as likely to be any of twenty
    some = rows(*(0.5 + part / 100 for part in range(-9, 10)))
    found = fit_of(some)
    assert found.middle == 0.0 and error_of(some[-1]) == pytest.approx(math.log(59 / 41))
    low, high = expected_shares(some[0].saving, "input_stall", found)
    assert low == pytest.approx(0.41, abs=0.02) and high == pytest.approx(0.59, abs=0.02)
    few = fit_of(rows(0.5, 0.6, 0.7))
    assert few.high == math.inf, "of three changes none says how wrong four of five may be"


def test_a_rule_that_foresees_well_has_narrow_ranges() -> None:
    sure = [row(f"sure {number}", measured=0.5, rule="repeated_work") for number in range(10)]
    found = fit_of([*sure, *rows(*(0.5 + part / 50 for part in range(-9, 10)))])
    assert found.by_rule["repeated_work"] < 0.6 * found.usual < found.by_rule["input_stall"]
    widths = []
    for rule in ("repeated_work", "never_measured", "input_stall"):
        low, high = expected_shares(sure[0].saving, rule, found)
        widths.append(high - low)
    assert widths == sorted(widths)


def test_a_range_is_tried_without_its_own_change() -> None:
    some = [*rows(*[0.5] * 10), row("apart", measured=0.9)]
    ranges = without_each(some, lambda each: each.name)
    assert ranges[-1] == pytest.approx((0.5, 0.5), abs=1e-3), "the others were all foreseen exactly"
    assert not ranges[-1][0] <= 0.9 <= ranges[-1][1]


def test_what_a_finding_foresaw_is_read_from_the_scores() -> None:
    told = finding("input_stall", saving=(20, 40, 60))
    (made,) = of_pairs([result(recorded(told))])
    assert (made.name, made.rule, made.severity) == ("made", "input_stall", "high")
    shares = (made.low, made.central, made.high, made.run_low, made.run_high)
    assert shares == pytest.approx((0.2, 0.4, 0.6, 0.2, 0.6)) and made.measured == pytest.approx(0.5)
    assert of_pairs([result(recorded(told), measured=None), result(recorded())]) == []


def test_the_page_counts_what_is_measured_instead(tmp_path: Path) -> None:
    some = [*rows(0.5, 0.52, 0.9), row("sure", central=0.97, measured=0.975), row("a cell", measured=0.4, cell=True)]
    told = page(some)
    assert "4 pairs and 1 cell of the rounds" in told and "in 4 of 5 findings (80 %)" in told
    assert "| sure | `input_stall` | high | 97 % (0 to 90) |" in told and "| shown | 98 % | yes |" in told
    kept = tmp_path / "cpu.json"
    kept.write_text(json.dumps({"note": "a note", "rows": [asdict(each) for each in some]}))
    assert read_kept(kept) == (some, "a note") and read_kept(tmp_path / "none.json") == ([], "")
    assert page([]) == "No recording of a measured change is kept."


def test_gpuprof_uses_the_fit_that_the_kept_evidence_gives() -> None:
    known, note = read_kept(KEPT)
    found = fit_of(known)
    used = (FIT.middle, FIT.low, FIT.high, FIT.usual)
    assert note and (found.middle, found.low, found.high, found.usual) == pytest.approx(used, abs=1e-3)
    assert found.by_rule == pytest.approx(dict(FIT.by_rule), abs=1e-3)
    ranges = without_each(known, lambda each: each.name)
    assert (Spread.of(known, ranges).covered or 0) >= COVERED - 1 / len(known)
    assert all(low <= each.central <= high for each, (low, high) in zip(known, ranges, strict=True))


def test_a_central_share_is_shown_alone_since_it_was_seldom_far_off() -> None:
    known, _ = read_kept(KEPT)
    assert 0 < within(known) <= 0.225
    assert within(rows(0.5, 0.6, 0.7)) == pytest.approx(0.2), "of three the worst"
