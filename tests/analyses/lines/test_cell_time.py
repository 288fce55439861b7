from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.cell_time import CellTime
from gpuprof.analyses.lines.stack_lines import StackLines
from tests.support.trace_builder import CELL_FILE, TraceBuilder

OTHER = "ipykernel_1/200.py"
CELL = (CELL_FILE, "<module>", 5)
LIBRARY = ("<frozen torch>", "Linear.forward", 9)
DEEPER = ("<frozen torch>", "linear", 30)


def test_a_stack_stands_in_the_innermost_line_of_the_notebook() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 10)
    builder.stack(0, 10, CELL, LIBRARY, (OTHER, "step", 3), DEEPER)
    lines = Results(builder.build()).get(StackLines)

    assert list(lines.source_file) == [0, 0, 1, 1]
    assert list(lines.line) == [5, 5, 3, 3]
    assert list(lines.cell_line) == [5, 5, 5, 5]
    assert list(lines.row) == [0, 0, 2, 2]


def test_the_users_modules_count_for_the_line_that_called_them() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 10)
    builder.stack(0, 10, CELL, ("/home/me/model.py", "forward", 7))
    lines = Results(builder.build()).get(StackLines)
    assert list(lines.line) == [5, 5]


def test_time_is_counted_by_line_with_its_error_and_what_it_called() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 10)
    builder.stack(0, 100_000, CELL)
    builder.stack(100_000, 500_000, CELL, LIBRARY, DEEPER)
    builder.stack(600_000, 200_000, CELL, LIBRARY)
    builder.stack(800_000, 150_000, (CELL_FILE, "<module>", 8))
    builder.stack(950_000, 50_000, LIBRARY)
    trace = builder.build()
    found = Results(trace).get(CellTime)

    assert found.sampled_ns == 1_000_000_000
    assert found.outside_ns == 50_000_000
    assert list(found.table["line"]) == list(found.table["cell_line"]) == [5, 8]
    assert list(found.table["share"]) == pytest.approx([0.8, 0.15])
    # 100 samples of random length count as 50; one more for and one against
    shares = [(0.8 * 50 + 1) / 52, (0.15 * 50 + 1) / 52]
    assert list(found.table["error"]) == pytest.approx([(each * (1 - each) / 50) ** 0.5 for each in shares])
    leaf = found.table["leaf"][0]
    assert trace.context.stacks is not None
    assert trace.context.stacks.functions[trace.stack_nodes["function"][leaf]] == "Linear.forward"
    assert found.table["leaf_share"][0] == pytest.approx(7 / 8)


def test_without_stacks_there_is_nothing() -> None:
    found = Results(TraceBuilder().operator("aten::mm", 0, 10).build()).get(CellTime)
    assert len(found.table) == 0 and found.sampled_ns == 0


def test_a_function_called_from_several_of_its_lines_is_one() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 10)
    builder.stack(0, 30, CELL, LIBRARY)
    builder.stack(30, 30, CELL, (LIBRARY[0], LIBRARY[1], 10))
    builder.stack(60, 40, CELL)
    found = Results(builder.build()).get(CellTime)
    assert found.table["leaf_share"][0] == pytest.approx(0.6)
