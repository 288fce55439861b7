"""One figure reads the same in every view."""

import pytest

from gpuprof.rules.base.finding import Abstention, Finding, Saving, Severity, Where
from gpuprof.views import wording
from gpuprof.views.theme import BUDGET
from tests.support.reports import MS, device_report, empty_report, host_report


def finding(**fields):
    return Finding("r", Severity.LOW, "t", "e", fields.pop("evidence", {}), "c", **fields)


@pytest.mark.parametrize("make", [device_report, host_report, empty_report])
def test_rows_add_up_to_the_whole(make):
    report = make()
    rows = wording.budget_rows(report)
    assert sum(row.ns for row in rows) == report.budget.total_ns
    assert all(row.ns > 0 for row in rows)


def test_operators_of_a_host_run_are_split_by_phase():
    (operators,) = [row for row in wording.budget_rows(host_report()) if row.kind is BUDGET["operators"]]
    assert operators.detail == "forward 90.0 ms, optimizer 39.0 ms"


@pytest.mark.parametrize(("steps", "words"), [(1, "1 step of 150 ms"), (2, "2 steps, median 150 ms")])
def test_one_step_has_no_median(steps, words):
    assert wording.facts(device_report(steps=steps))[-1] == words


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("wait_ms_per_step", 58.0, ("wait per step", "58.0 ms")),
        ("launch_overhead_us", 5.5, ("launch overhead", "5.50 µs")),
        ("peak_allocated_bytes", 3 << 30, ("peak allocated", "3.00 GiB")),
        ("bandwidth_gb_per_s", 3.81, ("bandwidth", "3.81 GB/s")),
        ("wait_share", 0.234, ("wait share", "23 %")),
        ("copies", 1200, ("copies", "1,200")),
        ("turns_per_loop", 64.0, ("turns per loop", "64")),
        ("bytes", 2048, ("bytes", "2.00 KiB")),
        ("operators", "aten::add", ("operators", "aten::add")),
    ],
)
def test_evidence_is_written_with_its_unit(name, value, expected):
    assert wording.evidence_rows(finding(evidence={name: value})) == [expected]


def test_a_number_and_its_time_are_told_apart():
    rows = wording.evidence_rows(finding(evidence={"gaps": 22, "gaps_ns": 680 * MS, "gaps_share": 0.39}))
    assert rows == [("gaps", "22"), ("gaps, together", "680 ms"), ("gaps share", "39 %")]


def test_a_range_of_savings_names_both_ends_and_a_ceiling_only_one():
    assert wording.saving_words(Saving(2 * MS, 3 * MS, 4 * MS, 0.3, "B", "b")).startswith(
        "2.00 ms to 4.00 ms; 20 % to 40 %"
    )
    assert wording.saving_words(Saving(0, 3 * MS, 4 * MS, 0.3, "C", "b")).startswith("up to 4.00 ms; 40 % of")
    assert wording.saving_words(Saving(4 * MS, 4 * MS, 4 * MS, 0.3, "A", "b")).startswith("about 4.00 ms; 30 %")


def test_places_are_clipped_to_the_recording_and_counted():
    report = device_report()
    start, end = report.trace.span_start_ns, report.trace.span_end_ns
    ranges = ((start - 9 * MS, start - MS), (start - MS, start + 2 * MS), (start + 5 * MS, end + MS))
    words = wording.where_words(report, finding(where=Where(lines=(4, 5), ranges_ns=ranges)))
    assert words == "lines 4, 5; 2 places, the first from 0 ns to 2.00 ms"
    assert wording.where_words(report, finding()) == ""


def test_a_card_has_the_colour_of_the_time_that_fills_its_ranges():
    report = device_report()
    waits = report.budget.parts["idle_input"]
    ranges = ((int(waits.starts[0]), int(waits.ends[0])),)
    assert wording.finding_kind(report, finding(where=Where(ranges_ns=ranges))) is BUDGET["idle_input"]
    assert wording.finding_kind(report, finding()) is None


def test_abstentions_for_the_same_reason_are_one():
    abstained = tuple(Abstention(rule, needs, "how") for rule, needs in (("a", "x"), ("b", "y"), ("c", "x")))
    assert wording.grouped_abstentions(abstained) == [("a, c", "x", "how"), ("b", "y", "how")]


def test_numbers_keep_their_unit_in_html():
    assert wording.unbroken("takes 7.3 % of 839 ms at 12 GB/s in 6 steps") == (
        "takes 7.3\u00a0% of 839\u00a0ms at 12\u00a0GB/s in 6 steps"
    )
