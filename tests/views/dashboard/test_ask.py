"""The What if tab: the form asks what `Run.whatif` does, and every answer or refusal is one paragraph."""

from __future__ import annotations

import pytest

from gpuprof.report import Report
from gpuprof.report.answer import answer
from gpuprof.views.dashboard.ask import Ask
from gpuprof.whatif.questions import Question
from tests.support.reports import NASTY
from tests.support.trace_builder import TraceBuilder
from tests.whatif.programs import Program, run

STEP: Program = [("work", 300), ("kernel", 7, 300), ("sync_all",)]


@pytest.fixture
def report() -> Report:
    return Report.of(run(STEP * 10))


def words(ask: Ask) -> str:
    return ask.html_widget.html.replace("\u00a0", " ")


def test_it_asks_what_the_fields_say(report: Report) -> None:
    ask = Ask(report)
    assert "Fill in one or more fields" in words(ask)
    ask.kernels.value, ask.times.value = " k ", 4.0
    ask.switches["no_waits"].value = True
    ask.button.click()
    expected = answer(report.results, Question(kernel_time={"k": 0.25}, no_waits=True))
    question, _, said = str(expected).partition(": ")
    assert question in words(ask) and said.split(".")[0] in words(ask)


def test_the_newest_answer_comes_first_and_refusals_are_one_line(report: Report) -> None:
    ask = Ask(report)
    ask.button.click()
    assert "Nothing is asked" in words(ask)
    ask.lines.value = "12; x"
    ask.button.click()
    assert words(ask).index("Lines are numbers") < words(ask).index("Nothing is asked")
    ask.lines.value = "12;14"
    ask.button.click()
    assert "No line was followed" in words(ask)


def test_without_a_device_only_what_concerns_the_host_is_offered() -> None:
    ask = Ask(Report.of(TraceBuilder().operator("aten::mm", 0, 1_000).build()))
    assert set(ask.switches) == {"data_ready"} and ask.kernels.description == "operators named"
    ask.kernels.value = "aten::mm"
    ask.button.click()
    assert "Operators named aten::mm in 50 % of their time" in words(ask)


def test_names_are_text_and_not_markup(report: Report) -> None:
    ask = Ask(report)
    ask.kernels.value = NASTY
    ask.button.click()
    assert "<script" not in ask.html_widget.html.lower()


def test_a_fault_of_ours_is_said_in_the_tab(report: Report, monkeypatch) -> None:
    monkeypatch.setattr("gpuprof.views.dashboard.ask.answer", lambda *_: 1 / 0)
    ask = Ask(report)
    ask.switches["no_waits"].value = True
    ask.button.click()
    assert "That cannot be answered: ZeroDivisionError" in words(ask)


def test_it_lets_go_of_the_run(report: Report) -> None:
    ask = Ask(report)
    ask.close()
    ask._asked(None)
    assert ask._report is None
