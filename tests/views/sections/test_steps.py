"""The Steps tab holds a curve and the figures of the steps."""

from gpuprof.views.blocks import CurveBlock, TableBlock
from gpuprof.views.sections.steps import SECTION
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
