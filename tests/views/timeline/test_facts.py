"""What the card says of an event is what was recorded of it, and no more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.model.context import Cell
from gpuprof.report import Report
from gpuprof.views.html import render_page
from gpuprof.views.timeline.build import build
from gpuprof.views.timeline.facts import MOST_SHAPES_LETTERS, shapes_text
from tests.support.trace_builder import TraceBuilder


def builder() -> TraceBuilder:
    """A convolution on line 2 that launches one kernel inside the operator of another."""
    return (
        TraceBuilder()
        .context(cell=Cell(source="%%gpuprofile\nloss = model(x)\nloss.backward()", execution_count=1))
        .line(2, 0)
        .operator("aten::conv2d", 0, 100, dims="[[32, 3, 8, 8], [16, 3, 3, 3], [], []]")
        .operator("aten::cudnn_convolution", 10, 50, dims="[[32, 3, 8, 8]]")
        .kernel("sgemm", 40, 30, launch_at_us=20, blocks=1_024, block_threads=256, occupancy_percent=31.0)
        .line(3, 100)
        .operator("aten::mm", 110, 20)
        .kernel("other", 130, 30, launch_at_us=115)
    )


def facts(timeline, kind, index=0):
    """{label: text or number} of one event of that kind, counted over all series of it."""
    for series in timeline.series():
        if series.kind != kind:
            continue
        if index < len(series):
            return {
                detail.label: timeline.names[detail.values[index]] if detail.named else int(detail.values[index])
                for detail in series.details
                if detail.values[index] != detail.unknown
            }
        index -= len(series)
    raise AssertionError(f"no {kind} number {index}")


def test_a_kernel_names_its_grid_its_operator_with_inputs_and_its_line():
    assert facts(build(builder().build()), "kernel") == {
        "grid": "1,024 blocks of 256 threads",
        "occupancy": 31,
        "operator": "aten::cudnn_convolution, in aten::conv2d",
        "inputs": "32×3×8×8",
        "cell line": "2: loss = model(x)",
    }


def test_what_was_not_recorded_is_left_out():
    assert facts(build(builder().build()), "kernel", 1) == {"operator": "aten::mm", "cell line": "3: loss.backward()"}
    bare = build(TraceBuilder().kernel("lost", 0, 5).build())
    assert facts(bare, "kernel") == {}


def test_operators_and_launches_name_their_line():
    timeline = build(builder().build())
    assert facts(timeline, "operator") == {"inputs": "32×3×8×8, 16×3×3×3", "cell line": "2: loss = model(x)"}
    assert [facts(timeline, "launch", i)["cell line"][0] for i in range(2)] == ["3", "2"]


def test_without_source_a_line_is_a_number():
    timeline = build(builder().build(), with_source=False)
    assert facts(timeline, "kernel")["cell line"] == "2"
    assert not any("loss" in name for name in timeline.names)


def test_a_redacted_page_holds_no_line_of_the_cell():
    report = Report.of(builder().build())
    assert "loss = model(x)" in render_page(report)
    assert "loss = model(x)" not in render_page(report, redact=True)


@pytest.mark.parametrize(
    ("dims", "text"),
    [
        ("[[32, 64], [], [64]]", "32×64, 64"),
        ("[[[2, 3], [2, 3], [4]], []]", "[2 of 2×3, 4]"),
        ("[[], []]", None),
        ("[]", None),
        ("not json", None),
        ('{"a": 1}', None),
    ],
)
def test_shapes_are_read_or_left_out(dims, text):
    assert shapes_text(dims) == text


@given(st.text() | st.recursive(st.integers() | st.text(), lambda inner: st.lists(inner), max_leaves=30).map(str))
def test_any_text_of_shapes_is_safe(dims):
    text = shapes_text(dims)
    assert text is None or 0 < len(text) <= MOST_SHAPES_LETTERS
