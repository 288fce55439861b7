from __future__ import annotations

import pytest
from msgspec import structs

from gpuprof.analyses.accounts.host_work import HostWork
from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Cell
from gpuprof.model.operands import Operand, Operands
from gpuprof.model.trace import Trace
from tests.rules.cases.host.costly_call_per_item import MODEL, calls, library
from tests.rules.cases.host.whole_collection_per_item import lookups
from tests.support.trace_builder import CELL_FILE, TraceBuilder


def work(trace: Trace) -> HostWork:
    return Results(trace).get(HostWork)


def test_a_line_of_plain_python_with_its_loops_and_names() -> None:
    found = work(lookups())
    (line,) = found.lines
    assert (line.line, line.function, line.own_share, line.first) == (2, "encode", 1.0, "")
    # its own comprehension, and the loop that calls it
    assert line.depth == 2 and not line.per_sample
    assert line.cell_lines == (2, 5)
    assert [each.name for each in line.operands] == ["words"]
    assert found.total_ns == 1_000_000_000 and abs(line.share - 0.5) < 1e-9


def test_torch_computing_is_no_host_work() -> None:
    assert all(line.line != 6 for line in work(lookups()).lines)


def test_the_library_below_a_line() -> None:
    (line,) = work(calls(300, library("pandas/core/indexing.py", "_iLoc.get"), library("pandas/x.py", "take"))).lines
    assert line.first == "pandas.core.indexing._iLoc.get" and line.own_share == 0
    assert line.below_share("pandas.x.") == 1.0 and line.below_share("numpy.") == 0.0


def test_time_in_operators_at_the_instant_of_a_look_is_torch_s() -> None:
    """Three of four looks at the line, in the recorded part, fall on an operator."""
    builder = TraceBuilder()
    for at in range(0, 8000, 100):
        builder.stack(at, 100, (CELL_FILE, "<module>", 2))
        if at % 400:
            builder.operator("aten::add", at, 50)
    trace = builder.context(cell=Cell(source="for i in range(9):\n    x = x[i] + 1\n", filename=CELL_FILE)).build()
    (line,) = work(trace).lines
    assert 0.2 < line.share < 0.3


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("x = torch.tensor(rows)[i]", True),
        ("x = weights[i]", False),
        ("x = torch.randn(9, i)", False),
        ("x = torch.tensor(rows)[j]", False),
        ("x = torch.FloatTensor(x)", True),
        ("y = torch.FloatTensor(x)", False),
        ("x = len(rows[i])", True),
        ("x = torch.tensor(unseen)[i]", False),
    ],
)
def test_a_line_that_reads_no_tensor_is_host_work_though_its_function_knows_some(text: str, known: bool) -> None:
    """Nothing of it was recorded, or one look that fell on an operator."""
    builder = TraceBuilder().operator("aten::index", 900, 10).operator("aten::mm", 2000, 10)
    builder.stack(0, 900, (CELL_FILE, "<module>", 2)).stack(900, 1100, (CELL_FILE, "<module>", 3))
    kinds = {"weights": "torch.Tensor", "x": "torch.Tensor", "rows": "builtins.list", "i": "numpy.ndarray"}
    kinds |= {f"torch.{name}": f"torch.Made.{name}" for name in ("tensor", "randn")} | {
        "torch.FloatTensor": "torch.tensortype"
    }
    seen = [
        Operand(file=CELL_FILE, first=1, last=3, name=name, kind=kind, callable=name.startswith("torch."))
        for name, kind in kinds.items()
    ]
    # most looks saw the tensor that the list is made to
    seen.append(Operand(file=CELL_FILE, first=1, last=3, name="x", kind="builtins.list", items="numpy.ndarray"))
    tensors = [each for each in seen if each.kind == "torch.Tensor"]
    seen = [structs.replace(each, looks=5) if each in tensors else each for each in seen]
    cell = Cell(source=f"import torch\n{text}\npass\n", filename=CELL_FILE)
    found = work(builder.context(cell=cell, operands=Operands(looks=1, seen=tuple(seen))).build())
    assert (2 in [each.line for each in found.lines]) is known


def test_what_a_loader_calls_is_per_sample_and_counts_as_loading() -> None:
    builder, loader = TraceBuilder(), library("torch/utils/data/dataloader.py", "__next__")
    builder.stack(0, 600, (CELL_FILE, "<module>", 4), loader, (CELL_FILE, "Set.__getitem__", 2))
    builder.stack(600, 200, (CELL_FILE, "<module>", 4), loader)
    builder.stack(800, 200, (CELL_FILE, "<module>", 5), MODEL)
    found = work(builder.context(cell=Cell(source="", filename=CELL_FILE)).build())
    assert found.lines[0].per_sample and found.lines[0].line == 2
    assert found.loading_ns == 800_000


def test_imports_are_told_apart() -> None:
    builder = TraceBuilder().stack(0, 700, (CELL_FILE, "<module>", 1), ("<frozen importlib._bootstrap>", "_load", 1))
    found = work(builder.stack(700, 300, (CELL_FILE, "<module>", 2)).build())
    assert (found.imports_ns, found.total_ns) == (700_000, 1_000_000)


def test_without_stacks_nothing_is_known() -> None:
    found = work(TraceBuilder().operator("aten::mm", 0, 10).build())
    assert found.lines == () and found.total_ns == 0 and not found.looked
