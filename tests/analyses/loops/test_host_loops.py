"""Loops that wait for the device in each turn: their turns, waits, launches and places."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loops.host_loops import HostLoop, HostLoops
from gpuprof.model.context import Cell
from gpuprof.model.trace import Trace
from tests.rules.cases.host.loop_on_host import TURNS, looped, run_of
from tests.support.shared import shared_file
from tests.support.trace_builder import CELL_FILE, TraceBuilder


def only(trace: Trace) -> HostLoop:
    (loop,) = Results(trace).get(HostLoops).loops
    return loop


def test_a_loop_is_counted_whole() -> None:
    loop = only(looped())
    assert loop.names == ("aten::select", "aten::mul", "aten::item")
    assert loop.every == {*loop.names, "aten::_local_scalar_dense"}
    assert (loop.count, loop.turns.tolist(), loop.usual_ns) == (TURNS, [TURNS], 150_000)
    assert (loop.within.starts.tolist(), loop.within.ends.tolist()) == ([7_000_000], [10_000_000])
    assert (loop.wait_count, loop.waiting) == (TURNS, ("aten::item",))
    assert (loop.kernels, loop.copies, loop.reads) == (TURNS, TURNS, TURNS)
    assert loop.busy_share == pytest.approx(5 / 150)
    assert (loop.written, loop.carried, loop.function, loop.unbound) == (None, None, None, False)


def test_loops_without_waits_are_left_out() -> None:
    builder = TraceBuilder().operator("aten::item", 0, 5).sync(1, 3)
    for turn in range(20):
        builder.operator("aten::select", 10 * turn + 10, 4).operator("aten::mul", 10 * turn + 15, 4)
    assert Results(builder.build()).get(HostLoops).loops == ()
    assert Results(TraceBuilder().build()).get(HostLoops).loops == ()


def test_runs_of_one_loop_are_one() -> None:
    builder = TraceBuilder()
    for begin in (0, 1000):
        builder.operator("aten::mm", begin, 10)
        for turn in range(12):
            at = begin + 20 + 20 * turn
            builder.operator("aten::select", at, 5).operator("aten::item", at + 6, 10).sync(at + 7, 8)
    loop = only(builder.build())
    assert (loop.turns.tolist(), loop.count) == ([12, 12], 24)


@pytest.mark.parametrize(
    ("body", "carried"), [("    y.append((x[i] * 2).item())", ()), ("    h = (x[i] * h).item()", ("h",))]
)
def test_the_written_loop_says_what_it_carries(body: str, carried: tuple[str, ...]) -> None:
    builder = run_of().context(cell=Cell(source=f"x = make()\nfor i in range(20):\n{body}"))
    for turn in range(TURNS):
        builder.look(7_000 + 150 * turn + 50, (CELL_FILE, "<module>", 3))
    loop = only(builder.build())
    assert loop.written is not None and (loop.written.file, loop.written.line) == ("", 2)
    assert loop.carried == carried


def test_the_innermost_call_around_it_is_its_function() -> None:
    builder = run_of().frame("run.py(1): main", 0, 10_000).frame("masks.py(9): encode", 6_900, 3_100)
    assert only(builder.frame("masks.py(20): area", 7_000, 100).build()).function == "masks.py(9): encode"


@pytest.mark.recordings
def test_the_masks_of_a_recorded_run_are_one_loop() -> None:
    from gpuprof.ingest.load import load_trace

    loop = Results(load_trace(shared_file("expert/a100-sam-loop-0.json.gz"))).get(HostLoops).loops[0]
    assert len(loop.turns) == 16 and loop.count == 1316
    assert set(loop.waiting) == {"aten::to", "aten::index", "aten::is_nonzero"}
    assert loop.wait_count == 5 * loop.count
    assert loop.busy_share < 0.1
