"""Products by shape in the Kernels & operators tab."""

from __future__ import annotations

from gpuprof.analyses.basics.result import Results
from gpuprof.model.trace import Trace
from gpuprof.report import Report
from gpuprof.views.blocks import Name, TableBlock, TableCell
from gpuprof.views.html import render_page
from gpuprof.views.sections.kernels import SECTION
from gpuprof.views.sections.shape_efficiency import MOST_ROWS, efficiency_table
from tests.analyses.efficiency.test_efficiency import A100, FP32, product
from tests.support.trace_builder import TraceBuilder


def table(trace: Trace) -> TableBlock:
    found = efficiency_table(Results(trace))
    assert found is not None
    return found


def texts(found: TableBlock) -> list[list[str]]:
    return [[each.text if isinstance(each, TableCell | Name) else each for each in row] for row in found.rows]


def test_a_row_has_rate_and_share_of_the_peak() -> None:
    found = table(product(TraceBuilder().device(0, A100), 0, 998).build())
    assert found.heads == ("operator", "shapes", "format", "count", "GPU time", "FLOP per call", "FLOP/s", "of peak")
    assert texts(found) == [
        ["aten::mm", "4096×4096, 4096×4096", "bf16", "1", "998 µs", "137 GFLOP", "138 TFLOP/s", "44 %"]
    ]
    assert "reach 44 % of the bf16 peak" in found.note and "100 % of all kernel time" in found.note
    assert "vendor's figures" in found.note and "--shapes" not in found.note


def test_a_bias_is_no_factor_and_an_unknown_format_is_a_dash() -> None:
    dims = "[[512], [64, 256], [256, 512], [], []]"
    builder = TraceBuilder().device(0, A100)
    product(builder, 0, 998, operator="aten::addmm", dims=dims, name="gemm", types='["float", "float", "float"]')
    product(builder, 2000, 10, dims=None)
    found = table(builder.build())
    assert texts(found)[0][:3] == ["aten::addmm", "64×256, 256×512", "–"]
    assert found.heads[-1] == "FLOP/s" and len(found.rows[0]) == len(found.heads)
    assert "record them with `--shapes`" in found.note and "vendor" not in found.note


def test_of_a_gradient_input_and_weight_are_shown() -> None:
    dims = "[[2, 4, 7, 7], [2, 3, 9, 9], [4, 3, 3, 3], [], [], [], [], [], [], [], []]"
    values = '["", "", "", "[0]", "[1, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1", "[True, True, False]"]'
    found = table(TraceBuilder().operator("aten::convolution_backward", 0, 9, dims=dims, values=values).build())
    shapes = found.rows[0][1]
    assert isinstance(shapes, Name)
    assert (shapes.text, shapes.whole) == ("2×3×9×9, 4×3×3×3", "2×4×7×7, 2×3×9×9, 4×3×3×3")


def test_on_the_cpu_there_is_no_peak() -> None:
    trace = TraceBuilder().operator("aten::mm", 0, 10, dims="[[2, 3], [3, 4]]", types=FP32).build()
    found = table(trace)
    assert found.heads[-3:] == ("CPU time", "FLOP per call", "FLOP/s")
    assert texts(found) == [["aten::mm", "2×3, 3×4", "fp32", "1", "10.0 µs", "48 FLOP", "4.80 MFLOP/s"]]
    assert "of all operator time" in found.note


def test_the_tab_has_it_between_kernels_and_operators() -> None:
    report = Report.of(product(TraceBuilder().device(0, A100), 0, 998).build())
    captions = [block.caption for block in SECTION.blocks(report) if isinstance(block, TableBlock)]
    assert [caption.split()[0] for caption in captions] == ["Kernels", "Matrix", "Operators"]
    assert "138 TFLOP/s" in render_page(report)
    assert efficiency_table(Results(product(TraceBuilder(), 0, 10, dims=None).build())) is None


def test_many_shapes_are_cut_and_counted() -> None:
    builder = TraceBuilder().device(0, A100)
    for number in range(MOST_ROWS + 5):
        product(builder, number * 100, 50, dims=f"[[{number + 1}, 8], [8, 8]]")
    found = table(builder.build())
    assert len(found.rows) == MOST_ROWS and found.note.startswith(f"The first {MOST_ROWS} of {MOST_ROWS + 5} shapes.")
