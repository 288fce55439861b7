"""Steps where there are any, else the iterations of the outermost loop."""

from __future__ import annotations

import numpy as np

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loops.repeats import Repeats
from tests.analyses.loops.test_iterations import tokens
from tests.support.trace_builder import TraceBuilder


def test_steps_are_taken_as_they_are() -> None:
    trace = tokens().step(0, 1000).step(1000, 1000).build()
    found = Results(trace).get(Repeats)
    assert (found.count, found.noun, found.each, found.within.total_ns) == (2, "step", "a step", 2_000_000)
    assert np.array_equal(found.number(trace, trace.operators), trace.operators["step"])


def test_without_steps_iterations_stand_for_them() -> None:
    trace = tokens().build()
    found, operators = Results(trace).get(Repeats), trace.operators
    assert (found.count, found.noun, found.each) == (20, "iteration", "an iteration")
    assert found.within.total_ns == 1_985_000 and found.steady.all()
    # each token runs six operators; what stands before and behind the loop belongs to none
    number = found.number(trace, operators)[np.argsort(operators["start_ns"])]
    assert number.tolist() == [-1, *(each for each in range(20) for _ in range(6)), -1]


def test_what_a_call_issued_belongs_where_the_call_is() -> None:
    # GIVEN a kernel that runs in the second token, launched in the first
    trace = tokens().kernel("gemm", 150, 10, launch_at_us=60).build()
    assert Results(trace).get(Repeats).number(trace, trace.device_events).tolist() == [0]


def test_iterations_that_go_backward_are_steps_of_training() -> None:
    builder = TraceBuilder()
    for turn in range(20):
        for place, name in enumerate(("aten::embedding", "aten::linear", "AddmmBackward0", "aten::sub_", "aten::item")):
            builder.operator(name, 100 * turn + 15 * place, 10, sequence=2 * turn if place in (1, 2) else -1)
    found = Results(builder.build()).get(Repeats)
    assert (found.count, found.noun, found.each) == (20, "step", "a step") and found.iterations is not None


def test_where_neither_is_known_there_are_none() -> None:
    trace = TraceBuilder().operator("aten::mm", 0, 10).build()
    found = Results(trace).get(Repeats)
    assert (found.count, found.within.total_ns, found.noun) == (0, 0, "step")
    assert found.number(trace, trace.operators).tolist() == [-1]
