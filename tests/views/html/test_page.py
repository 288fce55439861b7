"""The page is whole, hostile names stay text, and its policy fits its own script and style."""

import base64
import dataclasses
import hashlib
import json
import re
from html.parser import HTMLParser

from gpuprof.report import Report
from gpuprof.rules.registry import all_rules
from gpuprof.views import thresholds
from gpuprof.views.html import render_page
from tests.support.reports import NASTY, device_report, empty_report, host_report, numbers_of, with_findings


class Page(HTMLParser):
    """Elements and texts of a page, as a browser would read them."""

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: dict[str, str] = {}
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._inside = dict(attrs).get("id") or dict(attrs).get("type") or tag if tag in ("script", "style") else ""

    def handle_endtag(self, tag):
        self._inside = ""

    def handle_data(self, data):
        if self._inside:
            self.scripts[self._inside] = self.scripts.get(self._inside, "") + data
        else:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.texts))


def test_nothing_is_fetched_from_anywhere():
    page = Page(render_page(with_findings(device_report())))
    for tag, attributes in page.tags:
        assert tag not in ("link", "iframe", "object", "embed", "base", "img")
        assert not {"src", "href", "srcset", "style", "onclick", "onerror"} & set(attributes), (tag, attributes)


def test_the_policy_holds_the_hashes_of_script_and_style():
    page = Page(render_page(device_report()))
    policy = next(a["content"] for t, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy
    for kind, element in (("script-src", "module"), ("style-src", "style")):
        digest = base64.b64encode(hashlib.sha256(page.scripts[element].encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy
    assert "unsafe" not in policy


def test_hostile_names_stay_text_and_come_back_whole():
    page = Page(render_page(with_findings(device_report(name=NASTY))))
    assert not [tag for tag, _ in page.tags if tag == "img"]
    assert NASTY in page.text
    assert NASTY in json.loads(page.scripts["payload"])["names"]
    assert "<" not in page.scripts["payload"]


def test_it_holds_verdict_budget_findings_trust_and_appendix():
    report = with_findings(device_report())
    text = Page(render_page(report)).text.replace("\u00a0", " ")
    wanted = [report.verdict.headline, report.verdict.advice, *numbers_of(report), *report.trust.notes]
    wanted += [finding.title for finding in report.findings] + [a.needs for a in report.abstained]
    wanted += ["Transfers", "host to device", "Peaks", "Kernels by name", "Activity", "Tesla V100-SXM2-16GB"]
    wanted += ["num_workers=6, persistent_workers=True", "Leave it when"]
    assert [part for part in wanted if part not in text] == []


def test_a_title_shows_code_as_code():
    report = with_findings(device_report())
    named = [
        dataclasses.replace(each, title=f"All of `index_{at}` is copied") for at, each in enumerate(report.findings)
    ]
    page = render_page(dataclasses.replace(report, findings=tuple(named)))
    assert "All of <code>index_0</code> is copied" in page and "`index_0`" not in page


def test_a_run_without_a_device_never_speaks_of_idle_or_busy_zero():
    text = Page(render_page(host_report())).text.partition("Appendix")[0]
    assert "No device was recorded" in text
    assert "0\u00a0% busy" not in text and "device idle" not in text


def test_an_empty_run_still_makes_a_page():
    assert "Nothing was recorded" in Page(render_page(empty_report())).text


def test_redaction_takes_source_and_paths():
    report = with_findings(device_report(name="/home/alice/kernels/special.cu"))
    page = render_page(report, redact=True)
    assert "num_workers=6, persistent_workers=True,\n" not in page
    assert "alice" not in page and "special.cu" in page
    assert "alice" in render_page(report)


def test_redaction_takes_users_hosts_and_folders_of_another_machine():
    path = "/data/My Runs/gpubox7.lab_4711.1700000000.pt.trace.json"
    report = device_report(name="/home/carol/work/special.cu", path=path, run="epoch of Carol on gpubox7")
    page, whole = render_page(report, redact=True), render_page(report)
    for secret in ("carol", "gpubox7", "My Runs"):
        assert secret.lower() in whole.lower()
        assert secret.lower() not in page.lower()
    assert "special.cu" in page and "1700000000.pt.trace.json" in page


def test_the_appendix_names_every_rule_with_its_thresholds_and_what_it_came_to():
    report = with_findings(device_report())
    rows = thresholds.table(report).rows
    for rule in all_rules():
        assert [(r[2], r[3].value, r[4]) for r in rows if r[0] == rule.name and r[3].text] == rule.thresholds()
    came_to = {row[0]: row[1] for row in rows}
    assert came_to["input_stall"] == "finding 1"
    assert came_to["thermal_throttle"] == "not judged"
    assert came_to["padding_waste"] == "nothing found"
    appendix = Page(render_page(report)).text.partition("Appendix")[2]
    assert all(rule.name in appendix for rule in all_rules())


def test_embedded_it_holds_the_tabs_and_repeats_nothing_that_stands_around_it():
    report = with_findings(device_report())
    page = Page(render_page(report, embedded=True))
    assert report.findings[0].explanation not in page.text
    assert report.trust.notes[0] not in page.text
    assert report.verdict.advice not in page.text
    assert "Copies by direction" in page.text
    assert [a["data-finding"] for _, a in page.tags if "data-finding" in a] == ["0"]


def test_a_limit_in_bytes_is_kept_and_said(monkeypatch):
    monkeypatch.setattr("gpuprof.views.html.page._SMALLER", (10_000, 300))
    report = device_report(steps=60)
    whole = render_page(report)
    limit = len(whole.encode()) - 2_000
    small = render_page(report, most_bytes=limit)
    assert len(small.encode()) <= limit
    note = json.loads(Page(small).scripts["payload"])["reduced"]
    assert note.startswith("Reduced: the ") and "run.write_html" in note
    assert json.loads(Page(whole).scripts["payload"])["reduced"] is None


def test_every_shared_trace_makes_a_page(any_shared_trace):
    report = Report.of(any_shared_trace)
    page = Page(render_page(report, most_bytes=750_000))
    assert report.verdict.headline in page.text.replace("\u00a0", " ")
    assert sum(len(text.encode()) for text in (*page.texts, *page.scripts.values())) < 750_000
