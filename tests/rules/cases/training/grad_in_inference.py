"""Four forward passes of five operators, each of which makes a node of the graph."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.LOW,
    "Every step records a graph for gradients, and no backward pass follows",
    {"graph_nodes_per_step": 4, "steps": 4},
    change="torch.inference_mode()",
)


def _passes(*, gradients: bool = True) -> TraceBuilder:
    builder, number = TraceBuilder(), 7
    for at in range(0, 4000, 1000):
        builder.step(at, 1000)
        for operator in range(5):
            builder.operator("aten::addmm", at + 100 * operator, 90, sequence=number if gradients else -1)
            number += 1
    return builder


def fires() -> Trace:
    return _passes().build()


def stays_quiet() -> Trace:
    """The same with one backward pass at the end."""
    return _passes().operator("autograd::engine::evaluate_function: AddmmBackward0", 3900, 50).build()


def abstains() -> Trace:
    """Kernels only."""
    return TraceBuilder().kernel("gemm", 0, 10).build()


def beside(evaluation_us: float = 300, *, last: bool = False) -> TraceBuilder:
    """Three steps of 1000 µs, each with an evaluation that makes five nodes before a forward and a backward pass."""
    builder, number = TraceBuilder(), 0
    for at in range(0, 3000, 1000):
        builder.step(at, 1000)
        for _ in range(5):
            builder.operator("aten::linear", at, evaluation_us / 5, sequence=number)
            at, number = at + evaluation_us / 5, number + 1
        builder.operator("aten::linear", at, 10, sequence=number)
        builder.operator("autograd::engine::evaluate_function: AddmmBackward0", at + 20, 10, sequence=number)
        number += 1
    for each in range(6 if last else 0):
        builder.operator("aten::linear", 3000 + 10 * each, 10, sequence=number + each)
    return builder.operator("aten::zeros", 2990, 10)
