"""What a faster line gains the run."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import FollowedLines, RunContext
from gpuprof.model.schema import LINE_EVENTS
from gpuprof.model.table import Table
from gpuprof.model.trace import Trace
from gpuprof.whatif.line_profile import FASTER_SHARES, LineGain, LineKind, LineProfile, _gain, _Placed
from gpuprof.whatif.predict import Replay
from tests.support.trace_builder import TraceBuilder
from tests.whatif.programs import Program, programs, run

MS = 1_000_000


def with_lines(trace: Trace, lines: list[tuple[float, int]]) -> Trace:
    """The main thread enters each line at its time in µs."""
    columns: dict[str, Any] = {
        "time_ns": [round(at * 1000) for at, _ in lines],
        "tid": [int(trace.threads["tid"][0])] * len(lines),
        "source_file": [0] * len(lines),
        "line": [line for _, line in lines],
        "cell_line": [line for _, line in lines],
        "begins": [True] * len(lines),
    }
    context = RunContext(lines=FollowedLines(how="monitoring", start_ns=0, end_ns=1 << 62))
    return replace(trace, tables={**trace.tables, "line_events": Table(LINE_EVENTS, columns)}, context=context)


def by_line(trace: Trace) -> dict[int, LineGain]:
    return {each.line: each for each in Results(trace).get(LineProfile).lines}


def test_without_a_simulation_there_is_no_time() -> None:
    trace = with_lines(TraceBuilder().operator("aten::mm", 0, 10).build(), [(0, 2)])
    found = Results(trace).get(LineProfile)
    assert (found.lines, found.run_ns, found.recorded_ns, found.grade) == ((), 0, 0, None)
    assert found.share(5.0) == 0.0


def stepping(prepare_us: float, kernel_us: float) -> Trace:
    """Ten steps of a loop that prepares (line 2), launches (3) and reads the result of the step before (4)."""
    builder, free, reads = TraceBuilder(), 0.0, []
    now = 0.0
    for _ in range(10):
        builder.line(2, now).operator("aten::prepare", now, prepare_us)
        now += prepare_us
        builder.line(3, now)
        begin = max(now + 8, free + 1)
        builder.kernel("gemm", begin, kernel_us, launch_at_us=now, launch_for_us=5)
        now, free = now + 5, begin + kernel_us
        reads.append(free)
        builder.line(4, now)
        if len(reads) > 1:
            back = max(now + 4, reads[-2] + 10)
            builder.sync(now, back - now, "cudaEventSynchronize")
            now = back
        builder.line(5, now)
    builder.sync(now, free + 10 - now, "cudaDeviceSynchronize")
    return builder.build()


def test_a_line_that_the_device_hides_is_told_from_one_that_the_run_waits_for() -> None:
    """Where the kernels take longer, preparing is hot and hidden; where they take less, it is all that counts."""
    hidden = by_line(stepping(prepare_us=400, kernel_us=1000))
    assert (hidden[2].kind, hidden[3].kind) == (LineKind.HIDDEN, LineKind.CRITICAL)
    assert hidden[2].cost_share > 0.3 and hidden[2].gain_ns is not None and hidden[2].gain_ns[1] < 0.25 * MS
    assert hidden[4].kind == LineKind.HIDDEN  # it stands there for half of the time, and only waits
    shown = by_line(stepping(prepare_us=1000, kernel_us=400))
    assert (shown[2].kind, shown[3].kind) == (LineKind.CRITICAL, LineKind.HIDDEN)
    assert shown[2].gain_ns is not None and shown[2].gain_ns[1] > 4.9 * MS


def test_one_chain_gains_what_the_line_costs() -> None:
    """Every step waits for its kernel, so that nothing hides anything."""
    program: Program = [("work", 300), ("kernel", 7, 200), ("sync_all",)] * 10
    trace = run(program)
    starts = trace.operators["start_ns"] / 1000
    lines = [each for at in starts.tolist() for each in ((at, 1), (at + 300, 2))]
    found = by_line(with_lines(trace, lines))
    for share, work, kernels in zip(FASTER_SHARES, found[1].gain_ns or (), found[2].gain_ns or (), strict=True):
        assert work == round(3 * MS * share)
        assert 2 * MS * share <= kernels <= (2 * MS + 10 * 9_000) * share
    assert {each.kind for each in found.values()} == {LineKind.CRITICAL}


@settings(max_examples=40, deadline=None)
@given(programs, st.lists(st.integers(1, 3), min_size=1, max_size=30), st.integers(1, 200))
def test_a_faster_line_gains_more_the_faster_it_is_and_never_more_than_it_costs(
    program: Program, order: list[int], every_us: int
) -> None:
    trace = run(program)
    trace = with_lines(trace, [(at * every_us, line) for at, line in enumerate(order)])
    results = Results(trace)
    replay, placed = results.get(Replay), _Placed.of(trace, results)
    if not replay.possible:
        return
    for line in set(order):
        gains = [_gain(replay, placed.faster(0, line, 1 - share)) for share in (0.0, *FASTER_SHARES)]
        assert gains[0] == 0
        # To the ns: durations are rounded.
        assert all(later >= earlier - 2 for earlier, later in pairwise(gains))
        changed = placed.faster(0, line, 0.0)(replay.graph)
        cost = int(np.abs(replay.graph.duration_ns - changed.duration_ns).sum())
        assert gains[-1] <= cost * replay.graph.recorded_span_ns / replay.baseline_ns + 1


def test_late_batches_leave_other_lines_unknown() -> None:
    builder = TraceBuilder()
    for at in range(0, 10_000, 1000):
        builder.line(1, at).step(at, 1000).operator("aten::empty", at, 1).data_wait(at, 500, workers=2)
        builder.line(2, at + 500).kernel("gemm", at + 520, 400, launch_at_us=at + 510)
        builder.sync(at + 520, 410)
    found = Results(builder.build()).get(LineProfile)
    assert found.late_batches
    kinds = {each.line: (each.kind, each.gain_ns is None) for each in found.lines}
    assert kinds == {1: (LineKind.CRITICAL, False), 2: (LineKind.UNKNOWN, True)}


def test_no_number_without_trust_and_the_reason_is_said() -> None:
    blind = with_lines(run([("work", 300), ("kernel", 7, 100)] * 10), [(0, 1)])
    found = Results(blind).get(LineProfile)
    assert (found.grade, found.lines) == ("D", ())
    assert "no call such as" in found.reasons[0]
    on_host = Results(TraceBuilder().line(1, 0).operator("aten::mm", 0, 100).build()).get(LineProfile)
    assert (on_host.grade, on_host.lines) == (None, ()) and "not both recorded" in on_host.reasons[0]
    assert Results(run([])).get(LineProfile).reasons == ("no line was followed",)
