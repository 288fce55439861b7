"""One figure reads the same in every view."""

import pytest

from gpuprof.analyses.basics.plain_iterations import FEWEST
from gpuprof.model.context import Window
from gpuprof.report import Report
from gpuprof.rules.base.finding import Abstention
from gpuprof.views import wording
from gpuprof.views.theme import BUDGET
from tests.support.reports import device_report, empty_report, host_report
from tests.support.trace_builder import TraceBuilder


@pytest.mark.parametrize("make", [device_report, host_report, empty_report])
def test_rows_add_up_to_the_whole(make):
    report = make()
    rows = wording.budget_rows(report)
    assert sum(row.ns for row in rows) == report.budget.total_ns
    assert all(row.ns > 0 for row in rows)


def test_operators_of_a_host_run_are_split_by_phase():
    (operators,) = [row for row in wording.budget_rows(host_report()) if row.kind is BUDGET["operators"]]
    assert operators.detail == "optimizer 39.0 ms, forward and others 90.0 ms"


@pytest.mark.parametrize(("steps", "words"), [(1, "1 step of 150 ms"), (2, "2 steps, median 150 ms")])
def test_one_step_has_no_median(steps, words):
    assert wording.facts(device_report(steps=steps))[-1] == words


def test_a_step_is_as_long_as_without_the_recording_where_that_is_known():
    builder = TraceBuilder().context(window=Window(steps_recorded=3, ended_by="steps"))
    for at in range(0, 3_000, 1_000):
        builder.step(at, 1_000).operator("aten::mm", at, 900).iteration(at, 1_000)
    for at in range(3_000, 3_000 + 400 * FEWEST, 400):
        builder.iteration(at, 400, plain=True)
    said = wording.facts(Report.of(builder.build()))
    assert "3 steps recorded, median 400 µs without recording" in {each.replace("\u00a0", " ") for each in said}


def test_the_kind_of_run_and_its_rate_are_facts():
    assert wording.kind_words(host_report()) == ("training",) and wording.kind_words(empty_report()) == ()
    assert wording.facts(host_report())[1] == "training"


def test_abstentions_for_the_same_reason_are_one():
    abstained = tuple(Abstention(rule, needs, "how") for rule, needs in (("a", "x"), ("b", "y"), ("c", "x")))
    assert wording.grouped_abstentions(abstained) == [("a, c", "x", "how"), ("b", "y", "how")]
