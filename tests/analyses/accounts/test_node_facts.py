from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from gpuprof.analyses.accounts.node_facts import NodeFacts
from gpuprof.analyses.accounts.phase import PHASES, Phase
from gpuprof.analyses.basics.result import Results
from tests.analyses.accounts.cells import cell, line
from tests.analyses.accounts.test_sample_phases import CALL, STEP, libraries
from tests.support.trace_builder import TraceBuilder

__all__ = ["libraries"]  # a fixture
DECORATED = ("/lib/torch/utils/_contextlib.py", "context_decorator.<locals>.decorate_context", 3)


def test_the_caller_of_a_model_is_the_line_outside_of_it() -> None:
    builder = TraceBuilder().stack(0, 10, line(5), line(3, "predict"), CALL, ("/home/me/net.py", "Net.forward", 4))
    facts = Results(cell(builder)).get(NodeFacts)
    assert list(facts.caller) == [0, 1, 1, 1, -1]
    assert [None if each < 0 else PHASES[each] for each in facts.said] == [
        None,
        None,
        Phase.FORWARD,
        Phase.FORWARD,
        None,
    ]


@pytest.mark.parametrize(
    ("frames", "without"),
    [
        ((line(2), CALL), True),
        ((line(1), CALL), False),
        ((line(1), DECORATED, line(5, "predict")), True),
        ((line(1), STEP, DECORATED), True),
    ],
)
def test_gradients_are_off_in_blocks_and_decorated_functions(
    frames: tuple[tuple[str, str, int], ...], without: bool
) -> None:
    trace = cell(TraceBuilder().stack(0, 10, *frames), source="with torch.no_grad():\n    model(x)")
    assert Results(trace).get(NodeFacts).without[-2] == without


@pytest.mark.parametrize(
    ("frames", "said"),
    [
        # a closure's loss is none of the optimizer's work; what plots may write a file
        ((("/lib/torch/optim/lbfgs.py", "LBFGS.step", 3), ("/lib/torch/nn/modules/loss.py", "forward", 4)), Phase.LOSS),
        ((("/lib/matplotlib/pyplot.py", "savefig", 3), ("/lib/pickle.py", "dump", 4)), Phase.PLOTTING),
        ((CALL, ("/lib/torch/nn/modules/loss.py", "forward", 4)), Phase.LOSS),
    ],
)
def test_the_outermost_library_says_unless_it_calls_back(frames: tuple[tuple[str, str, int], ...], said: Phase) -> None:
    trace = cell(TraceBuilder().stack(0, 10, line(1), *frames))
    assert PHASES[Results(trace).get(NodeFacts).said[-2]] is said


@pytest.mark.parametrize("frame", [(DECORATED[0], "sign", 3), ("/lib/numpy/base.py", DECORATED[1], 3)])
def test_other_functions_and_other_decorators_keep_gradients(frame: tuple[str, str, int]) -> None:
    assert not Results(cell(TraceBuilder().stack(0, 10, line(1), frame))).get(NodeFacts).without.any()


def test_nodes_without_their_files_say_nothing() -> None:
    trace = cell(TraceBuilder().stack(0, 10, line(2), CALL), source="with torch.no_grad():\n    model(x)")
    unknown = replace(trace, context=msgspec.structs.replace(trace.context, stacks=None))
    facts = Results(unknown).get(NodeFacts)
    assert (facts.said.tolist(), facts.caller.tolist()) == ([-1] * 3, [-1] * 3)
    assert not facts.without.any()
