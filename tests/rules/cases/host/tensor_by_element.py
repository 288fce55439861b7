"""Five steps of 1 ms without a device; each fills a table number by number."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

ACCESS = ("aten::lift_fresh", "aten::select", "aten::copy_")

EXPECTED = Expected(
    Severity.HIGH,
    "Tensors are written one number at a time for 50 % of the steps’ time",
    {"accesses_per_step": 125, "writes": 625, "reads": 0, "access_ms": 2.495, "access_share": 0.499},
    saving_share=0.474,
    basis="operators on whole tensors",
    change="torch.tensor(values)",
)


def filled(accesses: int, names: tuple[str, ...] = ACCESS, *, dims: str | None = None) -> Trace:
    """Each access takes 4 µs, a quarter of them Python's; `dims` are recorded of its last operator."""
    builder = TraceBuilder().operator("aten::zeros", 0, 1)
    for at in range(0, 5000, 1000):
        builder.step(at, 1000).operator("aten::linear", at + 20, 10)
        for access in range(accesses):
            for place, name in enumerate(names):
                last = place == len(names) - 1
                shown = {"dims": dims, "types": '["float", "float", "Scalar"]'} if last and dims else {}
                builder.operator(name, at + 100 + 4 * access + place * 3 / len(names), 3 / len(names), **shown)
    return builder.operator("aten::mean", 4999, 1).build()


def fires() -> Trace:
    return filled(125)


def stays_quiet() -> Trace:
    """One access fewer than a hundred."""
    return filled(99)


def abstains() -> Trace:
    """What is copied to a slice may be a row: neither shapes nor a number of Python's say."""
    return filled(125, ("aten::select", "aten::copy_"))
