"""What an iteration calculates, by the close look, in JSON, in one sentence, and as a table of page and dashboard."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from gpuprof.analyses.basics.result import Results
from gpuprof.model.trace import Trace
from gpuprof.report import Report
from gpuprof.report.contract import json_schema, to_dict
from gpuprof.report.facts.looked_efficiency import looked_basis, looked_efficiency_dict, looked_efficiency_words
from gpuprof.views.blocks import Name, TableCell
from gpuprof.views.html import render_page
from gpuprof.views.sections.kernels import SECTION
from gpuprof.views.sections.shape_efficiency import looked_table
from gpuprof.views.text import render_text
from tests.analyses.efficiency.test_looked_efficiency import A100, FLOPS, builder, looked
from tests.support.look_builder import LookBuilder
from tests.support.trace_builder import TraceBuilder

SENTENCE = (
    "An iteration takes 1.05 MFLOP: 210 MFLOP/s over its time without the recording, 524 MFLOP/s while products "
    "run (from the operators that the close look saw)."
)


def words(trace: Trace) -> str:
    return looked_efficiency_words(Results(trace))


def test_the_json_has_it_and_fits_the_schema() -> None:
    told = to_dict(Report.of(looked(builder())))
    Draft202012Validator(json.loads(json_schema())).validate(json.loads(json.dumps(told, allow_nan=False)))
    found = told["efficiency_by_look"]
    assert (found["iterations"], found["iteration_flops"], found["iteration_ms"]) == (2, 2 * FLOPS, 5.0)
    assert found["flops_per_s"] == pytest.approx(2 * FLOPS / 5e-3)
    assert (found["running_ms"], found["peak_flops_per_s"], found["mfu"]) == (2.0, None, None)
    assert found["shapes"] == [
        {"operator": "aten::mm", "shapes": [[64, 64], [64, 64]], "number_format": "fp32", "count": 2.0, "flops": FLOPS}
    ]
    assert to_dict(Report.of(TraceBuilder().operator("aten::mm", 0, 9).build()))["efficiency_by_look"] is None


def test_the_text_says_it_with_its_basis() -> None:
    trace = looked(builder())
    assert words(trace) == SENTENCE
    assert SENTENCE in " ".join(render_text(Report.of(trace)).replace("\n", " ").split())


def test_a_share_of_the_peak_where_there_is_one() -> None:
    assert "; MFU < 0.1 % (from" in words(looked(builder(device=A100), dtype="bfloat16", device="cuda:0"))


def test_without_a_time_there_are_operations_alone() -> None:
    trace = looked(builder(products=3))
    assert words(trace) == ""
    found = looked_efficiency_dict(Results(trace))
    assert found is not None and (found["iteration_flops"], found["flops_per_s"]) == (2 * FLOPS, None)
    assert "without the recording is not known" in looked_basis(Results(trace))


def test_page_and_dashboard_have_a_table() -> None:
    report = Report.of(looked(builder()))
    found = looked_table(report.results)
    assert found is not None and found in SECTION.blocks(report)
    assert [[each.text if isinstance(each, TableCell | Name) else each for each in row] for row in found.rows] == [
        ["aten::mm", "64×64, 64×64", "fp32", "2", "524 kFLOP", "100 %"]
    ]
    assert found.note.startswith(SENTENCE.partition(" (")[0]) and found.note.count("the close look saw") == 1
    assert "the close look saw in 2 iterations" in found.note
    assert found.caption in render_page(report)
    assert looked_table(Results(TraceBuilder().build())) is None


def test_what_was_not_counted_is_said() -> None:
    look = LookBuilder(builder())
    look.tensor("x", shape=(64, 64))
    for iteration in (0, 1):
        for _ in range(2):
            look.operator("aten::mm", 30, reads="x x", makes="y", iteration=iteration)
        look.operator("aten::_linalg_eigh", 300, reads="x", makes="z", iteration=iteration)
    results = Results(look.build())
    assert looked_efficiency_words(results).startswith("An iteration takes at least 1.05 MFLOP: ")
    assert "Not counted: 2 operators of sparse or complex numbers, recurrent layers" in looked_basis(results)
