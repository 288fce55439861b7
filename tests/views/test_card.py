"""A finding in words, the same for every view."""

from __future__ import annotations

from dataclasses import replace

from gpuprof.model.measured import Measured
from gpuprof.report import Report
from gpuprof.rules.base.finding import Finding, Saving, Severity, Where
from gpuprof.views.card import Card, cards
from gpuprof.views.theme import BUDGET
from tests.support.reports import DIFF, MS, device_report, with_findings


def card(report: Report | None = None, **fields: object) -> Card:
    known = Finding("r", Severity.LOW, "t", "e", {}, "c")
    return Card.of(replace(report or device_report(), findings=(replace(known, **fields),)), 1)  # type: ignore[arg-type]


def test_it_has_every_part_of_the_finding() -> None:
    report = with_findings(device_report())
    first, second = cards(report)
    assert (first.number, first.rule, first.severity) == (1, "input_stall", "high")
    assert first.evidence[:2] == (("wait per step", "58.0 ms"), ("workers", "0"))
    assert first.saving == first.phrase == "saves 22–38%" and first.measure == ""
    assert first.grade == "of the recorded time; grade C: upper bound: all of the wait"
    assert [line.text for line in first.diff] == DIFF.splitlines()
    assert first.commands == ("%gpufix 1", "%gputry 1", "%gpuexplain input_stall") and first.in_timeline
    assert (second.saving, second.grade, second.diff, second.evidence) == ("", "", (), ())
    assert second.commands == ("%gpuexplain memory_near_limit",) and not second.in_timeline


def test_without_source_it_has_no_diff_and_names_no_command_on_it() -> None:
    first = cards(with_findings(device_report()))[0].without_source()
    assert first.diff == () and first.commands == ("%gpuexplain input_stall",)


def test_a_wide_saving_is_to_be_measured_until_it_was() -> None:
    wide, report = Saving(MS, 3 * MS, 5 * MS, 0.3, "B", "b"), device_report()
    made = card(saving=wide, diff=DIFF)
    assert made.saving.startswith("could save about 30%")
    assert made.phrase == f"{made.saving}; run `%gputry 1` to measure it"
    assert made.measure == "`%gputry 1`" and made.without_source().measure == ""
    tried = Measured(number=1, rule="r", text="measured 1.2×", measurement={}, created_ns=0)
    done = card(replace(report, measured=(tried,)), saving=wide)
    assert (done.measure, done.measured) == ("", "measured 1.2×")


def test_places_are_clipped_to_the_recording_and_counted() -> None:
    report = device_report()
    start, end = report.trace.span_start_ns, report.trace.span_end_ns
    ranges = ((start - 9 * MS, start - MS), (start - MS, start + 2 * MS), (start + 5 * MS, end + MS))
    where = Where(lines=(4, 5), ranges_ns=ranges)
    assert card(report, where=where).where == "lines 4, 5; 2 examples, longest at t = 5.00 ms to 839 ms"
    assert card(report).where == ""


def test_it_has_the_colour_of_the_time_that_fills_its_ranges() -> None:
    report = device_report()
    waits = report.budget.parts["idle_input"]
    where = Where(ranges_ns=((int(waits.starts[0]), int(waits.ends[0])),))
    assert card(report, where=where).kind is BUDGET["idle_input"]
    assert card(report).kind is None
