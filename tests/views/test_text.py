"""The text holds the whole verdict in 100 columns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.report import Comparison, Report, Summary
from gpuprof.units import duration
from gpuprof.views import text, wording
from tests.support.reports import DIFF, device_report, empty_report, host_report, with_findings


def words_of(rendered):
    return " ".join(rendered.split())


@pytest.mark.parametrize("make", [device_report, host_report, empty_report])
def test_everything_the_report_says_is_there(make):
    report = with_findings(make())
    rendered = words_of(text.render_text(report))
    assert report.verdict.headline in rendered
    for row in wording.budget_rows(report):
        assert row.kind.label in rendered
        assert duration(row.ns) in rendered
    for finding in report.findings:
        assert words_of(finding.title) in rendered
        assert words_of(finding.explanation) in rendered
        assert words_of(finding.leave_it) in rendered
    assert "fp32_matmul, small_batch: needs shapes of operators. Profile with --shapes." in rendered
    assert all(note in rendered for note in report.trust.notes)


@pytest.mark.parametrize("spaces", range(6))
def test_a_number_stays_on_the_line_of_its_unit(spaces):
    words = " ".join(["x" * (20 + spaces), *["wait 17.5 ms for 832 B at 44 % of it"] * 9])
    for line in text._wrap(words, "  ").splitlines():
        assert not line.rstrip().endswith(("17.5", "832", "44"))
        assert "\u00a0" not in line and len(line) <= text.WIDTH


def test_the_diff_keeps_its_lines():
    rendered = text.render_text(with_findings(device_report())).splitlines()
    assert all(f"      {line}".rstrip() in rendered for line in DIFF.splitlines())


def test_no_line_is_wider_than_100_columns(any_shared_trace):
    assert max(map(len, text.render_text(Report.of(any_shared_trace)).splitlines())) <= text.WIDTH


def test_a_run_without_a_device_is_never_called_idle_or_busy():
    rendered = text.render_text(host_report())
    assert "busy" not in rendered
    assert "No GPU in this run" in rendered


@given(st.floats(0, 1))
def test_bars_are_as_long_as_their_share(share):
    drawn = text.bar(share, 40)
    eighths = sum(text._EIGHTHS.index(block) for block in drawn)
    assert abs(eighths - share * 320) <= 1
    assert bool(drawn) == (share > 0)


def test_a_comparison_lists_both_budgets_and_the_code():
    before, after = device_report(), device_report(steps=4)
    rendered = text.render_comparison(Comparison(before=Summary.of(before), after=Summary.of(after)))
    assert Comparison(before=Summary.of(before), after=Summary.of(after)).sentence() in words_of(rendered)
    assert "waiting for data" in rendered
    assert "→" in rendered
