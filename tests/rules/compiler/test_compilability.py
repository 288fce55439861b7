"""Whether a diff with torch.compile is to be had at all."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Compiling, Environment
from gpuprof.rules.compiler.compilability import can_compile, graph_words, too_old_for_triton
from tests.support.trace_builder import TraceBuilder

LINUX = Environment(system="Linux-6.1-x86_64", python="3.12.1", torch="2.13.0+cu130")


def results(
    environment: Environment | None = LINUX, capability: tuple[int, int] | None = (8, 0), **context: Any
) -> Results:
    builder = TraceBuilder().device(0, "NVIDIA Test", compute_capability=capability)
    builder.context(environment=environment, **context).kernel("gemm", 10, 50, launch_at_us=0)
    return Results(builder.build())


def test_a_usual_machine_compiles() -> None:
    assert can_compile(results())


@pytest.mark.parametrize(
    "facts",
    [
        {"system": "Windows-11"},
        {"python": "3.14.0", "torch": "2.9.1"},
        {"python": "3.13.1", "torch": "2.5.1"},
        {"python": "3.15.0"},
        {"torch": ""},
        {"anomaly_mode": True},
    ],
)
def test_not_where_torch_cannot(facts: dict[str, Any]) -> None:
    assert not can_compile(results(msgspec.structs.replace(LINUX, **facts)))


def test_not_where_the_device_is_too_old_unknown_or_the_run_compiled_already() -> None:
    assert not can_compile(results(capability=(6, 1)))
    assert not can_compile(results(capability=None))
    assert not can_compile(results(None))
    assert not can_compile(results(compiling=Compiling(graphs=1)))
    region = TraceBuilder().device(0, compute_capability=(8, 0)).context(environment=LINUX).step(0, 100)
    region.span("Torch-Compiled Region: 0/0", 0, 60).kernel("triton_poi", 10, 50, launch_at_us=0)
    assert not can_compile(Results(region.build()))


def test_graphs_are_advised_by_what_the_run_has_and_its_device_can_have() -> None:
    assert graph_words(results()).startswith('`torch.compile(model, mode="reduce-overhead")` or CUDA graphs')
    assert graph_words(results(capability=None)).startswith("`torch.compile(model")
    assert too_old_for_triton(results(capability=(6, 1)))
    assert graph_words(results(capability=(6, 1))).startswith("CUDA graphs (`torch.cuda.make_graphed_callables`)")
    compiled = TraceBuilder().device(0, compute_capability=(8, 0)).span("Torch-Compiled Region: 0/0", 0, 100)
    compiled.kernel("triton_poi_fused_add", 10, 50, launch_at_us=0)
    assert graph_words(Results(compiled.build())).startswith('`mode="reduce-overhead"` in the call of `torch.compile`')
