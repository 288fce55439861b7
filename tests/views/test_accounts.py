"""Hot spots, idle work and phases as tables and as text, on built runs."""

from __future__ import annotations

import pytest

from gpuprof.capture.stacks import folding
from gpuprof.report import Report
from gpuprof.report.spot_words import without_package
from gpuprof.views.accounts import account_blocks
from gpuprof.views.blocks import TableBlock, TableCell
from gpuprof.views.notebook_report import render_bundle
from gpuprof.views.sections.where import SECTION
from gpuprof.views.text import WIDTH, render_text
from tests.analyses.accounts.cells import cell, line
from tests.support.reports import device_report, empty_report
from tests.support.trace_builder import TraceBuilder

MODULE = ("/home/me/net.py", "Net.forward", 4)


def sampled() -> Report:
    builder = TraceBuilder().operator("aten::mm", 0, 100_000)
    builder.stack(0, 70_000, line(5), MODULE).stack(70_000, 30_000, line(6))
    return Report.of(cell(builder))


def texts(table: TableBlock) -> list[list[str]]:
    return [[value.text if isinstance(value, TableCell) else str(value) for value in row] for row in table.rows]


def test_lines_stand_with_what_ran_their_share_and_its_error() -> None:
    (spots,) = account_blocks(sampled().results)
    assert spots.heads == ("where", "what ran", "phase", "time", "share")
    assert texts(spots) == [
        ["line 4 of net.py (called from line 5 of the cell)", "its own code", "other", "70.0 ms", "70 % ± 21 %"],
        ["line 6 of the cell", "its own code", "other", "30.0 ms", "30 % ± 21 %"],
    ]


def test_operators_need_no_place() -> None:
    spots, device, idle, phases = account_blocks(device_report().results)
    assert device.caption == "Where the device’s work comes from" and device.rows
    assert spots.heads == ("what ran", "phase", "time", "share") and "take the place of lines" in spots.note
    assert idle.caption == "What the CPU did while the device was idle" and idle.rows
    assert [row[0] for row in texts(phases)]


def test_the_section_is_there_where_there_is_something_to_show() -> None:
    assert SECTION.known(sampled()) and SECTION.blocks(sampled())
    assert not SECTION.known(empty_report())


def test_the_text_and_the_notebook_report_have_them_too() -> None:
    text = render_text(sampled())
    assert "Hot spots of the whole cell (100 ms):\n     70 %  line 4 of net.py" in text
    assert max(map(len, text.splitlines())) <= WIDTH
    idle = render_text(device_report())
    assert "While the device was idle, the CPU was in:" in idle
    assert "line 4 of net.py" in render_bundle(sampled())["text/html"]


def test_a_long_name_does_not_hide_the_phase(monkeypatch: pytest.MonkeyPatch) -> None:
    # GIVEN a line of the cell and one of a module that call functions of libraries
    monkeypatch.setattr(folding, "_library_folders", lambda _: ["/lib/"])
    backward = ("/lib/torch/_tensor.py", "Tensor.backward", 3)
    fetch = ("/lib/torch/utils/data/_utils/fetch.py", "_MapDatasetFetcher.fetch", 3)
    builder = TraceBuilder().stack(0, 70_000, line(5), backward).stack(70_000, 30_000, line(6), MODULE, fetch)
    text = render_text(Report.of(cell(builder)))
    # THEN the package is what goes, where the line would be too long
    assert "line 5 of the cell: torch._tensor.Tensor.backward (backward)" in text
    assert "(called from line 6 of the cell): _MapDatasetFetcher.fetch (data)" in text
    assert max(map(len, text.splitlines())) <= WIDTH


@pytest.mark.parametrize(
    ("words", "short"),
    [
        ("torch.optim.adam.Adam.step", "Adam.step"),
        ("mostly torch.distributions.constraints._Simplex.check", "mostly _Simplex.check"),
        ("torch.nn.functional.binary_cross_entropy", "binary_cross_entropy"),
        ("its own code", "its own code"),
        ("aten::mm", "aten::mm"),
        ("void kernel<at::native::x.y.z>", "void kernel<at::native::x.y.z>"),
    ],
)
def test_a_dotted_name_without_its_package(words: str, short: str) -> None:
    assert without_package(words) == short
