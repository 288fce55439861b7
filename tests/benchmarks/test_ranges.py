"""Ranges are computed from what was kept, and each is tried without the change that it is asked about."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from benchmarks.proving.foreseen import Foreseen, of_pairs
from benchmarks.proving.ranges import KEPT, Spread, error_of, factor_of, page, read_kept, within, without_each
from gpuprof.rules.saving.shown_saving import COVERED, FACTOR, expected_shares
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


def test_the_factor_is_the_error_that_four_of_five_stay_under() -> None:
    # of 9 the 8th smallest: one more change is as likely to be the worst of ten as any other
    some = rows(*(0.5 + part / 100 for part in range(1, 10)))
    assert factor_of(some) == pytest.approx(error_of(some[7])) and error_of(some[7]) == pytest.approx(math.log(58 / 42))
    assert factor_of(rows(0.5, 0.6, 0.7)) == math.inf, "of three changes none says how wrong four of five may be"


def test_a_range_is_tried_without_its_own_change() -> None:
    some = [*rows(*[0.5] * 10), row("apart", measured=0.9)]
    ranges = without_each(some, lambda each: each.name)
    assert ranges[-1] == pytest.approx((0.5, 0.5)), "the others were all foreseen exactly"
    assert Spread.of(some, ranges) == Spread(11, pytest.approx(10 / 11), 0.0)


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


def test_gpuprof_uses_the_factor_that_the_kept_evidence_gives() -> None:
    known, note = read_kept(KEPT)
    assert note and factor_of(known) == pytest.approx(FACTOR, abs=0.005)
    ranges = without_each(known, lambda each: each.name)
    assert (Spread.of(known, ranges).covered or 0) >= COVERED - 1 / len(known)
    assert all(low <= each.central <= high for each, (low, high) in zip(known, ranges, strict=True))
    assert expected_shares(known[0].saving)[0] < known[0].central


def test_a_central_share_is_shown_alone_since_it_was_seldom_far_off() -> None:
    known, _ = read_kept(KEPT)
    assert 0 < within(known) <= 0.225
    assert within(rows(0.5, 0.6, 0.7)) == pytest.approx(0.2), "of three the worst"
