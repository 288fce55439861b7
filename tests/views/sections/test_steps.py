"""The Steps tab holds a curve and the figures of the steps."""

from gpuprof.report import Report
from gpuprof.views.blocks import CurveBlock, TableBlock
from gpuprof.views.sections.steps import SECTION
from gpuprof.views.wording import facts
from tests.support.reports import device_report


def test_steps_have_a_curve_and_their_median():
    curve, table = SECTION.blocks(device_report())
    assert isinstance(curve, CurveBlock) and curve.top == "150 ms"
    assert isinstance(table, TableBlock)
    assert [(row[0], row[1].text) for row in table.rows[:3]] == [
        ("steps recorded", "6"),
        ("of them warm-up", "0"),
        ("median step", "150 ms"),
    ]


def test_one_step_cannot_be_compared():
    assert not SECTION.known(device_report(steps=1))


def test_iterations_without_the_recording_stand_beside_the_recorded():
    from tests.analyses.basics.test_plain_iterations import trace

    report = Report.of(trace([30.0] * 20 + [10.0] * 30, 20, waits_ms=2.0, optimizer_ms=3.0))
    assert SECTION.known(report)
    table = SECTION.blocks(report)[-1]
    assert isinstance(table, TableBlock) and table.heads == ("", "without the recording", "recorded")
    assert [(row[0], row[1].text, row[2].text) for row in table.rows] == [
        ("iterations", "30", "18"),
        ("mean", "10.0 ms", "30.0 ms"),
        ("of it, wait for data", "2.00 ms", "2.00 ms"),
        ("of it, optimizer", "3.00 ms", "3.00 ms"),
        ("of it, the rest", "5.00 ms", "25.0 ms"),
    ]
    said = "Of an iteration without the recording, 20 % is the wait for data and 30 % is the optimizer."
    assert said in {note.replace("\u00a0", " ") for note in report.trust.notes}


def test_iterations_stand_where_no_steps_are_known():
    from tests.rules.cases.host.growing_iterations import fires

    report = Report.of(fires())
    assert SECTION.known(report)
    curve, table = SECTION.blocks(report)
    assert isinstance(curve, CurveBlock) and curve.top == "680 µs"
    assert isinstance(table, TableBlock)
    assert [(row[0], row[1].text) for row in table.rows] == [
        ("iterations recorded", "30"),
        ("median iteration", "390 µs"),
        ("10th to 90th percentile", "464 µs"),
    ]
    assert "30 iterations, median 390 µs" in {each.replace("\u00a0", " ") for each in facts(report)}
