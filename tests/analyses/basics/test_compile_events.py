"""torch.compile's marks in a profile."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.compile_events import CompileEvents
from gpuprof.analyses.basics.result import Results
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder


@pytest.mark.parametrize(
    "name",
    [
        "_compile.<locals>.compile_inner (dynamo_timed)",
        "_compile.compile_inner (dynamo_timed)",
        "entire_backward_compile (dynamo_timed)",
    ],
)
def test_compiling_is_recognised_whatever_torch_calls_it(name: str) -> None:
    builder = TraceBuilder()
    for at in (0, 100, 200):
        builder.step(at, 100).span(name, at + 10, 30).operator("build_guards (dynamo_timed)", at + 20, 5)
    events = Results(builder.build()).get(CompileEvents)
    assert (events.steps, events.steps_with, events.count) == (1, 1, 1)
    assert (events.compiles.total_ns, events.everywhere_ns) == (30_000, 90_000)


def test_pieces_are_counted_by_step_and_versions_by_piece() -> None:
    builder = TraceBuilder().step(0, 100).step(100, 100)
    for at, region in ((10, "0/0"), (20, "1/0"), (30, "1/0"), (110, "0/1"), (120, "1/1"), (130, "0/2")):
        builder.operator(f"Torch-Compiled Region: {region}", at, 5)
    events = Results(builder.build()).get(CompileEvents)
    assert (events.pieces_per_step, events.variants) == (2, 3)


def test_a_run_without_compiling(empty_trace: Trace) -> None:
    events = Results(empty_trace).get(CompileEvents)
    assert (events.everywhere_ns, events.pieces_per_step, events.variants) == (0, None, 0)
