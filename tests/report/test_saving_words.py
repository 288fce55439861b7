"""A saving in words: one figure with a narrow range, or how to measure it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpuprof.model.context import Cell
from gpuprof.report import Report
from gpuprof.report.saving_words import gain_words, measure_words, saving_phrase, saving_words, shown
from gpuprof.rules.base.finding import Finding, Saving, Severity
from tests.support.trace_builder import TraceBuilder

CELL = Cell(source="x = 1\n", execution_count=3)
DIFF = "-x = 1\n+x = 2\n"


def found(low: float, central: float, high: float, *, grade: str = "B", diff: str | None = DIFF) -> Finding:
    """With a saving of these percents of the run."""
    saving = Saving(low, central, high, central / 100, grade, "some basis")
    return Finding("some_rule", Severity.MEDIUM, "", "", {}, "", diff=diff, saving=saving)


def of_device(cell: Cell | None = CELL) -> Report:
    builder = TraceBuilder().kernel("k", 10, 90)
    return Report.of((builder if cell is None else builder.context(cell=cell)).build())


def words(report: Report, finding: Finding) -> tuple[str, str]:
    measure = measure_words(report.trace, report.results, finding, 2)
    return saving_words(report.results, finding), measure


def test_a_narrow_range_is_shown_with_its_middle() -> None:
    assert words(of_device(), found(30, 40, 45)) == ("saves about 40% (30–45%)", "")
    assert words(of_device(), found(30, 40, 40)) == ("saves 30–40%", "")
    assert words(of_device(), found(40, 40, 40)) == ("saves about 40%", "")


@pytest.mark.parametrize(("low", "high", "said"), [(10, 45, "could save about 40%"), (0, 41, "could save up to 41%")])
def test_a_wide_one_and_one_from_zero_are_measured_instead(low: float, high: float, said: str) -> None:
    finding = found(low, 40, high)
    assert words(of_device(), finding) == (said, "`%gputry 2`")
    all_of_it = found(10, 40, 40)
    assert words(of_device(), all_of_it) == ("could save up to 40%", "`%gputry 2`")
    guessed = replace(finding, saving=replace(finding.saving, grade="C"))
    assert words(of_device(), guessed) == (f"could save up to {high:.0f}%", "`%gputry 2`")


@pytest.mark.parametrize(
    ("finding", "said"),
    [
        (found(30, 40, 45), "saving about 40 %"),
        (found(10, 40, 45), "could save about 40 %"),
        (found(10, 40, 40), "could save up to 40 %"),
        (found(0, 40, 41), "could save up to 41 %"),
    ],
)
def test_the_verdict_promises_no_more_than_the_finding(finding: Finding, said: str) -> None:
    report = of_device()
    told = shown(report.results, finding)
    assert told is not None and gain_words(told).replace("\u00a0", " ") == said
    assert words(report, finding)[0].startswith(said.replace(" %", "%").replace("saving", "saves"))


def test_of_low_severity_a_narrow_range_from_zero_names_its_end() -> None:
    minor = replace(found(0, 2, 3), severity=Severity.LOW)
    assert words(of_device(), minor) == ("could save up to 3.0%", "")


def test_one_phrase_has_the_saving_and_how_to_measure_it() -> None:
    assert saving_phrase("saves about 40% (30–45%)", "") == "saves about 40% (30–45%)"
    wide = saving_phrase("could save up to 60%", "`%gputry 1`")
    assert wide == "could save up to 60%; run `%gputry 1` to measure it"
    by_hand = saving_phrase("could save up to 60%", "change the cell")
    assert by_hand == "could save up to 60%; to measure it, change the cell"
    assert saving_phrase("", "`%gputry 1`") == ""


def test_without_a_diff_the_change_is_made_by_hand() -> None:
    wide = found(10, 40, 60, diff=None)
    assert words(of_device(), wide)[1] == "change the cell and run it with `--compare last`"
    script = Cell(source="x = 1\n")
    assert words(of_device(script), wide)[1] == "change it and compare two profiled runs (`run.compare(earlier)`)"
    assert words(of_device(None), found(10, 40, 60))[1] == "record the changed program and use `gpuprof compare`"


def test_without_a_saving_nothing_is_said() -> None:
    assert words(of_device(), replace(found(1, 2, 3), saving=None)) == ("", "")
