"""Lines that copy all of what they collect in each iteration, to make it longer, by the text and by sampled stacks."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.accounts.called import called_by_text, path_below
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.own_frames import own_frames
from gpuprof.analyses.lines.statements import expressions_at
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.analyses.loops.accumulations import JOINS, Accumulation, Accumulations, Growing
from gpuprof.analyses.loops.written_loops import notebook_sources
from gpuprof.model.context import SampledStacks
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace


@dataclass(frozen=True)
class CopiedWhole:
    """`ns`: the time of the cell in the copies of `accumulation`'s line, of `cell_ns`."""

    accumulation: Accumulation
    ns: int
    cell_ns: int


@dataclass(frozen=True)
class CopiedWholes(Result):
    """`found`, most time first; empty where no stack was sampled."""

    found: tuple[CopiedWhole, ...]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """Of lines that do nothing else that takes time where no function of Python runs."""
        stacks, stretches = trace.context.stacks, results.get(Stretches)
        copied = [each for each in results.get(Accumulations).found if each.growing is Growing.COPIED]
        if stacks is None or not stretches.total_ns or not copied:
            return cls(())
        places, own = own_frames(trace, stacks)
        sources = dict(notebook_sources(trace))
        found = []
        for each in copied:
            at = _nodes_at(stacks, places, own, each)
            rows = np.flatnonzero(np.isin(stretches.node, at))
            if not len(rows) or not _only_joins(sources[each.file], each.line):
                continue
            ns = _copying(trace, stacks, stretches.node[rows], stretches.spent_ns[rows], own, sources[each.file], each)
            if ns > 0:
                found.append(CopiedWhole(each, int(ns), stretches.total_ns))
        return cls(tuple(sorted(found, key=lambda each: -each.ns)))


def _nodes_at(stacks: SampledStacks, places: Array, own: Array, found: Accumulation) -> Array:
    """The nodes of stacks whose innermost line of the user's is the one that joins."""
    names = ["" if each.kind == "cell" else each.filename for each in stacks.files]
    file = np.array(
        [
            name == found.file and each.kind in ("cell", "notebook")
            for name, each in zip(names, stacks.files, strict=True)
        ],
        bool,
    )
    here = file[places[:, 0]] & (places[:, 1] == found.line)
    known = own >= 0
    at: Array = np.flatnonzero(known & here[np.where(known, own, 0)])
    return at


def _copying(
    trace: Trace, stacks: SampledStacks, node: Array, spent: Array, own: Array, source: str, found: Accumulation
) -> float:
    """Of these stretches those in the join itself, ns: in no function of Python, or in one that is named like it."""
    joining, below = np.zeros(len(node), bool), set[str]()
    for leaf in np.unique(node).tolist():
        functions = [each.rpartition(".")[2] for each in path_below(trace, stacks, leaf, int(own[leaf]))]
        below |= set(functions)
        joining[node == leaf] = not functions or functions[0] in JOINS
    named = called_by_text(source, found.line, below - set(JOINS)).rpartition(".")[2]
    return float(spent[joining].sum()) if named in JOINS else 0.0


def _only_joins(source: str, line: int) -> bool:
    """Whether nothing else stands on the line that may take time where no function of Python runs."""
    return not any(isinstance(each, ast.BinOp | ast.Compare | ast.Subscript) for each in expressions_at(source, line))
