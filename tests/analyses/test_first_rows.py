"""What stands in the first row or has the first name counts as well; sizes, orders and phases in figures."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.basics.tensor_inputs import TensorInput, inputs_of, read_inputs, shapes_of, values_of
from gpuprof.analyses.kernels.kernel_origins import KernelOrigins, KernelPhase
from gpuprof.analyses.memory.memory_composition import MemoryComposition
from gpuprof.analyses.run.operators import Operators
from gpuprof.analyses.training.optimizer_steps import OptimizerSteps
from gpuprof.model.memory import Composition, ModuleBytes
from gpuprof.model.trace import Trace
from tests.rules.memory.memory_runs import allocator, run
from tests.support.trace_builder import TraceBuilder


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        ("float", 4), ("double", 8), ("c10::Half", 2), ("c10::BFloat16", 2), ("int", 4), ("long", 8), ("long int", 8),
        ("bool", 1), ("signed char", 1), ("unsigned char", 1), ("c10::Float8_e4m3fn", 1), ("c10::Float8_e5m2", 1),
        ("", None),
    ],
)  # fmt: skip
def test_what_an_element_takes(kind: str, size: int | None) -> None:
    assert TensorInput((2, 3), kind).element_bytes == size
    assert TensorInput((2, 3), kind).elements == 6 and TensorInput((), kind).elements == 1


def given(first: str) -> Trace:
    """The text is the first name of the trace."""
    builder = TraceBuilder()
    builder._name(first)
    keys = {"[": "dims"} if first.startswith("[[") else {"[": "values"}
    return builder.operator("aten::cat", 0, 5, **{keys["["]: first}).build()


def test_the_first_name_is_read_like_any_other() -> None:
    shapes = "[[[2, 3], [4, 3]], [], [5]]"
    assert shapes_of(given(shapes), 0) == ((2, 3), (4, 3), (5,))
    assert [each.dims for each in inputs_of(given("[[2, 3], []]"), 0)] == [(2, 3), ()]
    assert values_of(given('["", "1", 7]'), 0) == ("", "1", "")
    bare = TraceBuilder().operator("aten::cat", 0, 5).build()
    assert (shapes_of(bare, 0), inputs_of(bare, 0), values_of(bare, 0)) == ((), (), ())
    assert read_inputs("no list") == ()


def test_a_kernel_of_the_first_launch_and_of_none() -> None:
    """The first call, without an operator, launches forward work; nobody knows who launched the last kernel."""
    builder = TraceBuilder().kernel("a", 10, 5, launch_at_us=0).optimizer_step("SGD", 20, 30)
    builder.kernel("b", 40, 5, launch_at_us=30).kernel("c", 60, 5)
    origins = Results(builder.build()).get(KernelOrigins)
    assert origins.phase.tolist() == [KernelPhase.FORWARD, KernelPhase.OPTIMIZER, KernelPhase.UNKNOWN]


def test_operators_by_phase_and_by_themselves() -> None:
    """On the main thread 100 µs of forward, in which 40 belong to another operator, 20 of the optimizer's; on another
    thread 60 of backward and 500 of something else."""
    builder = TraceBuilder().thread("main").operator("aten::linear", 0, 100).operator("aten::addmm", 10, 40)
    builder.optimizer_step("SGD", 200, 30).operator("aten::add_", 205, 20)
    builder.thread("autograd").operator("autograd::engine::evaluate_function: AddmmBackward0", 110, 60)
    builder.thread("other").operator("aten::sort", 0, 500)
    found = Results(builder.build()).get(Operators)
    assert (found.forward_ns, found.optimizer_ns, found.backward_ns) == (100_000, 20_000, 0)
    assert {use.name: use.self_ns // 1000 for use in found.uses if use.name.startswith("aten::")} == {
        "aten::sort": 500, "aten::linear": 60, "aten::addmm": 40, "aten::add_": 20,
    }  # fmt: skip


def test_the_costliest_optimizer_comes_first() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 1000)
    for name, long in (("Adam", 20), ("SGD", 90), ("AdamW", 50)):
        builder.optimizer_step(name, long * 10, long)
    assert [use.name for use in Results(builder.build()).get(OptimizerSteps).uses] == ["SGD", "AdamW", "Adam"]


def test_modules_are_told_where_they_were_weighed() -> None:
    modules = (ModuleBytes(name="net.head"),)
    weighed = run(allocators=(allocator(10, 12),), compositions=(Composition(device="cuda:0", modules=modules),))
    (parts,) = Results(weighed.build()).get(MemoryComposition).parts
    assert parts.modules == modules and not parts.same_instant
    (bare,) = Results(run(allocators=(allocator(10, 12),)).build()).get(MemoryComposition).parts
    assert bare.modules == () and bare.unused_reserved_bytes == 2 << 30
    host = (
        TraceBuilder().operator("aten::mm", 0, 10).context(compositions=(Composition(device="cpu", modules=modules),))
    )
    (parts,) = Results(host.build()).get(MemoryComposition).parts
    assert parts.modules == modules and parts.device is None and parts.same_instant is False
