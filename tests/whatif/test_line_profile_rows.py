"""Which lines a profile holds, how they are found in it, and when one is hot, critical or late."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.trace import Trace
from gpuprof.whatif.line_profile import LineKind, LineProfile, _kind
from tests.support.trace_builder import TraceBuilder
from tests.whatif.programs import Program, run
from tests.whatif.test_line_profile import with_lines


def profile(trace: Trace) -> LineProfile:
    return Results(trace).get(LineProfile)


def equal_lines(number: int, *, each_us: float = 100) -> Trace:
    """So many lines that prepare for as long, one after the other; each waits for a kernel of 20 µs, in 38 µs more."""
    program: Program = [("work", each_us), ("kernel", 7, 20), ("sync_all",)]
    trace = run(program * number)
    starts = (trace.operators["start_ns"] / 1000).tolist()
    return with_lines(trace, [(at, line) for line, at in enumerate(starts, start=1)])


def test_ten_lines_are_shown_the_costliest_first() -> None:
    found = profile(equal_lines(12))
    assert [each.line for each in found.lines] == list(range(1, 11))
    assert len(profile(equal_lines(9)).lines) == 9


def test_a_line_is_found_by_its_file_and_number() -> None:
    found = profile(equal_lines(3))
    line = found.at(0, 2)
    assert line is not None and line.line == 2
    assert found.at(0, 4) is None and found.at(1, 2) is None


def test_shares_are_of_the_run() -> None:
    found = profile(equal_lines(4))
    assert found.run_ns == found.recorded_ns == 4 * 138_000
    assert found.share(138_000) == 0.25
    assert replace(found, run_ns=0).share(5) == 0.0
    line = found.at(0, 1)
    assert line is not None and line.cost_share == 0.25
    assert (line.host_ns, line.device_ns) == (138_000, 20_000)


@pytest.mark.parametrize(("short_us", "lines"), [(4, [1]), (5, [1, 2])])
def test_a_line_of_less_than_two_per_cent_is_left_out(short_us: float, lines: list[int]) -> None:
    """Line 2 is entered `short_us` before the end of a run of 238 µs; 2 % are 4.76."""
    trace = run([("work", 200), ("kernel", 7, 20), ("sync_all",)])
    found = profile(with_lines(trace, [(0, 1), (238 - short_us, 2)]))
    assert [each.line for each in found.lines] == lines


@pytest.mark.parametrize(
    ("cost", "gain", "kind"),
    [
        (0.099, 0.5, LineKind.COOL),
        (0.10, 0.03, LineKind.CRITICAL),
        (0.10, 0.029, LineKind.HIDDEN),
        (0.10, None, LineKind.UNKNOWN),
        (0.099, None, LineKind.COOL),
    ],
)
def test_what_is_said_of_a_line(cost: float, gain: float | None, kind: LineKind) -> None:
    assert _kind(cost, gain) == kind


@pytest.mark.parametrize(("idle_us", "late"), [(49, False), (50, True)])
@pytest.mark.parametrize("workers", [0, 2])
def test_batches_come_late_where_the_device_waits_for_them(idle_us: float, late: bool, workers: int) -> None:
    """Steps of 1 ms; what the training thread makes itself is its own work."""
    builder = TraceBuilder()
    for at in range(0, 10_000, 1000):
        builder.line(1, at).step(at, 1000).operator("aten::empty", at, 1).data_wait(at, idle_us, workers=workers)
        builder.line(2, at + idle_us).kernel("gemm", at + idle_us, 990 - idle_us, launch_at_us=at + idle_us - 6)
        builder.sync(at + idle_us, 1000 - idle_us)
    assert profile(builder.build()).late_batches is (late and workers > 0)
