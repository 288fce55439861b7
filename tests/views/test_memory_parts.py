"""Memory in words: one line, and the tables of page and dashboard."""

from __future__ import annotations

import dataclasses

from gpuprof.analyses.basics.result import Results
from gpuprof.model.memory import Composition, HeldTensors, ModuleBytes
from gpuprof.report import Report
from gpuprof.views.memory_parts import around_note, known_parts, memory_line, part_rows
from gpuprof.views.sections.memory import SECTION
from gpuprof.views.text import render_text
from tests.rules.memory.memory_runs import GIB, allocator, run, weighed
from tests.support.reports import NASTY, empty_report, host_report
from tests.support.trace_builder import TraceBuilder


def results(builder: TraceBuilder) -> Results:
    return Results(builder.build())


def training() -> TraceBuilder:
    return run(allocators=(allocator(12, 13, retries=2),), compositions=(weighed(3, 2, 6),))


def test_the_line_of_a_device() -> None:
    assert memory_line(results(training())) == (
        "Peak memory of device 0: 12.0 GiB of 16.0 GiB (parameters 3.00 GiB, gradients at most 2.00 GiB, "
        "optimizer state 6.00 GiB, activations and temporaries 1.00 GiB to 3.00 GiB); reserved 13.0 GiB, "
        "retried 2 times."
    )


def test_the_line_of_a_trace_from_elsewhere() -> None:
    line = memory_line(results(run(allocators=(allocator(12, 13),))))
    assert line == "Peak memory of device 0: 12.0 GiB of 16.0 GiB; reserved 13.0 GiB."


def test_the_line_of_a_host_whose_allocations_were_not_recorded() -> None:
    known = Composition(device="cpu", parameter_bytes=2 << 20, gradient_bytes=2 << 20, after_steps=3)
    line = memory_line(results(TraceBuilder().context(compositions=(known,))))
    assert line == (
        "Memory of the host: parameters 2.00 MiB, gradients 2.00 MiB, activations and temporaries unknown "
        "(--memory shows them)."
    )


def test_a_curve_without_a_beginning_says_so() -> None:
    line = memory_line(host_report().results)
    assert line == "Peak memory of the host: 64.0 MiB above the start of the recording."


def test_nothing_known_is_no_line() -> None:
    assert memory_line(empty_report().results) == ""
    assert "Memory" not in render_text(empty_report())


def test_parts_add_up_where_they_are_exact() -> None:
    known = Composition(device="cuda:0", parameter_bytes=3 * GIB, state_bytes=6 * GIB, buffer_bytes=GIB, after_steps=3)
    (parts,) = known_parts(results(run(allocators=(allocator(12, 13),), compositions=(known,))))
    rows = part_rows(parts)
    assert sum(row.bytes or 0 for row in rows) == parts.peak_bytes
    assert [row.label for row in rows] == ["parameters", "optimizer state", "buffers", "activations and temporaries"]
    assert [row.share for row in rows] == [0.25, 0.5, 1 / 12, 2 / 12]


def test_what_lies_beside_the_parts_is_said() -> None:
    (parts,) = known_parts(results(training()))
    assert around_note(parts) == "Reserved and free: 1.00 GiB at most, between the two peaks."
    seen = dataclasses.replace(parts, same_instant=True, outside_bytes=GIB)
    assert "1.00 GiB at the peak. In use on the device outside of torch" in around_note(seen)


def test_page_and_dashboard_show_parts_modules_and_names() -> None:
    modules = (ModuleBytes(name=NASTY, parameter_bytes=2 * GIB), ModuleBytes(name="net.head", parameter_bytes=GIB))
    known = Composition(device="cuda:0", parameter_bytes=3 * GIB, after_steps=3, modules=modules)
    held = (HeldTensors(name="old", kind="output", device="cuda:0", bytes=GIB, tensors=1),)
    builder = run(allocators=(allocator(12, 13),), compositions=(known,), held=held)
    report = Report.of(builder.build())
    captions = [getattr(block, "caption", "") for block in SECTION.blocks(report)]
    assert captions[:3] == [
        "What the peak is made of: device 0 (NVIDIA Test)",
        "By part of the model",
        "Peaks",
    ]
    assert captions[-1] == "What the notebook holds"
    name, *cells = SECTION.blocks(report)[0].rows[0]
    assert (name, [cell.text for cell in cells]) == ("parameters", ["3.00 GiB", "25 %"])
