"""What the tab says of the machine and of where the run came from."""

from gpuprof.report import Report
from gpuprof.views.sections.environment import SECTION
from tests.support.trace_builder import TraceBuilder


def tables(trace):
    return {block.caption: block for block in SECTION.blocks(Report.of(trace))}


def test_a_trace_file_names_its_devices():
    trace = TraceBuilder().device(0, "Tesla V100", memory_bytes=16 << 30, compute_capability=(7, 0)).build()
    (row,) = tables(trace)["Devices"].rows
    assert [str(getattr(value, "text", value)) for value in row] == ["0", "Tesla V100", "16.0 GiB", "unknown", "7.0"]


def test_a_run_without_a_device_has_no_table_of_them():
    assert "Devices" not in tables(TraceBuilder().build())
