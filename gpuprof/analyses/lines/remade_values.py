"""Which statements make a value again that they have made before: its content was seen to be the same."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.analyses.loops.written_loops import notebook_sources, parsed
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.operands import MadeValue
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_FEWEST_MADE = 3
# of the objects that were seen, at most so many have a content of their own
_FEW_CONTENTS = 0.5
_LEAST_SHARE = 0.01
_MODULE = "<module>"
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Scope = ast.Module | _Function
_Given = ast.Assign | ast.AnnAssign


@dataclass(frozen=True, eq=False)
class RemadeValue:
    """A statement in lines `first` to `last` of `file` (empty: the profiled cell), and what it gives a value to.

    Of `names`, `made` objects were seen with `contents` different contents, of `bytes` (all of them together). `ns` of
    the cell, `share` of it, 0..1, were spent in the statement and what it calls: `during` on the trace's clock.
    `call`: what it calls for longest, as it is written; `of_object`: that is a method of a variable's. `cell_lines`:
    the lines of the profiled cell that most of this time was spent in, its own included; of a statement elsewhere
    those that led to it.
    """

    file: str
    execution_count: int | None
    function: str
    first: int
    last: int
    names: tuple[str, ...]
    kind: str
    call: str
    of_object: str
    made: int
    contents: int
    bytes: int
    ns: int
    share: float
    during: Intervals
    cell_lines: tuple[int, ...]

    @property
    def again(self) -> float:
        """Which part of the objects seen had been made before, 0..1."""
        return 1 - self.contents / self.made


@dataclass(frozen=True)
class RemadeValues(Result):
    """`values`: the longest first, each of 1% of the cell at least."""

    values: tuple[RemadeValue, ...]
    total_ns: int

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From what was seen of the variables, the texts, and the sampled stacks."""
        stretches = results.get(Stretches)
        if not trace.context.made_values or not stretches.total_ns:
            return cls((), stretches.total_ns)
        reader = _SampledLines(trace, stretches)
        sources = {reader.sampled_as(file): source for file, source in notebook_sources(trace)}
        scopes = defaultdict[tuple[str, str, int], list[MadeValue]](list)
        for each in trace.context.made_values:
            scopes[each.file, each.function, each.first].append(each)
        found = [
            value
            for (file, function, first), seen in scopes.items()
            if file in sources
            for value in _remade(reader, file, function, _scope(sources[file], function, first), seen)
        ]
        return cls(tuple(sorted(found, key=lambda each: -each.ns)), stretches.total_ns)


class _SampledTime(NamedTuple):
    """`ns`, `during` on the trace's clock, `cell_lines` as in RemadeValue; `called`: time by name of the functions that
    were called there."""

    ns: int
    during: Intervals
    cell_lines: tuple[int, ...]
    called: dict[str, float]


class _SampledLines:
    """The sampled time of lines, with that of what they call."""

    def __init__(self, trace: Trace, stretches: Stretches):
        self._nodes, self._stretches, self.total_ns = trace.stack_nodes, stretches, stretches.total_ns
        stacks = trace.context.stacks
        self._files = stacks.files if stacks else ()
        self._functions = stacks.functions if stacks else ()
        self._ahead_ns = trace.context.sampling.get("clock_offset_ns") or 0

    def sampled_as(self, file: str) -> str:
        """The name of the code's file; that of the profiled cell for an empty one."""
        return file or next((each.filename for each in self._files if each.kind == "cell"), "")

    def file(self, name: str) -> tuple[str, int | None]:
        """The file as it is known elsewhere: empty for the profiled cell; with the count of its execution."""
        found = next((each for each in self._files if each.filename == name), None)
        return ("", None) if found is None or found.kind == "cell" else (name, found.execution_count)

    def time(self, file: str, first: int, last: int) -> _SampledTime:
        """Of these lines of the code."""
        numbers = [row for row, each in enumerate(self._files) if each.filename == file]
        line = self._nodes["line"]
        own = np.isin(self._nodes["sampled_file"], numbers) & (line >= first) & (line <= last)
        within = np.zeros(len(own) + 1, bool)
        for row, parent in enumerate(self._nodes["parent"].tolist()):
            within[row] = own[row] or (parent >= 0 and within[parent])
        rows = np.flatnonzero(within[self._stretches.node])
        starts = self._stretches.start_ns[rows] + self._ahead_ns
        lasted = self._stretches.duration_ns[rows]
        during = intervals.union(Intervals(starts, starts + lasted))
        spent = np.bincount(self._stretches.node[rows], lasted, len(within)) if len(rows) else np.zeros(len(within))
        return _SampledTime(int(lasted.sum()), during, *self._lines_and_calls(spent, own, within))

    def _lines_and_calls(self, spent: Array, own: Array, within: Array) -> tuple[tuple[int, ...], dict[str, float]]:
        inside, led = defaultdict[int, float](float), defaultdict[int, float](float)
        called = defaultdict[str, float](float)
        for row in range(len(own) - 1, -1, -1):
            if not within[row] or not spent[row]:
                continue
            if self._is_cell(row):
                inside[int(self._nodes["line"][row])] += spent[row]
            elif own[row]:
                led[self._caller(row)] += spent[row]
            if (parent := int(self._nodes["parent"][row])) >= 0:
                spent[parent] += spent[row]
                if own[parent]:
                    called[self._functions[self._nodes["function"][row]].rpartition(".")[2]] += spent[row]
        held = inside or led
        whole = max(held.values(), default=0.0)
        return tuple(sorted(line for line, ns in held.items() if ns > whole / 2 and line > 0)), called

    def _is_cell(self, row: int) -> bool:
        return self._files[int(self._nodes["sampled_file"][row])].kind == "cell"

    def _caller(self, row: int) -> int:
        """The innermost line of the profiled cell above; 0 where there is none."""
        while row >= 0 and not self._is_cell(row):
            row = int(self._nodes["parent"][row])
        return int(self._nodes["line"][row]) if row >= 0 else 0


