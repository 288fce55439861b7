"""A cell of 1 s: for half of it `copy.deepcopy` copies a game for each move."""

import sysconfig
from dataclasses import replace

from msgspec import structs

from gpuprof.model.context import Cell
from gpuprof.model.operands import Operand, Operands
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import CELL_FILE, TraceBuilder

SOURCE = """for game in games:
    for move in game.moves():
        after = copy.deepcopy(game)
        after.play(move)
        model(after.board)
"""
EXPECTED = Expected(
    Severity.HIGH,
    "`copy.deepcopy` copies objects for each item: 50 % of the cell",
    {"work_ms": 500, "work_share": 0.5, "operation": "copy.deepcopy", "loops": 2},
    lines=(3,),
    saving_share=0.5,
    basis="upper bound: none of this work",
    change="Copy only what changes",
)


def library(path: str, function: str) -> tuple[str, str, int]:
    """A frame of a library's function; `path` from the package on."""
    return f"{sysconfig.get_paths()['purelib']}/{path}", function, 1


DEEPCOPY = library("copy.py", "deepcopy")
MODEL = library("torch/nn/modules/module.py", "Module._call_impl")


def calls(for_ms: float = 500, *below: tuple[str, str, int], source: str = SOURCE, line: int = 3) -> Trace:
    """Of a second, in that function of a library."""
    builder = TraceBuilder().operator("aten::empty", 0, 0.5).operator("aten::mm", 980_000, 20_000)
    for part in range(10):
        at = part * 100_000 + 1
        builder.stack(at, 100 * for_ms, (CELL_FILE, "<module>", line), *(below or (DEEPCOPY,)))
        builder.stack(at + 100 * for_ms, 100_000 - 100 * for_ms, (CELL_FILE, "<module>", 5), MODEL)
    return builder.context(cell=Cell(source=source, filename=CELL_FILE)).build()


def arrays(for_ms: float) -> Trace:
    """Of a second, in reading a list of arrays."""
    source = SOURCE.replace("copy.deepcopy(game)", "torch.tensor(rows)")
    seen = Operand(file=CELL_FILE, first=1, last=5, name="rows", kind="builtins.list", looks=9, items="numpy.ndarray")
    trace = calls(for_ms, (CELL_FILE, "<module>", 3), source=source)
    return replace(trace, context=structs.replace(trace.context, operands=Operands(looks=9, seen=(seen,))))


def lists_of_arrays() -> Trace:
    """For half of it torch reads a list of arrays, number by number."""
    return arrays(500)


def fires() -> Trace:
    return calls()


def stays_quiet() -> Trace:
    """Once, before the loop."""
    return calls(source=f"first = 0\nsecond = 1\nthird = copy.deepcopy(game)\n{SOURCE}")


def abstains() -> Trace:
    """No stack was sampled."""
    trace = calls()
    unsampled = {name: table.take([]) if name.startswith("stack_") else table for name, table in trace.tables.items()}
    return replace(trace, tables=unsampled)
