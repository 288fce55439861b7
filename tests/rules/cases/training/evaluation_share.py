"""40 training steps of 10 ms, and after every fourth of them an evaluation of 30 ms: ten in a cell of 700 ms."""

from dataclasses import replace

from msgspec import structs

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.analyses.accounts.cells import cell, line
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

SOURCE = """for epoch in range(10):
    for x, y in batches():
        step(x, y)
    validate()

def validate():
    with torch.no_grad():
        return loss_of(model, held_out)
"""
EXPECTED = Expected(
    Severity.LOW,
    "Evaluation takes 43 % of the cell",
    {"evaluation_share": 0.4286, "evaluation_ms": 300, "evaluations": 10, "optimizer_steps": 40},
    lines=(8,),
    change="Evaluate less often",
)
EPOCHS, STEPS = 10, 4


def training(
    evaluation_ms: float = 30,
    step_ms: float = 10,
    *,
    set_up_ms: float = 0,
    epochs: int = EPOCHS,
    steps: int = STEPS,
) -> Trace:
    builder, at, ends = TraceBuilder(), 0.0, [0.0]
    if set_up_ms:
        builder.stack(0, 1000 * set_up_ms, line(1))
        at, ends = set_up_ms, [set_up_ms]
    for _ in range(epochs):
        for _ in range(steps):
            builder.stack(1000 * at, 1000 * step_ms, line(3))
            at += step_ms
            ends.append(at)
        if evaluation_ms:
            builder.stack(1000 * at, 1000 * evaluation_ms, line(4), line(8, "validate"))
            at += evaluation_ms
    builder.operator("aten::mm", 0, 1000 * at)
    return cell(builder, ends_ms=tuple(ends), source=SOURCE)


def fires() -> Trace:
    return training()


def stays_quiet() -> Trace:
    return training(evaluation_ms=17)


def abstains() -> Trace:
    """No stack was sampled."""
    trace = training()
    unsampled = {name: table.take([]) if name.startswith("stack_") else table for name, table in trace.tables.items()}
    return replace(trace, context=structs.replace(trace.context, stacks=None), tables=unsampled)
