"""Bandwidth in the JSON, in the text and in the table of the page."""

from __future__ import annotations

from gpuprof.analyses.basics.result import Results
from gpuprof.report import Report
from gpuprof.report.facts.bandwidth import MOST_SHAPES, bandwidth_dict, bandwidth_words
from gpuprof.views.blocks import TableCell
from gpuprof.views.sections.shape_bandwidth import bandwidth_table
from gpuprof.views.text import render_text
from tests.analyses.efficiency.test_bandwidth import adds
from tests.analyses.efficiency.test_efficiency import A100, product
from tests.support.trace_builder import TraceBuilder

SENTENCE = (
    "Element-wise operators, copies, reductions and norms (100 % of the kernel time) move at least 1,007 GB/s while "
    "they run, 65 % of the memory bandwidth."
)


def test_the_sums_and_the_shapes() -> None:
    told = bandwidth_dict(Results(adds(TraceBuilder().device(0, A100), 0, 50).build()))
    assert told is not None
    assert (told["bytes"], told["ms"], told["covered_share"]) == (48 << 20, 0.05, 1.0)
    (shape,) = told["shapes"]
    assert (shape["operator"], shape["shapes"], shape["count"]) == ("aten::add", [[4194304], [4194304]], 1)
    assert shape["peak_share"] == told["peak_share"]


def test_at_most_fifty_shapes() -> None:
    builder = TraceBuilder().device(0, A100)
    for number in range(MOST_SHAPES + 1):
        adds(builder, number * 100, 50, dims=f"[[{number + 1}, 8], [8]]")
    told, table = bandwidth_dict(Results(builder.build())), bandwidth_table(Results(builder.build()))
    assert told is not None and len(told["shapes"]) == MOST_SHAPES
    assert table is not None and len(table.rows) == MOST_SHAPES and "The first 50 of 51" in table.note


def test_one_line_of_text_where_the_bandwidth_is_known() -> None:
    trace = adds(TraceBuilder().device(0, A100), 0, 50).build()
    assert bandwidth_words(Results(trace)) == SENTENCE
    assert SENTENCE in " ".join(render_text(Report.of(trace)).split())
    assert bandwidth_words(Results(adds(TraceBuilder().device(0, "Test GPU"), 0, 50).build())) == ""
    little = product(adds(TraceBuilder().device(0, A100), 0, 50), 100, 2000).build()
    assert bandwidth_words(Results(little)) == "" and bandwidth_dict(Results(little)) is not None


def test_nothing_without_shapes() -> None:
    results = Results(adds(TraceBuilder().device(0, A100), 0, 50, dims=None).build())
    assert bandwidth_dict(results) is bandwidth_table(results) is None


def test_the_table_of_the_page() -> None:
    builder = adds(TraceBuilder().device(0, A100), 0, 50)
    table = bandwidth_table(Results(adds(builder, 100, 10, dims="[[4194304], [1, 4194304]]").build()))
    assert table is not None and table.heads[-1] == "of bandwidth"
    shares = [row[-1].text for row in table.rows if isinstance(row[-1], TableCell)]
    assert shares == ["65 %", "from cache"] and "From cache" in table.note
    unlisted = bandwidth_table(Results(adds(TraceBuilder().device(0, "Test GPU"), 0, 50).build()))
    assert unlisted is not None and unlisted.heads[-1] == "moved per second" and len(unlisted.rows[0]) == 6
