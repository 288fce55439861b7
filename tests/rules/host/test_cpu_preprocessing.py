"""Functions that keep the device waiting: how many of them are named."""

from __future__ import annotations

import pytest

from gpuprof.analyses.accounts.host_functions import HostFunctions
from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.registry import rule
from tests.support.trace_builder import TraceBuilder


def test_three_functions_are_named_the_longest_first() -> None:
    builder = TraceBuilder()
    for at in range(0, 40_000, 10_000):
        begun = at
        for name, for_us in (("one", 1800), ("two", 1500), ("three", 1300), ("four", 1200)):
            builder.frame(f"lib/{name}.py(9): {name}", begun, for_us)
            begun += for_us
        builder.operator("aten::mm", begun, 5).kernel("gemm", begun + 6, 4000, launch_at_us=begun)
        builder.sync(begun + 10, 4000)
    found = rule("cpu_preprocessing").check(Results(builder.build()))
    assert isinstance(found, Finding)
    named = str(found.evidence["functions"]).split(", ")
    assert [each.partition("(")[0] for each in named] == ["lib/one.py", "lib/two.py", "lib/three.py"]


def test_the_function_that_calls_them_is_named_with_all_that_it_calls() -> None:
    builder = TraceBuilder()
    for at in range(0, 40_000, 10_000):
        builder.frame("mine/main.py(1): <module>", at, 10_000).frame("lib/images.py(2): prepare", at, 3_600)
        for number, name in enumerate(("scale", "rotate")):
            builder.frame(f"lib/images.py(9): {name}", at + 10 + 1_790 * number, 1_780)
        builder.operator("aten::mm", at + 3_700, 5).kernel("gemm", at + 3_706, 6_000, launch_at_us=at + 3_700)
        builder.sync(at + 3_710, 6_000)
    # before the first operator nothing is recorded
    results = Results(builder.build())
    owner = results.get(HostFunctions).owner
    assert owner is not None and owner[0] == "lib/images.py(2): prepare" and abs(owner[1] - 10_800_000) < 50_000
    found = rule("cpu_preprocessing").check(results)
    assert (
        isinstance(found, Finding)
        and "Including what it calls, lib/images.py(2): prepare takes 10.8 ms." in found.explanation
    )


def paused(pause_us: float, *, frames: bool = False, inside: bool = False) -> TraceBuilder:
    """Five rounds of a concatenation, a pause, a product that the device computes for 20 ms, and a wait for it."""
    builder, at = TraceBuilder(), 0.0
    for _ in range(5):
        builder.operator("aten::cat", at, pause_us if inside else 10)
        if frames:
            builder.frame("torch/nn/modules/module.py(1): _call_impl", at + 10, pause_us - 20)
        begin = at + pause_us
        builder.operator("aten::mm", begin, 10).kernel("gemm", begin + 6, 20_000, launch_at_us=begin)
        builder.sync(begin + 20, 20_000)
        at = begin + 20_030
    return builder


def test_python_that_was_not_recorded_is_told_by_the_operators_around_it() -> None:
    results = Results(paused(15_000).build())
    found = rule("cpu_preprocessing").check(results)
    assert isinstance(found, Finding)
    assert found.title.endswith("43 % of the recorded time while the CPU runs Python that was not recorded")
    assert (found.evidence["pauses"], found.evidence["after"], found.evidence["before"]) == (5, "aten::cat", "aten::mm")
    assert "after `aten::cat` and before `aten::mm`" in found.change and "with_stack=True" in found.change
    # simulated without the pauses, the run is shorter by all of them
    assert found.saving is not None and abs(found.saving.most_share - 0.428) < 0.01


@pytest.mark.parametrize(
    "builder",
    [
        # shorter pauses are the pace of launching; with frames they have names, here torch's own; an operator ran
        paused(9_000),
        paused(15_000, frames=True),
        paused(15_000, inside=True),
    ],
)
def test_pauses_with_another_reason_are_not(builder: TraceBuilder) -> None:
    assert rule("cpu_preprocessing").check(Results(builder.build())) is None
