"""Work of the user's own code and of libraries other than torch, by line, over the whole cell."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.accounts.library_callbacks import PER_ITEM
from gpuprof.analyses.accounts.node_facts import NodeFacts
from gpuprof.analyses.accounts.operands_at import earlier_sequences, operands_at
from gpuprof.analyses.accounts.phase import PHASES, Phase
from gpuprof.analyses.basics.host_marks import main_operators
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.own_frames import own_frames
from gpuprof.analyses.lines.statements import expressions_at, imported_names
from gpuprof.analyses.loops.written_loops import WrittenLoops
from gpuprof.model import intervals
from gpuprof.model.context import SampledFile, SampledStacks
from gpuprof.model.intervals import Intervals
from gpuprof.model.operands import Operand
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_LEAST_SHARE = 0.01
_NAMED_SHARE = 0.1
_ENOUGH = 5
# torch's own Python that is not computing: it writes files or texts, or hands out samples
_NOT_COMPUTING = (
    *("torch.serialization.", "torch.utils.data.", "torch.utils.tensorboard.", "torch._tensor_str."),
    *("torch._tensor.Tensor.__format__", "torch._tensor.Tensor.__repr__"),
)
# `torch.FloatTensor`
_TENSOR_TYPE = "torch.tensortype"
_MAKES_TENSORS = (".tensor", ".as_tensor", ".from_numpy")
# a function that a library calls for each row runs as often as one in two loops
_ROWS_AND_PAIRS = 2
_BUILTINS = frozenset(dir(builtins))
_READ = (ast.Name, ast.Attribute)
_LOADING = "torch/utils/data/"
_INNER = ("<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>", "<lambda>")


@dataclass(frozen=True, eq=False)
class WorkLine:
    """One line as the innermost of the user's code. `file`: as it was sampled; `is_cell`: the profiled cell.

    `ns`: time in it outside of torch's computing, `share` of the whole cell, 0..1; `own_share`: of `ns`, in no function
    of a library: the line's own Python, and what is built in. `below`: functions of libraries below it, with the
    share of `ns` in each and what it calls, the largest first. `first`: of those the one that the line itself called
    for longest. `depth`: loops of the text that run it, those around its callers included, and two more where a library
    calls its function for each row, value or pair; `per_sample`: a DataLoader called it. `operands`: what the names of
    its function stood for, `earlier`: lists and tuples that they stood for more seldom. `starts_ns`, `ends_ns`: when,
    on the trace's clock.
    `cell_lines`: lines of the profiled cell that led there, itself included.
    `phase`: what the stack says of it, None where it says nothing.
    """

    file: str
    is_cell: bool
    execution_count: int | None
    line: int
    function: str
    ns: int
    share: float
    own_share: float
    first: str
    below: tuple[tuple[str, float], ...]
    depth: int
    per_sample: bool
    phase: Phase | None
    operands: tuple[Operand, ...]
    cell_lines: tuple[int, ...]
    starts_ns: Array
    ends_ns: Array
    earlier: tuple[Operand, ...] = ()

    def below_share(self, *prefixes: str) -> float:
        """The largest share of a function whose name begins so."""
        return max((share for name, share in self.below if name.startswith(prefixes)), default=0.0)


@dataclass(frozen=True, eq=False)
class HostWork(Result):
    """`lines`, the longest first, each of 1% of the cell at least; `total_ns`: the cell, 0 where no stack was sampled;
    `imports_ns` of it in imports, which a kernel pays once, `loading_ns` in a DataLoader. `looked`: what names stood
    for was looked at."""

    lines: tuple[WorkLine, ...]
    total_ns: int
    imports_ns: int
    loading_ns: int
    looked: bool

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the sampled stacks, the operators that ran meanwhile, and the looks."""
        looked = trace.context.operands is not None and trace.context.operands.looks > 0
        total_ns = int(trace.stack_samples["duration_ns"].sum())
        if trace.context.stacks is None or not total_ns:
            return cls((), 0, 0, 0, looked)
        reader = _WorkReader(trace, results, trace.context.stacks)
        return cls(tuple(reader.lines()), total_ns, *reader.imports_and_loading_ns(), looked)


