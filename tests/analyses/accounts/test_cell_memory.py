from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pytest

from gpuprof.analyses.accounts.cell_memory import CellMemory
from gpuprof.analyses.accounts.phase import Phase
from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import SampledFile, Window
from gpuprof.model.schema import HOST_READINGS
from gpuprof.model.table import Table
from gpuprof.model.trace import Trace
from gpuprof.report.spot_words import memory_words
from tests.analyses.accounts.cells import cell, line
from tests.analyses.accounts.test_sample_phases import CALL, libraries
from tests.support.trace_builder import TraceBuilder

__all__ = ["libraries"]  # a fixture
MIB = 1024**2
MS = 1_000_000


def read(builder: TraceBuilder, mib: list[float], **known: Any) -> Trace:
    """One reading every 100 ms from the beginning of the cell."""
    columns: dict[str, Any] = {column.name: np.zeros(len(mib)) for column in HOST_READINGS.columns}
    columns["time_ns"] = np.arange(len(mib)) * 100 * MS
    columns["resident_bytes"] = np.array(mib) * MIB
    trace = cell(builder, **known)
    window = Window(cell_start_ns=0, cell_end_ns=len(mib) * 100 * MS)
    return replace(
        trace,
        context=replace_context(trace, window),
        tables={**trace.tables, "host_readings": Table(HOST_READINGS, columns)},
    )


def replace_context(trace: Trace, window: Window) -> Any:
    return msgspec.structs.replace(trace.context, window=window)


def test_growth_is_given_to_the_line_that_it_happened_in() -> None:
    # GIVEN two seconds of training at 300 MiB, then an evaluation that keeps 50 MiB per 100 ms
    builder = TraceBuilder().stack(0, 1_000_000, line(5), CALL)
    builder.stack(1_000_000, 900_000, line(12), CALL).stack(1_900_000, 200_000, line(20))
    held = [300.0] * 11 + [300.0 + 50 * number for number in range(1, 9)] + [320.0, 320.0]
    found = Results(read(builder, held, ends_ms=(100, 300, 500, 700, 900))).get(CellMemory)

    assert (found.start_bytes, found.peak_bytes, found.end_bytes) == (300 * MIB, 700 * MIB, 320 * MIB)
    assert found.peak is not None and (found.peak.line, found.peak.phase) == (12, Phase.EVALUATION)
    (grown,) = found.grown
    assert grown.line == 12 and grown.bytes == 400 * MIB
    assert memory_words(found).replace("\u00a0", " ") == (
        "Resident memory of the process: 300 MiB when the cell began, at most 700 MiB (line 12 of the cell, "
        "evaluation). Before that it grew by 400 MiB at line 12 of the cell, evaluation."
    )


def test_a_line_of_another_cell_is_of_that_cell() -> None:
    other = "/tmp/ipykernel_1/22.py"
    builder = TraceBuilder().stack(0, 2_000_000, line(5), (other, "train", 3))
    trace = read(builder, [300.0] * 10 + [300.0 + 50 * number for number in range(10)])
    stacks = trace.context.stacks
    assert stacks is not None
    own = SampledFile(filename=other, kind="notebook", execution_count=3)
    files = tuple(own if each.filename == other else each for each in stacks.files)
    context = msgspec.structs.replace(trace.context, stacks=msgspec.structs.replace(stacks, files=files))
    peak = Results(replace(trace, context=context)).get(CellMemory).peak
    assert peak is not None and (peak.line, peak.is_cell, peak.execution_count) == (3, False, 3)


def test_a_peak_while_it_was_recorded_is_told_from_the_rest() -> None:
    """Recording spoils the heap of cells whose large tensors come and go."""
    builder = TraceBuilder().stack(0, 3_000_000, line(5))
    held = [300.0] * 4 + [600.0 + 100 * number for number in range(8)] + [700.0] * 18
    trace = read(builder, held, ends_ms=(300, 600, 900, 1200, 2000))
    window = Window(cell_start_ns=0, cell_end_ns=3_000 * MS, start_ns=300 * MS, end_ns=1_200 * MS)
    found = Results(replace(trace, context=replace_context(trace, window))).get(CellMemory)
    assert (found.peak_bytes, found.rest_bytes) == (1300 * MIB, 700 * MIB)
    said = memory_words(found).replace("\u00a0", " ")
    assert "at most 1.27 GiB (line 5 of the cell" in said
    assert "during the recording, which itself takes memory, and 700 MiB in the rest of the cell" in said
    later = Window(cell_start_ns=0, cell_end_ns=3_000 * MS, start_ns=1_500 * MS, end_ns=2_000 * MS)
    assert Results(replace(trace, context=replace_context(trace, later))).get(CellMemory).rest_bytes is None


@pytest.mark.parametrize(
    ("gaps_bytes", "said"), [(300 * MIB, "Up to 300 MiB"), (900 * MIB, "Up to 400 MiB"), (70 * MIB, ""), ("?", "")]
)
def test_gaps_that_the_recording_leaves_may_be_a_part_of_the_growth(gaps_bytes: object, said: str) -> None:
    builder = TraceBuilder().stack(0, 2_000_000, line(5))
    trace = read(builder, [300.0] * 5 + [300.0 + 50 * number for number in range(9)] + [700.0] * 6)
    context = msgspec.structs.replace(trace.context, sampling={"gaps_bytes": gaps_bytes})
    words = memory_words(Results(replace(trace, context=context)).get(CellMemory)).replace("\u00a0", " ")
    gaps = f" {said} of the growth may be unused memory between the profiler’s own records."
    assert words.endswith(gaps) is bool(said) and ("records" in words) is bool(said)


def test_what_comes_and_goes_is_no_growth() -> None:
    builder = TraceBuilder().stack(0, 2_000_000, line(5))
    found = Results(read(builder, [300.0, 500.0] * 10)).get(CellMemory)
    assert found.peak is not None and found.peak_bytes == 500 * MIB
    assert [each.bytes for each in found.grown] == [200 * MIB]


def test_what_several_lines_take_adds_up_to_the_rise() -> None:
    """100 MiB stay at line 5; at line 6 400 come each time, and go at line 7."""
    builder, held = TraceBuilder().stack(0, 590_000, line(5)), [300.0] * 4 + [400.0] * 2
    for number in range(4):
        at = 590_000 + 200_000 * number
        builder.stack(at, 100_000, line(6)).stack(at + 100_000, 100_000, line(7))
        held += [800.0, 400.0]
    found = Results(read(builder, [*held, 350.0, 350.0])).get(CellMemory)
    assert [(each.line, each.bytes) for each in found.grown] == [(6, 400 * MIB), (5, 100 * MIB)]
    assert found.peak_bytes == (found.start_bytes or 0) + sum(each.bytes for each in found.grown)


@pytest.mark.parametrize("held", [[300.0] * 4, [300.0] * 20, [300.0 + number for number in range(40)]])
def test_little_is_not_said(held: list[float]) -> None:
    builder = TraceBuilder().stack(0, 4_000_000, line(5))
    found = Results(read(builder, held)).get(CellMemory)
    assert found.peak is None and found.grown == () and memory_words(found) == ""


def test_of_many_lines_that_each_keep_a_part_three_are_named() -> None:
    builder = TraceBuilder()
    for number in range(4):
        builder.stack(500_000 * number, 500_000, line(5 + number))
    held = [300.0 + 25 * number for number in range(21)]
    found = Results(read(builder, held)).get(CellMemory)
    assert len(found.grown) == 3
    assert all(each.bytes >= 100 * MIB for each in found.grown)
