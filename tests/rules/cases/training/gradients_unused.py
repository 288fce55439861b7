"""Five steps of 1 ms: backward fills the two gradients that are trained, then goes on for ten more."""

from gpuprof.model.context import Optimizer
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.MEDIUM,
    "Backward fills 10 gradients that no optimizer uses",
    {"gradients_filled": 12, "weights_trained": 2, "beyond_ms": 1.0, "beyond_share": 0.2, "backward_passes": 5},
    saving_share=0.2,
    basis="nearest to the loss",
    change="requires_grad_(False)",
)


def steps(trained: int | None, filled: int = 12) -> Trace:
    """Gradients are filled every 20 µs from 400 µs on."""
    builder = TraceBuilder()
    if trained is not None:
        builder.context(optimizers=(Optimizer(name="SGD", parameters=trained, elements=100, steps=5),))
    for number, at in enumerate(range(0, 5000, 1000)):
        builder.step(at, 1000).operator("aten::linear", at, 100, sequence=number)
        builder.operator("autograd::engine::evaluate_function: AddmmBackward0", at + 380, 20, sequence=number)
        for weight in range(filled):
            builder.operator("torch::autograd::AccumulateGrad", at + 400 + 20 * weight, 20)
        builder.optimizer_step("SGD", at + 900, 50)
    return builder.operator("aten::empty", 4999, 1).build()


def fires() -> Trace:
    return steps(2)


def stays_quiet() -> Trace:
    """One gradient more may be that of an input."""
    return steps(11)


def abstains() -> Trace:
    return steps(None)
