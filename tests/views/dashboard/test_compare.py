"""The Compare tab: the previous run of the cell first, figures beside code, and one line where something is wrong."""

import shutil
from dataclasses import replace

import pytest
from msgspec import structs

from gpuprof.model.context import Cell, RunContext, Window
from gpuprof.model.recording import write_context
from gpuprof.report import Report, Summary
from gpuprof.report.saved import RunOnDisk
from gpuprof.report.summary import write_summary
from gpuprof.views.dashboard.compare import Compare, label
from tests.support.reports import NASTY, device_report
from tests.support.trace_builder import TraceBuilder

LOOP = "for x, y in loader:\n    loss = model(x, y)\n    loss.backward()\n    optimizer.step()\n"
SLOWER = LOOP.replace("model(x, y)", "model(x, y)\n    print(loss.item())")
MS = 1_000_000


def report_of(source: str, number: int, step_us: int = 1_000) -> Report:
    builder = TraceBuilder().device(0, "Tesla V100-SXM2-16GB", memory_bytes=16 << 30).thread("main", main=True)
    for step in range(8):
        at = step * step_us
        builder.step(at, step_us, number=step)
        builder.operator("aten::mm", at, 100).kernel("gemm", at + 50, step_us // 2, launch_at_us=at + 10)
    cell = Cell(source=source, execution_count=number, cell_id="a")
    return Report.of(builder.context(cell=cell, run_number=number, created_ns=number).build())


def save(folder, report: Report, *, summary: bool = True):
    context = report.trace.context
    made = folder / f"run-{context.run_number}"
    made.mkdir()
    window = Window(cell_start_ns=0, cell_end_ns=90 * MS)
    write_context(made, RunContext(**{**_fields(context), "window": window}))
    if summary:
        write_summary(made, Summary.of(report))
    return made


def _fields(context: RunContext) -> dict:
    return {name: getattr(context, name) for name in context.__struct_fields__}


def words(compare: Compare) -> str:
    return compare.html_widget.html.replace("\u00a0", " ")


def test_runs_to_choose_from_are_named_with_their_unrecorded_step(tmp_path):
    made = save(tmp_path, report_of(LOOP, 1))
    assert "step 1.00 ms" in label(RunOnDisk.read(made), previous=False).replace("\u00a0", " ")
    write_summary(made, structs.replace(Summary.of(report_of(LOOP, 1)), plain_ns=4e5))
    assert "step 400 µs" in label(RunOnDisk.read(made), previous=False).replace("\u00a0", " ")


def test_the_previous_run_of_the_cell_is_chosen_and_read_from_its_summary(tmp_path, monkeypatch):
    monkeypatch.setattr(RunOnDisk, "load", None, raising=False)
    save(tmp_path, report_of("import torch", 1))
    earlier = save(tmp_path, report_of(SLOWER, 2, step_us=2_000))
    now = report_of(LOOP, 3)
    own = save(tmp_path, now)
    # GIVEN a kept summary that the recording itself, which is empty, could not give
    compare = Compare(now, own)
    assert compare.picker.value == earlier
    assert [folder.name for _, folder in compare.picker.options] == ["run-2", "run-1"]
    assert compare.picker.options[0][0].endswith("previous run of this cell")
    page = words(compare)
    assert "2.00× faster than run 2" in page
    assert "2.00 ms" in page and "1.00 ms" in page and "−1.00 ms (−50 %)" in page
    assert '<span class="removed">-    print(loss.item())</span>' in page.replace("\n</span>", "</span>")


def test_another_run_can_be_chosen_and_new_ones_are_listed_later(tmp_path):
    first = save(tmp_path, report_of(LOOP, 1))
    second = save(tmp_path, report_of(LOOP, 2))
    now = report_of(LOOP, 3)
    own = save(tmp_path, now)
    compare = Compare(now, own)
    compare.picker.index = 1  # as the front end tells it
    assert compare.picker.value == first
    assert "run 1" in words(compare) and "the code is the same" in words(compare)
    save(tmp_path, report_of(LOOP, 4))
    compare.look()
    assert len(compare.picker.options) == 3
    assert compare.picker.value == first != second


def test_without_another_run_it_says_what_to_do(tmp_path):
    report = device_report()
    own = tmp_path / "run-1"
    own.mkdir()
    assert "Run the cell again" in words(Compare(report, own))


def test_of_a_trace_file_it_does_not_speak_of_a_cell(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = words(Compare(device_report(), None))
    assert "run.compare(other)" in said and "Run the cell again" not in said


def test_a_cell_that_was_never_run_before_leaves_the_choice(tmp_path):
    save(tmp_path, report_of("import torch", 1))
    now = report_of(LOOP, 2)
    compare = Compare(replace(now), save(tmp_path, now))
    assert compare.picker.value is None and compare.picker.options[0][0] == "choose a run"
    assert "No earlier run of this cell was found" in words(compare)


@pytest.mark.parametrize("harm", ["no summary", "gone"])
def test_what_cannot_be_read_is_one_line(tmp_path, harm):
    broken = save(tmp_path, report_of(LOOP, 1), summary=False)
    now = report_of(LOOP, 2)
    compare = Compare(now, save(tmp_path, now))
    if harm == "gone":
        shutil.rmtree(broken)
        compare._show(broken)
    page = words(compare)
    assert "That run cannot be compared: " in page and "Traceback" not in page
    assert page.strip().count("<p") == 1


def test_names_are_data(tmp_path):
    save(tmp_path, report_of(f"# {NASTY}\n{LOOP}", 1))
    now = report_of(LOOP, 2)
    page = Compare(now, save(tmp_path, now)).html_widget.html
    assert "<img" not in page and "&lt;img" in page
