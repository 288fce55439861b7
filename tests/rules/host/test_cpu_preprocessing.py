"""Functions that keep the device waiting: how many of them are named."""

from __future__ import annotations

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
