from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest
import torch

from gpuprof.analyses.basics.compile_events import CompileEvents
from gpuprof.analyses.basics.result import Results
from gpuprof.capture.profiler.compiling import CompileCounters
from gpuprof.capture.session.session import Session
from gpuprof.ingest.load import load_trace


@pytest.fixture
def broken() -> Iterator[Callable[[torch.Tensor], torch.Tensor]]:
    """A compiled function with a break in it, for one shape at a time."""

    @torch.compile(backend="eager", dynamic=False)
    def double(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        print("", end="")  # noqa: T201  - breaks the graph
        return y + 1

    yield double
    torch._dynamo.reset()


def test_breaks_and_recompiles_of_a_cell_are_found(
    new_session: Callable[..., Session], broken: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    """GIVEN six steps, of which the first and the last three bring a shape of their own."""
    weight = torch.nn.Parameter(torch.ones(3))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    session = new_session()
    session.start()
    for rows in (2, 2, 2, 3, 4, 5):
        broken(torch.ones(rows, 3))
        optimizer.step()
    captured = session.stop()
    compiling = captured.context.compiling
    assert captured.folder is not None and compiling is not None
    assert compiling.graphs == 8
    assert sum(each.times for each in compiling.breaks) == 4
    assert "print" in compiling.breaks[0].reason and "\n" not in compiling.breaks[0].reason
    events = Results(load_trace(captured.folder)).get(CompileEvents)
    assert events.pieces_per_step == 2
    assert events.variants == 4
    assert events.steps_with == 3
    assert 0 < events.compiles.total_ns <= events.within.total_ns


def test_counters_that_were_cleared_meanwhile_count_from_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    module = SimpleNamespace(counters={"graph_break": Counter(print=5, item=1)})
    monkeypatch.setitem(sys.modules, "torch._dynamo.utils", module)
    counters = CompileCounters()
    counters.begin()
    module.counters = {"graph_break": Counter(print=2, item=1)}
    facts = counters.facts()
    assert facts is not None
    assert [(each.reason, each.times) for each in facts.breaks] == [("print", 2)]
    assert facts.earlier_breaks == 6


def test_without_torch_compile_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch._dynamo.utils", raising=False)
    counters = CompileCounters()
    counters.begin()
    assert counters.facts() is None
