"""A cell of 1 s: for half of it `jacrev` computes the Jacobian of 2000 residuals by 10 parameters."""

from dataclasses import replace

from gpuprof.model.context import Cell
from gpuprof.model.operands import Operand, Operands
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.cases.host.costly_call_per_item import MODEL, library
from tests.rules.expected import Expected
from tests.support.trace_builder import CELL_FILE, TraceBuilder

SOURCE = """def fit(theta):
    jacobian = jacrev(residuals)
    J = jacobian(theta)
    return J.T @ J, theta

fit(start)
model(start)
"""
EXPECTED = Expected(
    Severity.HIGH,
    "A full Jacobian takes 2,000 passes where 10 would do: 50 % of the cell",
    {"work_ms": 500, "work_share": 0.5, "inputs": 10, "outputs": 2000, "passes": 2000, "passes_needed": 10},
    lines=(3, 6),
    saving_share=0.4625,
    basis="estimate: the sampled time of the call",
    change="`torch.func.jacfwd(residuals)(theta)`",
)
TRANSFORMS, FUNCTIONAL = "torch/_functorch/eager_transforms.py", "torch/autograd/functional.py"
JACREV = library(TRANSFORMS, "jacrev.<locals>.wrapper_fn")
JACFWD = library(TRANSFORMS, "jacfwd.<locals>.wrapper_fn")
VMAP = library("torch/_functorch/vmap.py", "vmap_impl")
SIZES = {"theta": 10, "J": 20_000}


def computed(
    for_ms: float = 500,
    *below: tuple[str, str, int],
    source: str = SOURCE,
    line: int = 3,
    **sizes: int | tuple[int, int],
) -> Trace:
    """Of a second, in that function of torch, with tensors of so many elements."""
    builder = TraceBuilder().operator("aten::empty", 0, 0.5).operator("aten::mm", 980_000, 20_000)
    for part in range(10):
        at, length = part * 100_000 + 1, 100 * for_ms
        builder.stack(at, length, (CELL_FILE, "<module>", 6), (CELL_FILE, "fit", line), *(below or (JACREV, VMAP)))
        builder.stack(at + length, 100_000 - length, (CELL_FILE, "<module>", 7), MODEL)
    bounds = {name: size if isinstance(size, tuple) else (size, size) for name, size in (sizes or SIZES).items()}
    seen = tuple(
        Operand(
            file=CELL_FILE, first=1, last=4, name=name, kind="torch.Tensor", fewest_elements=few, most_elements=most
        )
        for name, (few, most) in bounds.items()
    )
    operands = Operands(looks=9, seen=seen)
    return builder.context(cell=Cell(source=source, filename=CELL_FILE), operands=operands).build()


def of_outputs(outputs: int) -> Trace:
    """By 10 parameters."""
    return computed(theta=10, J=10 * outputs)


def fires() -> Trace:
    return computed()


def stays_quiet() -> Trace:
    """Fewer than four passes for each that is needed."""
    return of_outputs(39)


def abstains() -> Trace:
    """No stack was sampled."""
    trace = computed()
    unsampled = {name: table.take([]) if name.startswith("stack_") else table for name, table in trace.tables.items()}
    return replace(trace, tables=unsampled)
