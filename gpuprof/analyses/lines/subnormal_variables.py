"""Variables seen with subnormal numbers while the cell ran, and the time of the lines that read them."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.sampled_calls import SampledCalls
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.analyses.lines.value_makers import MODULE, Scope, own_nodes, scope_of
from gpuprof.analyses.loops.written_loops import notebook_sources, parsed
from gpuprof.model.intervals import Intervals
from gpuprof.model.operands import MadeValue
from gpuprof.model.trace import Trace

# of the looks: fewer may have met something that is over at once
_FEWEST = 3
_LEAST_SHARE = 0.01


@dataclass(frozen=True, eq=False)
class SubnormalReads:
    """Code of one function (`function`; empty: outside of any) that reads variables (`names`, the most often first)
    which held subnormal numbers in `looks_share` of the looks at them, 0..1.

    Its lines that read them take `ns`, `share` of the cell, 0..1: `during` on the trace's clock. `cell_lines`: the
    lines of the profiled cell that most of it was spent in, or that led there. `double`: the numbers were of float64.
    `times_slower`: how many times as long the cell's thread took for a product of such numbers.
    """

    function: str
    names: tuple[str, ...]
    looks_share: float
    ns: int
    share: float
    during: Intervals
    cell_lines: tuple[int, ...]
    double: bool
    times_slower: float


@dataclass(frozen=True)
class SubnormalVariables(Result):
    """`reads`: by function, the longest first, each of 1% of the cell at least."""

    reads: tuple[SubnormalReads, ...]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From what was seen of the variables, the texts, and the sampled stacks."""
        scopes = defaultdict[tuple[str, str, int], list[MadeValue]](list)
        for each in trace.context.made_values:
            if each.subnormal_looks >= _FEWEST:
                scopes[each.file, each.function, each.first].append(each)
        stretches = results.get(Stretches)
        if not scopes or not stretches.total_ns:
            return cls(())
        reader = SampledCalls(trace, stretches)
        texts = {reader.sampled_as(file): parsed(source) for file, source in notebook_sources(trace)}
        found = []
        for (file, function, first), seen in scopes.items():
            tree = texts.get(file)
            scope = None if tree is None else scope_of(tree, function, first)
            if scope is not None:
                found.append(_reads(reader, file, function, scope, seen))
        kept = [each for each in found if each.share >= _LEAST_SHARE]
        return cls(tuple(sorted(kept, key=lambda each: -each.ns)))


def _reads(reader: SampledCalls, file: str, function: str, scope: Scope, seen: list[MadeValue]) -> SubnormalReads:
    most = sorted(seen, key=lambda each: -each.subnormal_looks)
    time = reader.time_at(file, _reading_lines(scope, {each.name for each in seen}))
    return SubnormalReads(
        function="" if function == MODULE else function,
        names=tuple(each.name for each in most),
        looks_share=most[0].subnormal_share,
        ns=time.ns,
        share=time.ns / max(reader.total_ns, 1),
        during=time.during,
        cell_lines=time.cell_lines,
        double=most[0].double,
        times_slower=max(each.times_slower for each in seen),
    )


def _reading_lines(scope: Scope, names: Collection[str]) -> list[int]:
    """Of the simple statements and heads that read one of the names (`x`, `self.x`), or that change it in place."""
    lines = set[int]()
    for node in own_nodes(scope):
        if isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node) in names:
            reads = isinstance(node.ctx, ast.Load)
            lines |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1)) if reads else set()
        if isinstance(node, ast.AugAssign) and ast.unparse(node.target) in names:
            lines |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return sorted(lines)
