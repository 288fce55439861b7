"""Five steps of 1 ms without a device: twelve weights are trained, then averaged one by one."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

AVERAGE = ("aten::mul", "aten::add_")

EXPECTED = Expected(
    Severity.MEDIUM,
    "A Python loop over the weights takes 24 % of the steps’ time, beside training",
    {"loop_ms": 0.96, "turns_per_loop": 12, "weights": 12, "operators": "aten::mul, aten::add_"},
    saving_share=0.204 * 4 / 5,
    change="_foreach_lerp_",
)


def steps(
    names: tuple[str, ...],
    turns: int,
    *,
    of_us: float = 10,
    linked: bool = True,
    every: int = 1,
    before: tuple[str, ...] = (),
) -> Trace:
    """Each step: a product whose backward pass fills twelve gradients, the optimizer, what is to run `before`, each
    operator for 1 µs, and `turns` times `names`."""
    builder = TraceBuilder().operator("aten::empty", 0, 1)
    for number, at in enumerate(range(0, 5000, 1000)):
        sequence = number if linked else -1
        builder.step(at, 1000).operator("aten::linear", at + 100, 100, sequence=sequence)
        builder.operator("autograd::engine::evaluate_function: AddmmBackward0", at + 300, 100, sequence=sequence)
        for weight in range(12):
            builder.operator("torch::autograd::AccumulateGrad", at + 400 + weight * 5, 5)
        builder.optimizer_step("SGD", at + 500, 50)
        for place, name in enumerate(before):
            builder.operator(name, at + 560 + place, 1)
        for place in range(turns * len(names) if number % every == 0 else 0):
            builder.operator(names[place % len(names)], at + 600 + place * of_us, of_us)
    return builder.operator("aten::mean", 4999, 1).build()


def fires() -> Trace:
    return steps(AVERAGE, 12)


def stays_quiet() -> Trace:
    """Fewer turns than weights: a loop over something else."""
    return steps(AVERAGE, 9)


def abstains() -> Trace:
    return steps(AVERAGE, 12, linked=False)