class _WorkReader:
    """By the samples alone: lines that are known exactly are those of operators."""

    def __init__(self, trace: Trace, results: Results, stacks: SampledStacks):
        self._trace, self._stacks = trace, stacks
        self._node, self._lasted = (trace.stack_samples[name] for name in ("node", "duration_ns"))
        self._places, self._own = own_frames(trace, stacks)
        self._nodes = trace.stack_nodes
        self._loops = results.get(WrittenLoops).loops
        self._said = results.get(NodeFacts).said
        ahead_ns = trace.context.sampling.get("clock_offset_ns") or 0
        self._starts = trace.stack_samples["start_ns"] + ahead_ns
        self._ends = self._starts + self._lasted
        self._paths: dict[int, list[str]] = {}

    def lines(self) -> list[WorkLine]:
        own = np.append(self._own, -1)[self._node]
        known = np.flatnonzero(own >= 0)
        places = self._places[own[known]][:, :2]
        distinct, group = np.unique(places, axis=0, return_inverse=True)
        group = group.reshape(-1)
        whole = np.bincount(group, self._lasted[known], len(distinct))
        found = []
        for row in np.argsort(-whole, kind="stable"):
            if whole[row] < _LEAST_SHARE * self._lasted.sum():
                break
            line = self._line(distinct[row], known[group == row])
            if line is not None and line.share >= _LEAST_SHARE:
                found.append(line)
        return sorted(found, key=lambda each: -each.ns)

    def imports_and_loading_ns(self) -> tuple[int, int]:
        """Imports are also those that a library makes when it is first used."""
        known = np.flatnonzero(self._node >= 0)
        nodes, group = np.unique(self._node[known], return_inverse=True)
        spent = np.bincount(group.reshape(-1), self._lasted[known], len(nodes))
        imports = [any(name.startswith("<frozen importlib") for name in self._path(each)) for each in nodes.tolist()]
        loading = [self._in_loader(each) for each in nodes.tolist()]
        return int(spent[np.array(imports, bool)].sum()), int(spent[np.array(loading, bool)].sum())

    def _line(self, place: Array, rows: Array) -> WorkLine | None:
        file, line = int(place[0]), int(place[1])
        described = self._trace.context.described(self._stacks.files[file])
        operands = operands_at(self._trace.context.operands, described.filename, line)
        rows, part = self._outside_torch(rows, operands, self._reads_no_tensor(described, line, operands))
        spent = self._lasted[rows] * part
        ns = float(spent.sum())
        if line <= 0 or ns <= 0:
            return None
        node = self._node[rows]
        first, below, own_share = self._below(node, spent)
        heaviest = int(node[np.argmax(spent)])
        return WorkLine(
            file=described.filename,
            is_cell=described.kind == "cell",
            execution_count=described.execution_count,
            line=line,
            function=self._function(int(self._own[heaviest])),
            ns=int(ns),
            share=ns / float(self._lasted.sum()),
            own_share=own_share,
            first=first,
            below=below,
            depth=self._depth(heaviest),
            per_sample=2 * float(spent[[self._in_loader(each) for each in node.tolist()]].sum()) > ns,
            phase=self._phase(node, spent),
            operands=operands,
            cell_lines=self._cell_lines(heaviest),
            starts_ns=self._starts[rows],
            ends_ns=self._ends[rows],
            earlier=earlier_sequences(self._trace.context.operands, described.filename, line),
        )

    def _reads_no_tensor(self, described: SampledFile, line: int, operands: tuple[Operand, ...]) -> bool:
        """Whether it is known of all names of the line that they are no tensors, and torch is called for nothing but to
        make one of other data."""
        source = described.source
        nodes = expressions_at(source, line)
        names = {each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
        looked_at = {each.name.partition(".")[0] for each in operands} | imported_names(source) | _BUILTINS
        if not operands or not nodes or not names <= looked_at:
            return False
        read = {ast.unparse(each) for each in nodes if isinstance(each, _READ) and isinstance(each.ctx, ast.Load)}
        bound = {each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        # `rows = torch.tensor(rows)`: what it reads is what the name stood for before
        before = earlier_sequences(self._trace.context.operands, described.filename, line)
        read -= bound & {each.name for each in before if not each.items.startswith("torch.")}
        known = [each for each in operands if each.name in read and each.kind.startswith("torch.")]
        return all(
            each.kind == _TENSOR_TYPE or (each.callable and each.kind.endswith(_MAKES_TENSORS)) for each in known
        )

    def _outside_torch(self, rows: Array, operands: tuple[Operand, ...], reads_no_tensor: bool) -> tuple[Array, Array]:
        """The stretches that are not in torch's Python, and which part of each is not in an operator: of what ran
        outside the recording that is the part which recorded stretches of the line show."""
        names = [self._path(each)[:1] for each in self._node[rows].tolist()]
        computing = [
            bool(each) and each[0].startswith("torch.") and not each[0].startswith(_NOT_COMPUTING) for each in names
        ]
        rows = rows[~np.array(computing, bool)]
        bare = np.array([not self._path(each) for each in self._node[rows].tolist()], bool)
        part = np.ones(len(rows))
        if not bare.any():
            return rows, part
        seen, spent = self._starts[rows[bare]], self._lasted[rows[bare]]
        recorded = (seen >= self._trace.span_start_ns) & (seen < self._trace.span_end_ns)
        inside = spent[recorded].sum()
        # such a line stands in operators by its index or its result alone: a look or two at those say nothing
        if reads_no_tensor and recorded.sum() < _ENOUGH:
            return rows, part
        if inside > 0:
            # at the instant: until the next look anything may have run
            working = spent[intervals.contains(intervals.union(main_operators(self._trace)), seen)].sum()
            part[bare] = max(1.0 - float(working / inside), 0.0)
        elif any(each.kind.startswith("torch.") for each in operands):
            part[bare] = 0.0
        return rows, part

    def _below(self, node: Array, spent: Array) -> tuple[str, tuple[tuple[str, float], ...], float]:
        """The function called for longest, all below with their shares, and the share of no library's function."""
        whole, firsts, held, own = float(spent.sum()), dict[str, float](), dict[str, float](), 0.0
        for each, ns in zip(node.tolist(), spent.tolist(), strict=True):
            path = self._path(each)
            if not path:
                own += ns
                continue
            firsts[path[0]] = firsts.get(path[0], 0.0) + ns
            for name in dict.fromkeys(path):
                held[name] = held.get(name, 0.0) + ns
        ranked = sorted(held.items(), key=lambda each: -each[1])
        below = tuple((name, ns / whole) for name, ns in ranked if ns >= _NAMED_SHARE * whole)
        return max(firsts, key=lambda each: firsts[each], default=""), below, own / whole

    def _path(self, leaf: int) -> list[str]:
        """The functions of libraries between the user's line and the leaf, outermost first."""
        if leaf not in self._paths:
            path, here, own = list[str](), leaf, int(self._own[leaf]) if leaf >= 0 else leaf
            while here >= 0 and here != own:
                file = self._stacks.files[int(self._nodes["sampled_file"][here])].filename.replace("\\", "/")
                module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
                path.append(f"{module}.{self._function(here)}")
                here = int(self._nodes["parent"][here])
            self._paths[leaf] = path[::-1]
        return self._paths[leaf]

    def _function(self, node: int) -> str:
        return self._stacks.functions[int(self._nodes["function"][node])]

    def _phase(self, node: Array, spent: Array) -> Phase | None:
        said = self._said[node]
        held = np.bincount(said + 1, spent, len(PHASES) + 1)
        return PHASES[int(np.argmax(held)) - 1] if np.argmax(held) else None

    def _above(self, node: int) -> list[int]:
        """The frames of the user's own code, innermost first."""
        found, here = [], int(self._own[node])
        while here >= 0:
            found.append(here)
            parent = int(self._nodes["parent"][here])
            here = int(self._own[parent]) if parent >= 0 else -1
        return found

    def _depth(self, node: int) -> int:
        depth = 0
        for frame in self._above(node):
            described = self._stacks.files[int(self._nodes["sampled_file"][frame])]
            # what stands within the line of its function is counted there
            if not self._function(frame).endswith(_INNER):
                file, line = "" if described.kind == "cell" else described.filename, int(self._nodes["line"][frame])
                depth += sum(loop.holds(file, line) for loop in self._loops)
            caller = int(self._nodes["parent"][frame])
            if caller >= 0 and any(name.startswith(PER_ITEM) for name in self._path(caller)):
                depth += _ROWS_AND_PAIRS
        return depth

    def _cell_lines(self, node: int) -> tuple[int, ...]:
        rows = [each for each in self._above(node) if int(self._nodes["sampled_file"][each]) == 0]
        return tuple(dict.fromkeys(int(self._nodes["line"][each]) for each in rows if self._nodes["line"][each] > 0))

    def _in_loader(self, node: int) -> bool:
        while node >= 0:
            if self._stacks.files[int(self._nodes["sampled_file"][node])].filename.startswith(_LOADING):
                return True
            node = int(self._nodes["parent"][node])
        return False


def when(lines: list[WorkLine]) -> Intervals:
    """All the time in these lines, a union."""
    return intervals.union(
        Intervals(np.concatenate([each.starts_ns for each in lines]), np.concatenate([each.ends_ns for each in lines]))
    )