def _scope(source: str, function: str, first: int) -> _Scope | None:
    """The function of that name that begins in that line, its decorators included; the text itself for its own code."""
    tree = parsed(source)
    if tree is None or function == _MODULE:
        return tree
    functions = [node for node in ast.walk(tree) if isinstance(node, _Function) and node.name == function]
    begins = [min([node.lineno, *(each.lineno for each in node.decorator_list)]) for node in functions]
    return next((node for node, line in zip(functions, begins, strict=True) if line == first), None)


def _remade(
    reader: _SampledLines, file: str, function: str, scope: _Scope | None, seen: Sequence[MadeValue]
) -> Iterator[RemadeValue]:
    nodes = list(_own_nodes(scope)) if scope is not None else []
    # where several statements give a name values, all of these were seen together
    by_name = {each.name: each for each in seen}
    for node in (each for each in nodes if isinstance(each, _Given)):
        names, calls = _given(node), _calls(node.value)
        known = [by_name[name] for name in names if name in by_name]
        if not calls or not known or len(known) < len(names) or not _is_remade(known):
            continue
        first, last = node.lineno, node.end_lineno or node.lineno
        time = reader.time(file, first, last)
        share = time.ns / max(reader.total_ns, 1)
        if share < _LEAST_SHARE:
            continue
        call = max(calls, key=lambda each: time.called.get(ast.unparse(each.func).rpartition(".")[2], 0.0))
        yield RemadeValue(
            *reader.file(file),
            function="" if function == _MODULE else function,
            first=first,
            last=last,
            names=names,
            kind=max(known, key=lambda each: each.bytes).kind,
            call=ast.unparse(call.func),
            of_object=_object(call),
            made=min(each.made for each in known),
            contents=max(each.contents for each in known),
            bytes=sum(each.bytes for each in known),
            ns=time.ns,
            share=share,
            during=time.during,
            cell_lines=time.cell_lines,
        )


def _is_remade(known: Sequence[MadeValue]) -> bool:
    """Whether each of them was seen to be made, with few contents, and one is such that this is no chance."""
    made = min(each.made for each in known)
    few = all(0 < each.contents <= _FEW_CONTENTS * made for each in known)
    return made >= _FEWEST_MADE and few and any(each.told for each in known)


def _own_nodes(scope: _Scope) -> Iterator[ast.AST]:
    """What is in the function itself, not in functions inside it."""
    waiting: list[ast.AST] = list(scope.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(node))


def _given(node: _Given) -> tuple[str, ...]:
    """The names that the statement gives a value to; empty where it gives one to something else as well."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    parts = [part for each in targets for part in (each.elts if isinstance(each, ast.Tuple | ast.List) else [each])]
    names = tuple(each.id for each in parts if isinstance(each, ast.Name))
    return names if len(names) == len(parts) else ()


def _calls(value: ast.expr | None) -> list[ast.Call]:
    """The outermost first."""
    return [node for node in ast.walk(value) if isinstance(node, ast.Call)] if value is not None else []


def _object(call: ast.Call) -> str:
    """The name of the object of whose methods it is; empty for a function."""
    here: ast.expr = call.func
    while isinstance(here, ast.Attribute | ast.Call | ast.Subscript):
        here = here.func if isinstance(here, ast.Call) else here.value
    return here.id if isinstance(here, ast.Name) and here is not call.func else ""
