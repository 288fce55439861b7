"""Iterations by the lines of a loop: followed, or learned from looks at the stack."""

from __future__ import annotations

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loops.iterations import Iterations
from gpuprof.analyses.loops.line_iterations import line_of, stack_path
from gpuprof.model.context import Cell, FollowedLines
from gpuprof.model.trace import Trace
from tests.support.trace_builder import CELL_FILE, TraceBuilder

SOURCE = """total = 0
for x in xs:
    y = model(x)
    if y.any():
        total += y
print(total)
"""


def runs(trace: Trace) -> list[tuple[str, int, int | None, list[int]]]:
    found = Results(trace).get(Iterations).runs
    return [(run.how, run.count, run.line, run.durations_ns.tolist()) for run in found]


def followed(turns: int = 6) -> TraceBuilder:
    """Iterations of 10, 20, 30 … µs, each with other operators."""
    builder, at = TraceBuilder().context(cell=Cell(source=SOURCE)).line(1, 0).line(2, 5), 10.0
    for turn in range(turns):
        builder.line(3, at).line(4, at + 5 * turn + 5).line(2, at + 10 * turn + 10)
        builder.operator(f"aten::op{turn}", at + 1, 3)
        at += 10 * turn + 11
    return builder.line(6, at).operator("aten::print", at, 10)


def test_followed_lines_tell_each_iteration():
    assert runs(followed().build()) == [("lines", 6, 2, [10_000 * turn for turn in range(1, 7)])]


def test_a_few_iterations_are_not_enough():
    assert runs(followed(4).build()) == []


def test_a_loop_in_less_than_three_tenths_of_the_recording_is_not_its_loop():
    # GIVEN iterations of 210 µs in all, in a recording that begins at 11 µs
    assert len(runs(followed().operator("aten::save", 300, 411).build())) == 1
    assert runs(followed().operator("aten::save", 300, 412).build()) == []


def learned(known: bool = True) -> Trace:
    """Two lines with operators; every eighth operator is looked at."""
    builder = TraceBuilder().context(
        cell=Cell(source=SOURCE), lines=FollowedLines(how="samples", start_ns=0, end_ns=1 << 40)
    )
    at = 0.0
    for turn in range(12):
        for name, line in (("aten::linear", 3), ("aten::relu", 3), ("aten::any", 4), ("aten::add_", 5)):
            if name != "aten::add_" or turn % 3:
                builder.operator(name, at, 8)
                if known:
                    builder.look(at + 4, (CELL_FILE, "<module>", line))
                at += 10
    return builder.operator("aten::print", at, 10).look(at + 1, (CELL_FILE, "<module>", 6)).build()


def test_learned_lines_tell_where_an_iteration_begins():
    found = runs(learned())
    assert [each[:3] for each in found] == [("lines", 12, 2)]
    assert found[0][3] == [30_000, 40_000, 40_000] * 3 + [30_000, 40_000, 38_000]


def test_unknown_lines_tell_nothing():
    assert [each[0] for each in runs(learned(known=False))] != ["lines"]


def test_the_loop_around_a_stretch_of_time():
    trace = learned()
    results = Results(trace)
    loop = line_of(trace, results, 0, trace.span_end_ns - 20_000)
    assert loop is not None and loop.line == 2
    assert line_of(trace, results, 0, 1) is None
    assert stack_path(trace, int(trace.stack_instants["node"][0])) == [("", 3)]
