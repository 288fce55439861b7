"""The gate stands above the verdict: in words, in JSON, in the exit status, and in every view."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpuprof.__main__ import main
from gpuprof.analyses.validity.doubt import Evidence
from gpuprof.model.context import Environment, Window
from gpuprof.report import Report
from gpuprof.report.contract import to_dict
from gpuprof.rules.base.finding import Severity
from gpuprof.rules.registry import all_rules
from gpuprof.views.dashboard.fragments import head
from gpuprof.views.html.page import render_page
from gpuprof.views.notebook_report.bundle import render_paper
from gpuprof.views.text import render_text
from tests.analyses.validity.test_cut_off import DEVICES, cut_at, gpu_events
from tests.ingest.kineto_text import compact, save
from tests.support.trace_builder import TraceBuilder

MS = 1_000_000


def waiting(ran: float = 95.0, core_wait: float = 5.0) -> TraceBuilder:
    """Ten steps of 100 ms, of which 60 ms wait for data, while the main thread gets so much of a core."""
    built = TraceBuilder().context(environment=Environment(cores_allowed=8))
    for at in range(0, 1_000_000, 100_000):
        built.step(at, 100_000).data_wait(at, 60_000)
        built.operator("aten::stack", at, 60_000).operator("aten::mm", at + 60_000, 40_000)
        built.host_sample(at, main_thread_percent=ran, main_core_wait_percent=core_wait, cpu_percent=ran)
    return built


def test_a_sound_recording_says_nothing_of_it() -> None:
    report = Report.of(waiting().build())
    assert report.verdict.caution == "" and report.gate.validity.state == "sound"
    assert [finding.rule for finding in report.findings] == ["input_stall"]
    assert to_dict(report)["validity"] == {"state": "sound", "doubts": [], "withheld": [], "lowered": []}


def test_findings_on_cpu_times_are_withheld_from_a_starved_run() -> None:
    report = Report.of(waiting(12, 88).build())
    assert report.findings == () and [finding.rule for finding in report.gate.withheld] == ["input_stall"]
    words = str(report.verdict)
    assert words.startswith("The main thread got only 12 % of the CPU time it asked for")
    assert "cannot be judged" in words and "Withheld because of it: `input_stall`." in words
    assert "Nothing worth changing" not in words
    assert not [note for note in report.trust.notes if "had no core" in note]


def test_findings_on_cpu_times_rank_lower_where_some_were_missed() -> None:
    sound, doubtful = Report.of(waiting().build()), Report.of(waiting(60, 40).build())
    assert sound.findings[0].severity is Severity.HIGH
    assert doubtful.findings[0].severity is Severity.MEDIUM and doubtful.gate.lowered == ("input_stall",)
    assert str(doubtful.verdict).startswith(doubtful.verdict.caution)
    assert "Ranked lower because of it: `input_stall`." in doubtful.verdict.caution


def test_a_finding_on_other_evidence_stays() -> None:
    for rule in all_rules():
        assert rule.rests_on and rule.rests_on <= set(Evidence), rule.name
    resting = {rule.name: rule.rests_on for rule in all_rules()}
    assert resting["fp32_matmul"] == {Evidence.GPU_TIMES}
    assert resting["memory_grows_per_step"] == {Evidence.MEMORY}
    assert resting["workers_oversubscribed"] == {Evidence.COUNTS}


def test_on_a_cpu_gpu_times_are_cpu_times() -> None:
    names = {"unfused_optimizer", "grad_in_inference"}
    assert all(Evidence.CPU_TIMES in rule.rests_on for rule in all_rules() if rule.name in names)


@pytest.mark.parametrize("as_json", [False, True])
def test_a_cut_recording_has_exit_status_3(tmp_path: Path, capsys: pytest.CaptureFixture[str], as_json: bool) -> None:
    cut = save(tmp_path, compact(cut_at(gpu_events(), 0.5), DEVICES))
    assert main(["findings", str(cut), *(["--json"] if as_json else [])]) == 3
    said = capsys.readouterr().out
    if not as_json:
        assert "This recording is cut off" in said.split("\n\n")[1] and "No GPU" not in said
        assert "Nothing worth" not in said and "Where the time went" not in said
        return
    told = json.loads(said)
    assert told["validity"]["state"] == "cannot_judge" and told["validity"]["doubts"][0]["code"] == "cut_off"
    assert told["findings"] == [] and told["verdict"]["headline"].endswith("It cannot be judged.")
    assert {each["needs"] for each in told["abstained"]} == {"a whole recording"}


def test_every_view_says_the_doubt_above_the_verdict() -> None:
    window = Window(cell_end_ns=2000 * MS, end_ns=1000 * MS, steps_seen=20, ended_by="profiler")
    note = "`trainer` starts a profiler of its own, which is left alone"
    report = Report.of(waiting().context(window=window, notes=(note,)).build())
    said = "`trainer` starts another torch profiler"
    assert report.verdict.caution.startswith(said)
    assert note not in report.trust.notes
    text = render_text(report)
    assert text.index("starts another torch profiler") < text.index("No GPU in this run")
    in_html = "<code>trainer</code> starts another torch profiler"
    for view in (render_page(report), render_paper(report, page_html=None), head(report, exports=False)):
        assert view.count(in_html) == 1
        assert view.index(in_html) < view.index("No GPU in this run")
    assert "<img" in render_paper(report, page_html=None)


def test_a_cut_recording_shows_no_budget(tmp_path: Path) -> None:
    from gpuprof.run import Run

    run = Run.load(save(tmp_path, compact(cut_at(gpu_events(), 0.6), DEVICES)))
    paper = render_paper(run.report_data, page_html=None)
    assert "<img" not in paper and "This recording is cut off" in paper
    assert "cannot be judged" in run.verdict
