"""Memory of the process that is highest within one call of the user's, and is given back when that call returns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Self

import numpy as np

from gpuprof.analyses.accounts.cell_memory import CellMemory, resident_readings
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.analyses.loops.written_loops import notebook_sources, written_loops
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace
from gpuprof.units import NS_PER_S

_FEWEST_READINGS = 2
_MOST_LEVELS = 8
# of the readings while it comes and goes: the lowest may be from before it was first made
_LOW = 0.1
# of the peak, that a line has to give back when it is left
_LEAST_SHARE = 0.2
# a step that takes so many times as long as the median one has something else in it
_LONG_STEP = 5.0
_OWN = ("cell", "notebook")
# loops over parts of something; of other loops turns of a good part of a second are seen
_PIECES = re.compile(r"split|chunk|batch|loader|range\(.*,.*,|array_split|[^\w]zip\(", re.IGNORECASE)
_FEW_TURNS = re.compile(r"range\(\s*(?:[1-9]|[12]\d|\w*(?:epoch|round|seed|fold|stage|phase)\w*)\s*\)", re.IGNORECASE)
_FEWEST_TURNS = 3
_BACKWARD = frozenset(("Tensor.backward", "backward"))
# of the time of the line, that is in such functions of libraries
_MOSTLY = 0.5
_READERS = ("pandas/io/", "json/", "csv", "pyarrow/", "polars/io/")
_ESTIMATORS = ("sklearn/", "xgboost/", "lightgbm/", "catboost/", "statsmodels/", "imblearn/", "umap/", "hdbscan/")
_SOLVERS = ("numpy/linalg/", "scipy/linalg/", "scipy/sparse/linalg/")
_TABLES = ("pandas/", "numpy/")
_ORDERING = ("sort", "argsort", "lexsort", "merge")
_STATEMENT = re.compile(r"\s*(?:async\s+)?(?:for|while)\b")


class WholeCall(Enum):
    """Work of a library that needs all rows at the same time, or cannot be called for some of them."""

    READING = "reading"
    FITTING = "fitting"
    FACTORING = "factoring"
    ORDERING = "ordering"


@dataclass(frozen=True)
class UserFrame:
    """A line of the notebook's that was running. `file`: as it was sampled; `count`: the cell's number."""

    file: str
    is_cell: bool
    count: int | None
    function: str
    line: int


@dataclass(frozen=True)
class GivenBack(Result):
    """The process held `peak_bytes` at most, within `calls`: the line that gives the memory back when it is done, then
    the lines inside of it, outer ones first; `callers` led to it, outer ones first. Without it the process held
    `low_bytes` at most. It ran `turns` times, as far as ten readings a second tell.

    `in_steps`: the peak is in a usual step of a loop that trains, or in a backward pass. `in_pieces`: one of the loops
    around it goes over parts of something, by the text, or may do so; or the lines inside of it are in a loop, which
    may collect results.

    `work`: what libraries did in most of the time of that line, as far as it is of such a kind.

    All is 0 or empty where no line gives a good part of the peak back, or where readings or stacks are too few; `known`
    is False where there are no stacks.
    """

    peak_bytes: int = 0
    low_bytes: int = 0
    calls: tuple[UserFrame, ...] = ()
    callers: tuple[UserFrame, ...] = ()
    turns: int = 0
    in_steps: bool = False
    in_pieces: bool = False
    known: bool = True
    work: WholeCall | None = None

    @property
    def given_back_bytes(self) -> int:
        """What comes and goes with these lines."""
        return max(self.peak_bytes - self.low_bytes, 0) if self.calls else 0

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the readings of the process and the stacks at these times."""
        time, held = resident_readings(trace)
        if results.get(CellMemory).rest_bytes is not None:
            # recording took memory, too: what it did to this is not known
            time, held = _unrecorded(trace, time, held)
        if not len(held):
            return cls()
        stretches, stacks = results.get(Stretches), trace.context.stacks
        if stacks is None or not stretches.total_ns:
            return cls(known=False)
        order = np.argsort(stretches.start_ns, kind="stable")
        starts, node = stretches.start_ns[order], stretches.node[order]
        at = np.maximum(np.searchsorted(starts, time, side="right") - 1, 0)
        highest = int(held.argmax())
        path = _path(trace, int(node[at[highest]]))
        for level, row in enumerate(path[:_MOST_LEVELS]):
            within = _below(trace, row)
            low = _low(held, within[node[at]])
            if low is not None and held[highest] - low >= _LEAST_SHARE * held[highest]:
                calls = tuple(_frame(trace, each) for each in path[level::-1])
                callers = tuple(_frame(trace, each) for each in path[:level:-1])
                turns = int(np.count_nonzero(np.diff(within[node[at]].astype(np.int8), prepend=0) > 0))
                in_steps = _is_in_steps(trace, int(time[highest])) or _is_backward(trace, int(node[at[highest]]))
                in_pieces = _is_in_pieces(trace, (*callers, calls[0]), turns) or _is_in_loop(trace, calls[1:])
                work = _work(trace, within, node, stretches.duration_ns[order])
                return cls(int(held[highest]), low, calls, callers, turns, in_steps, in_pieces, work=work)
        return cls(int(held[highest]))


def _path(trace: Trace, node: int) -> list[int]:
    """Rows of the stack's nodes with lines of the notebook's, the innermost first."""
    stacks, nodes = trace.context.stacks, trace.stack_nodes
    found = []
    while node >= 0 and stacks is not None:
        if stacks.files[nodes["sampled_file"][node]].kind in _OWN and nodes["line"][node] > 0:
            found.append(node)
        node = int(nodes["parent"][node])
    return found


