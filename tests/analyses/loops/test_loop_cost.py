"""What a loop over slices takes."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loops.loop_cost import LoopCosts
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder

NODE = "autograd::engine::evaluate_function: {}"
GRADIENTS = ("MulBackward0", "SelectBackward0")


def _looping(turns: int, *, backward: bool = True) -> Trace:
    """Two steps of 1 ms: turns of a slice of 4 µs and a product of 6 µs, 10 µs apart; then their nodes, 8 µs each."""
    builder = TraceBuilder()
    for at in (0, 1000):
        builder.step(at, 1000)
        for turn in range(turns):
            begin, number = at + 20 * turn, at + 2 * turn
            builder.operator("aten::select", begin, 4, sequence=number)
            builder.operator("aten::mul", begin + 10, 6, sequence=number + 1)
        for place in range(2 * turns if backward else 0):
            name, begin = GRADIENTS[place % 2], at + 500 + 10 * place
            builder.operator(NODE.format(name), begin, 8, sequence=at + 2 * turns - 1 - place)
            builder.operator(name, begin + 1, 6, sequence=at + 2 * turns - 1 - place)
    return builder.operator("aten::mean", 1999, 1).build()


def test_it_takes_what_backward_does_for_it_as_well() -> None:
    (cost,) = Results(_looping(12)).get(LoopCosts).costs
    forward, backward = 11 * 20 + 16, 23 * 10 + 8
    assert cost.forward.total_ns == 2_000 * forward
    assert cost.backward.total_ns == 2_000 * backward
    assert cost.inside.total_ns == 2_000 * (forward + backward)


def test_of_operators_the_gradients_of_slices_do_not_count() -> None:
    trace = _looping(12)
    (cost,) = Results(trace).get(LoopCosts).costs
    assert cost.operators_ns() == 2_000 * 12 * (4 + 6 + 8)
    assert cost.operators_ns(beyond_ns=5_000) == 2_000 * 12 * (1 + 3)


@pytest.mark.parametrize("backward", [True, False])
def test_only_the_steps_are_judged(backward: bool) -> None:
    trace = _looping(12, backward=backward)
    shorter = TraceBuilder().step(0, 1000).build().steps
    results = Results(Trace(**{**vars(trace), "tables": {**trace.tables, "steps": shorter}}))
    (cost,) = results.get(LoopCosts).costs
    assert cost.inside.total_ns * 2 == cost.forward.total_ns + cost.backward.total_ns


def test_without_steps_or_slices_there_is_none() -> None:
    builder = TraceBuilder().step(0, 1000)
    for turn in range(12):
        builder.operator("aten::mm", 20 * turn, 5).operator("aten::relu", 20 * turn + 10, 5)
    assert Results(builder.build()).get(LoopCosts).costs == ()
    trace = _looping(12)
    none = TraceBuilder().build().steps
    assert Results(Trace(**{**vars(trace), "tables": {**trace.tables, "steps": none}})).get(LoopCosts).costs == ()


def test_every_shared_trace_is_read(any_shared_trace: Any) -> None:
    for cost in Results(any_shared_trace).get(LoopCosts).costs:
        assert cost.loop.slices
        assert 0 <= cost.operators_ns(5_000) <= cost.operators_ns()
