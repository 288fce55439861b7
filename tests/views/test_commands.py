"""Every view names `%gpufix` on the findings that have a diff, and only on those."""

from __future__ import annotations

import pytest

from gpuprof.report import Report
from gpuprof.views.dashboard.fragments import fragment
from gpuprof.views.html.page import render_page
from gpuprof.views.paper import render_paper
from gpuprof.views.text import render_text
from tests.support.reports import device_report, with_findings

VIEWS = {
    "text": render_text,
    "paper": lambda report: render_paper(report, page_html=None),
    "page": render_page,
    "dashboard": lambda report: "".join(
        fragment("finding", report, number=number, finding=finding) for number, finding in enumerate(report.findings, 1)
    ),
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
        assert (f"%gpufix {number}" in shown) is (number in numbers)
        assert f"%gpuexplain {finding.rule}" in shown


def test_a_page_without_source_names_no_command_on_it(report: Report) -> None:
    assert "%gpufix" not in render_page(report, redact=True)
