"""Every view names `%gpufix` and `%gputry` on the findings with a diff, and what was measured of each."""

from __future__ import annotations

import dataclasses

import msgspec
import pytest

from gpuprof.model.measured import Measured
from gpuprof.report import Report
from gpuprof.views.dashboard import fragments
from gpuprof.views.html.page import render_page
from gpuprof.views.notebook_report import render_paper
from gpuprof.views.text import render_text
from tests.support.reports import device_report, with_findings

VIEWS = {
    "text": render_text,
    "paper": lambda report: render_paper(report, page_html=None),
    "page": render_page,
    "dashboard": fragments.findings,
}


@pytest.fixture(scope="module")
def report() -> Report:
    return with_findings(device_report())


@pytest.mark.parametrize("view", VIEWS)
def test_findings_with_a_diff_name_the_command(view: str, report: Report) -> None:
    shown = VIEWS[view](report)
    numbers = {number for number, finding in enumerate(report.findings, 1) if finding.diff}
    assert numbers and len(numbers) < len(report.findings)
    for number, finding in enumerate(report.findings, 1):
        assert (f"%gpufix {number}" in shown) is (f"%gputry {number}" in shown) is (number in numbers)
        assert f"%gpuexplain {finding.rule}" in shown


def test_a_page_without_source_names_no_command_on_it(report: Report) -> None:
    page = render_page(report, redact=True)
    assert "%gpufix" not in page and "%gputry" not in page


@pytest.mark.parametrize("view", VIEWS)
def test_what_was_measured_of_a_finding_stands_with_it(view: str, report: Report) -> None:
    tried = Measured(number=2, rule=report.findings[1].rule, text="no effect: 1.00×", measurement={}, created_ns=1)
    again = msgspec.structs.replace(tried, text="measured 1.27× (1.24–1.30)")
    other = msgspec.structs.replace(tried, rule="another_rule", text="of another version")
    shown = VIEWS[view](dataclasses.replace(report, measured=(tried, again, other)))
    assert shown.count("measured 1.27× (1.24–1.30)") == 1
    assert "no effect: 1.00×" not in shown and "of another version" not in shown