def _below(trace: Trace, row: int) -> Array:
    """Of each node whether it has a frame with that function and line, called from anywhere; of shape (nodes + 1,)."""
    nodes = trace.stack_nodes
    parent = nodes["parent"].tolist()
    same = nodes["line"] == nodes["line"][row]
    for name in ("sampled_file", "function"):
        same &= nodes[name] == nodes[name][row]
    found = np.append(same, False)
    for each, above in enumerate(parent):
        found[each] |= above >= 0 and found[above]
    return found


def _work(trace: Trace, within: Array, node: Array, lasted: Array) -> WholeCall | None:
    """What most of the time within these nodes is in: by the outermost function of a library that tells."""
    nodes, kinds = trace.stack_nodes, list[WholeCall | None]()
    parts = zip(*(nodes[name].tolist() for name in ("parent", "sampled_file", "function")), within, strict=False)
    for above, file, function, inside in parts:
        outer = kinds[above] if above >= 0 else None
        kinds.append(outer or (_kind(trace, file, function) if inside else None))
    spent = dict.fromkeys(WholeCall, 0)
    for row, ns in zip(node.tolist(), lasted.tolist(), strict=True):
        if row >= 0 and (kind := kinds[row]) is not None:
            spent[kind] += ns
    most = max(spent, key=lambda each: spent[each])
    return most if spent[most] > _MOSTLY * int(lasted[within[node]].sum()) else None


def _kind(trace: Trace, file: int, function: int) -> WholeCall | None:
    stacks = trace.context.stacks
    if stacks is None or stacks.files[file].kind != "library":
        return None
    path, name = stacks.files[file].filename.replace("\\", "/"), stacks.functions[function].rpartition(".")[2]
    if path.startswith(_READERS):
        return WholeCall.READING
    if path.startswith(_ESTIMATORS) and (name.startswith("fit") or name == "train"):
        return WholeCall.FITTING
    if path.startswith(_SOLVERS):
        return WholeCall.FACTORING
    return WholeCall.ORDERING if path.startswith(_TABLES) and name.startswith(_ORDERING) else None


def _low(held: Array, inside: Array) -> int | None:
    """The most that is held without it: between two turns of it, before and after."""
    rows = np.flatnonzero(inside)
    # without a reading after the highest one nobody saw that it is given back
    if len(rows) < _FEWEST_READINGS or inside[int(held.argmax()) :].all():
        return None
    between = held[rows[0] : rows[-1] + 1][~inside[rows[0] : rows[-1] + 1]]
    outside = [held[: rows[0]].max(initial=0), held[rows[-1] + 1 :].max(initial=0)]
    # a reading just after a turn may see what is being given back
    return int(max(*outside, held.min(), float(np.quantile(between, 1 - _LOW)) if len(between) else 0.0))


def _frame(trace: Trace, row: int) -> UserFrame:
    stacks, nodes = trace.context.stacks, trace.stack_nodes
    assert stacks is not None
    file = trace.context.described(stacks.files[nodes["sampled_file"][row]])
    function = stacks.functions[nodes["function"][row]]
    return UserFrame(file.filename, file.kind == "cell", file.execution_count, function, int(nodes["line"][row]))


def _unrecorded(trace: Trace, time: Array, held: Array) -> tuple[Array, Array]:
    window = trace.context.window
    assert window is not None
    outside = (time < window.start_ns) | (time > window.end_ns)
    return time[outside], held[outside]


def _is_backward(trace: Trace, node: int) -> bool:
    """Whether the backward pass of a loss ran, which gives back what the forward pass kept for it."""
    stacks, nodes = trace.context.stacks, trace.stack_nodes
    while node >= 0 and stacks is not None:
        if stacks.functions[nodes["function"][node]] in _BACKWARD:
            return True
        node = int(nodes["parent"][node])
    return False


def _is_in_pieces(trace: Trace, frames: Sequence[UserFrame], turns: int) -> bool:
    sources = dict(notebook_sources(trace))
    for frame in frames:
        file = "" if frame.is_cell else frame.file
        lines = sources.get(file, "").splitlines()
        for loop in written_loops(file, sources.get(file, "")):
            if loop.holds(file, frame.line) and 0 < loop.line <= len(lines):
                header = lines[loop.line - 1]
                if _PIECES.search(header) or (turns < _FEWEST_TURNS and not _FEW_TURNS.search(header)):
                    return True
    return False


def _is_in_loop(trace: Trace, frames: Sequence[UserFrame]) -> bool:
    """Whether a line is in the body of a `for` or `while`; a comprehension does not count."""
    sources = dict(notebook_sources(trace))
    for frame in frames:
        file = "" if frame.is_cell else frame.file
        lines = sources.get(file, "").splitlines()
        around = [each for each in written_loops(file, sources.get(file, "")) if each.holds(file, frame.line)]
        if any(0 < each.line <= len(lines) and _STATEMENT.match(lines[each.line - 1]) for each in around):
            return True
    return False


def _is_in_steps(trace: Trace, at_ns: int) -> bool:
    """Whether a step of usual length ran then."""
    steps = trace.iterations
    if not len(steps) or not len(trace.context.optimizers):
        return False
    start, lasted = steps["start_ns"], steps["duration_ns"]
    inside = (start <= at_ns) & (at_ns <= start + lasted)
    usual = max(_LONG_STEP * float(np.median(lasted)), NS_PER_S / 20)
    return bool((inside & (lasted <= usual)).any())
