"""A cell of 1 s: for 500 ms of it a model is evaluated after each of ten steps, and the last accuracy is printed."""

from gpuprof.model.context import Cell
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.cases.host.costly_call_per_item import MODEL
from tests.rules.expected import Expected
from tests.support.trace_builder import CELL_FILE, TraceBuilder

SOURCE = """import torch
def accuracy(net):
    net.eval()
    with torch.no_grad():
        hits = (net(points).argmax(1) == labels).sum().item()
    net.train()
    return hits

for x, y in batches:
    loss = train(x, y)
    score = accuracy(net)
print(score)
"""
SELDOM = """import torch
def spread(w):
    few = 3
    parts = [torch.linalg.svdvals(w + k) for k in range(few)]
    joined = torch.stack(parts)
    return joined

w, seen = torch.ones(5, 5), {}
for step in range(20):
    w = w * 1.1 + torch.eye(5)
    report = spread(w)
    w = w + 1
    if step % 5 == 0:
        seen[step] = report
y = [each for each in seen.values()]
"""
EXPECTED = Expected(
    Severity.HIGH,
    "`accuracy` runs in each iteration, but only its last result is read: 50 % of the cell",
    {"work_ms": 500, "work_share": 0.5, "seen": 10},
    lines=(11,),
    saving_share=0.45,
    basis="less that of the results that are read",
    change="Move line 11 after the loop in line 9.",
)


def steps(for_ms: float = 50, source: str = SOURCE) -> Trace:
    """Ten of 100 ms, of which line 11 takes `for_ms`, in the function that it calls."""
    builder = TraceBuilder().operator("aten::empty", 0, 0.5).operator("aten::mm", 980_000, 20_000)
    for part in range(10):
        at = part * 100_000 + 1
        called = ((CELL_FILE, "<module>", 11), (CELL_FILE, "accuracy", 5))
        builder.stack(at, 1000 * for_ms, *called, MODEL)
        builder.stack(at + 1000 * for_ms, 100_000 - 1000 * for_ms, (CELL_FILE, "<module>", 10), MODEL)
    return builder.context(cell=Cell(source=source, filename=CELL_FILE)).build()


def fires() -> Trace:
    return steps()


def seldom() -> Trace:
    """In a cell whose line 11 stands before a condition."""
    return steps(source=SELDOM)


def stays_quiet() -> Trace:
    """Each accuracy is printed."""
    return steps(source=SOURCE.replace("\nprint(score)", "\n    print(score)"))


def abstains() -> Trace:
    """Without samples of the stack."""
    cell = Cell(source=SOURCE, filename=CELL_FILE)
    return TraceBuilder().operator("aten::mm", 0, 5).context(cell=cell).build()
