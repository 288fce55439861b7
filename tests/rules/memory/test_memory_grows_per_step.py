"""Slow growth that matters because its cause is seen: a name that holds a graph of each step."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Cell, Optimizer
from gpuprof.model.memory import HeldTensors
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.registry import rule
from tests.support.trace_builder import TraceBuilder

MIB = 1 << 20
SOURCE = "shown = []\nfor step in range(200):\n    play()\n    shown.append(generator(fixed)[:4])\n"


def run(*, steps_left: int, graphs: int, device: str = "cpu", source: str = SOURCE) -> Trace:
    """Twelve recorded steps of 200 leave 1 MiB each on a host with room for `steps_left` more."""
    builder = TraceBuilder().operator("aten::mm", 0, 10)
    live = 0
    for number in range(12):
        builder.step(number * 100, 100)
        for at, target in ((10, number * MIB), (50, number * MIB + 500), (90, number * MIB)):
            builder.memory(number * 100 + at, target - live, device=None)
            live = target
    held = HeldTensors(name="shown", kind="global", device=device, bytes=MIB, tensors=graphs, graphs=graphs)
    builder.context(
        cell=Cell(source=source),
        held=(held,),
        host_start={"available_bytes": steps_left * MIB},
        optimizers=(Optimizer(name="SGD", parameters=4, elements=9, device="cpu", steps=200),),
    )
    return builder.build()


def check(trace: Trace) -> Finding | None:
    answer = rule("memory_grows_per_step").check(Results(trace))
    assert answer is None or isinstance(answer, Finding)
    return answer


@pytest.mark.parametrize(
    ("steps_left", "graphs", "severity"),
    [
        (100_000, 200, Severity.MEDIUM),
        (100_001, 200, None),
        (10_001, 179, None),
        (10_000, 2, Severity.MEDIUM),
        (1_000, 200, Severity.HIGH),
    ],
)
def test_a_graph_of_each_step_matters_ten_times_as_early(
    steps_left: int, graphs: int, severity: Severity | None
) -> None:
    found = check(run(steps_left=steps_left, graphs=graphs))
    assert (found.severity if found else None) == severity


def test_what_holds_them_and_the_line_that_fills_it_are_named() -> None:
    found = check(run(steps_left=50_000, graphs=200))
    assert found is not None
    assert found.where.lines == (4,)
    assert "`shown` (200)" in found.explanation
    assert "into `shown`: `.detach()`" in found.change and "`.clone()`" in found.change
    assert found.diff is None


def test_graphs_in_other_memory_than_the_one_that_grows_explain_nothing() -> None:
    assert check(run(steps_left=50_000, graphs=200, device="cuda:0")) is None
