"""Ten steps of 1 ms: three losses of one trunk of four layers, and a backward pass from each of them."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "Backward runs over the same graph again, for 20 % of the steps’ time",
    {"passes_that_repeat": 20, "runs_of_a_node": 3, "again_ms": 2.0, "again_share": 0.2},
    saving_share=0.2,
    change="go back once: `(loss_a + loss_b).backward()`",
)
NODE = "autograd::engine::evaluate_function: "
ACCUMULATE = "torch::autograd::AccumulateGrad"
LAYERS, PASSES = 4, 3


def steps(
    node_us: float, *, adds: bool = True, apart: bool = False, between: int = 1, launches: bool = False
) -> TraceBuilder:
    """`adds`: to the gradients of the pass before; `apart`: each loss has a graph of its own; `between`: operators."""
    builder = TraceBuilder()
    for step in range(10):
        builder.step(1000 * step, 1000)
        number = 100 * step
        for layer in range(LAYERS):
            builder.operator("aten::linear", 1000 * step + 5 * layer, 5, sequence=number + layer)
        for turn in range(PASSES):
            at = 1000 * step + 100 + 250 * turn
            for each in range(between):
                builder.operator("aten::ones_like", at - 3 * (between - each), 2)
            for layer in reversed(range(LAYERS)):
                sequence = number + layer + (10 * turn if apart else 0)
                builder.operator(f"{NODE}AddmmBackward0", at, node_us, sequence=sequence, forward_thread=1)
                builder.operator(f"{NODE}{ACCUMULATE}", at + node_us, 5).operator(ACCUMULATE, at + node_us + 1, 4)
                if adds and turn:
                    builder.operator("aten::add_", at + node_us + 2, 2)
                if launches:
                    builder.call("cudaLaunchKernel", at + 1, 1)
                at += node_us + 5
    return builder.operator("aten::linear", 9_990, 5)


def fires() -> Trace:
    return steps(20).build()


def stays_quiet() -> Trace:
    """The gradients of each pass are taken before the next one."""
    return steps(20, adds=False).build()


def abstains() -> Trace:
    """Launches, but no device events."""
    return steps(20, launches=True).build()
