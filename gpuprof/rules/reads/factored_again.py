"""Statements that solve with torch, and factor the same matrix each time, by the text and the time that they take."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from math import isqrt

from gpuprof import units
from gpuprof.analyses.accounts.operands_at import operands_at
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.statement_times import StatementTime, StatementTimes
from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.rules.base.finding import Saving
from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.cell.known_calls import imported
from gpuprof.rules.cell.repeatable import RepeatableReads
from gpuprof.rules.reads.same_items import assigned, bodies_of_loops

_TENSORS = ("torch.Tensor",)
# a smaller one is factored in the time of a call
_FEWEST_ROWS = 64
# to factor takes rows / 3 times as long as to solve for one column; the call and the column take some of it
_ROWS_FOR_ONE, _MOST_TIMES = 32, 10
_AT_WORST = 0.5


@dataclass(frozen=True)
class FactoredAgain:
    """The `time` of the statement that factors `matrix`, of so many `rows`, each time; `share` of the cell is needless,
    0..1."""

    matrix: str
    rows: int
    time: StatementTime
    share: float

    @property
    def explanation(self) -> str:
        """What the statement takes, and why it need not."""
        time = self.time
        return (
            f"Line {time.first} takes {units.duration(time.ns)}, {units.percent(time.share)} of the cell. Each time it "
            f"factors `{self.matrix}` ({units.count(self.rows)} rows), which the loop around it does not change."
        )

    def saving(self) -> Saving:
        """All but the solving itself."""
        basis = "estimate: the sampled time of this statement, less that to solve with known factors"
        spared_ns = self.share / self.time.share * self.time.ns
        return Saving(_AT_WORST * spared_ns, spared_ns, self.time.ns, self.share, "C", basis, of_cell=True)


def factored_again(results: Results) -> FactoredAgain | None:
    """The statement of which most is needless."""
    context = results.context
    source = context.cell.source if context.cell is not None else ""
    files = context.stacks.files if context.stacks else ()
    file = next((each.filename for each in files if each.kind == "cell"), "")
    times = {(each.first, each.last): each for each in results.get(StatementTimes).statements}
    found = list[FactoredAgain]()
    for first, last, name in _solvers(source):
        time = times.get((first, last))
        seen = {each.name: each for each in operands_at(context.operands, file, first)}
        matrix = seen.get(name)
        known = matrix is not None and matrix.kind in _TENSORS and matrix.same
        rows = isqrt(matrix.fewest_elements or 0) if known and matrix is not None else 0
        if time is not None and rows >= _FEWEST_ROWS:
            times_faster = min(rows // _ROWS_FOR_ONE, _MOST_TIMES)
            found.append(FactoredAgain(name, rows, time, time.share * (1 - 1 / times_faster)))
    return max(found, key=lambda each: each.share, default=None)


def _solvers(source: str) -> Iterator[tuple[int, int, str]]:
    """Lines and matrix of `x = torch.linalg.solve(A, b)` in loops that do not change `A`."""
    tree = parsed(source) if "solve" in source else None
    if tree is None:
        return
    modules = {"torch": "torch"} | imported(tree)
    try:
        for _, body, names in bodies_of_loops(tree, RepeatableReads(tree)):
            for statement in assigned(body):
                value = statement.value
                while isinstance(value, ast.Subscript | ast.Attribute):
                    value = value.value
                matrix = value.args[0] if isinstance(value, ast.Call) and value.args else None
                if isinstance(value, ast.Call) and isinstance(matrix, ast.Name) and names.is_fixed(matrix.id):
                    root, _, rest = dotted(value.func).partition(".")
                    if f"{modules.get(root, '')}.{rest}" == "torch.linalg.solve":
                        yield statement.lineno, statement.end_lineno or statement.lineno, matrix.id
    except RecursionError:  # an expression of a thousand terms
        return
