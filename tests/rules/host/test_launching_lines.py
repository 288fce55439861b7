"""Lines that launch much and give the device little to do."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import FollowedLines, SourceFile
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.registry import rule
from tests.support.trace_builder import CELL_FILE, TraceBuilder


@pytest.mark.parametrize(("runs_a_step", "told"), [(20, True), (5, False)])
def test_lines_that_launch_much_for_little_work_are_named(runs_a_step: int, told: bool) -> None:
    """GIVEN ten steps: line 4 runs many times for kernels of 1 µs, line 7 launches a tenth of them, of 60 µs each."""
    followed = FollowedLines(how="monitoring", start_ns=0, end_ns=10_000_000, files=(SourceFile(filename=CELL_FILE),))
    builder = TraceBuilder().device().operator("aten::linear", 0, 10_000)
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000)
        for number in range(20):
            begin = at + number * 40
            if number % (20 // runs_a_step) == 0:
                builder.line(4, begin)
            builder.kernel("clip", begin + 6, 1, launch_at_us=begin + 1, launch_for_us=3)
        builder.line(7, at + 800)
        for number in range(2):
            begin = at + 810 + number * 90
            builder.kernel("gemm", begin + 6, 60, launch_at_us=begin, launch_for_us=3)
    found = rule("launch_bound").check(Results(builder.context(lines=followed).sync(9990, 5).build()))
    assert isinstance(found, Finding)
    assert ("91 % of the launches come from line 4, for 14 % of the device’s work." in found.explanation) is told
    assert found.change.startswith("First, launch less in line 4, which runs many times in a step") is told
