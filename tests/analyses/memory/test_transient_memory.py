"""Memory that comes and goes in the lines of a broadcast."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.transient_memory import BroadcastMemory, TransientMemory
from tests.rules.cases.memory.broadcast_then_reduced import MIB, SOURCE, processed
from tests.support.trace_builder import TraceBuilder


def found(builder: TraceBuilder) -> BroadcastMemory | None:
    return Results(builder.build()).get(TransientMemory).found


def test_what_is_held_between_two_turns() -> None:
    memory = found(processed(1000))
    assert memory is not None and memory.broadcast.lines == (2, 3)
    assert (memory.peak_bytes, memory.low_bytes, memory.comes_and_goes_bytes) == (1000 * MIB, 400 * MIB, 600 * MIB)


def test_what_the_rest_of_the_cell_needs_is_not_saved() -> None:
    builder = processed(1000)
    for tenth in range(10):
        builder.stack((5000 + 100 * tenth) * 1000, 100_000, ("cell", "<module>", 7))
        builder.host_sample((5050 + 100 * tenth) * 1000, resident_bytes=900 * MIB)
    trace = builder.build()
    window = msgspec.structs.replace(trace.context.window or msgspec.UNSET, cell_end_ns=6 * 10**9)
    trace = replace(trace, context=msgspec.structs.replace(trace.context, window=window))
    memory = Results(trace).get(TransientMemory).found
    assert memory is not None and memory.low_bytes == 900 * MIB


def test_a_peak_in_another_line() -> None:
    assert found(processed(1000, source=SOURCE.replace("diff.pow(2).sum(-1).sqrt()", "diff"))) is None
    assert found(processed(1000, source="\n" * 9 + SOURCE)) is None


def test_too_few_readings() -> None:
    assert found(processed(1000, seconds=0)) is None


def test_without_stacks_it_is_not_known() -> None:
    trace = processed().build()
    bare = replace(trace, context=msgspec.structs.replace(trace.context, stacks=None))
    assert not Results(bare).get(TransientMemory).known
    other = msgspec.structs.replace(bare.context, cell=None)
    assert Results(replace(bare, context=other)).get(TransientMemory).known
