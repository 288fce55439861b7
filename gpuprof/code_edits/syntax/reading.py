"""All that the edits ask of the text of a cell: what is the same, what changes, what carries a graph."""

from __future__ import annotations

import ast
import functools
from dataclasses import dataclass
from typing import Self

from gpuprof.code_edits.syntax.cell_text import CellText, Variable
from gpuprof.code_edits.syntax.changing import Changed, Changing
from gpuprof.code_edits.syntax.graphs import Graphs
from gpuprof.code_edits.syntax.steady import Steady


@dataclass(frozen=True, eq=False)
class CellReading:
    """Of one cell. `free`: like `steady`, where only effects matter: gradients and modes may
    differ from one time to the next."""

    text: CellText
    steady: Steady
    free: Steady
    changing: Changing
    graphs: Graphs

    @classmethod
    @functools.lru_cache(maxsize=4)
    def of(cls, source: str) -> Self | None:
        """None where the text is not read (see CellText)."""
        text = CellText.of(source)
        if text is None:
            return None
        steady = Steady(text)
        changing = Changing(text, steady)
        free = Steady(text, varying=frozenset())
        return cls(text, steady, free, changing, Graphs(text, steady, changing.memory))

    @property
    def ever(self) -> Changed:
        """What anything in the cell changes."""
        return self.changing.by(self.text.tree)

    def statement_at(self, line: int) -> ast.stmt | None:
        """The innermost statement at that line; of a compound one only where the line is in its head."""
        statements = (each for each in self.text.nodes if isinstance(each, ast.stmt))
        found = [each for each in statements if each.lineno <= line <= (each.end_lineno or 0)]
        inner = min(found, key=lambda each: ((each.end_lineno or 0) - each.lineno, -each.lineno), default=None)
        if inner is None or isinstance(inner, ast.FunctionDef | ast.ClassDef):
            return None
        body = getattr(inner, "body", None)
        return None if isinstance(body, list) and body and line >= body[0].lineno else inner

    def names_of(self, target: ast.expr) -> list[Variable] | None:
        """The variables of `x` or `x, y`; None for anything else."""
        parts = target.elts if isinstance(target, ast.Tuple) else [target]
        names = [self.text.variable(each) for each in parts if isinstance(each, ast.Name)]
        return names if len(names) == len(parts) else None

    def given_by(self, statement: ast.stmt | None) -> list[Variable]:
        """The variables to which `x, y = value` gives a value; empty for any other statement."""
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return []
        return self.names_of(statement.targets[0]) or []

    def runs(self, loop: ast.For | ast.While) -> bool:
        """Whether it has an iteration: one of its own does, as the run has shown."""
        scope = self.text.scope(loop)
        if isinstance(scope, ast.Module) and all(
            isinstance(each, ast.Module | ast.With) for each in self.text.around(loop)
        ):
            return True
        return isinstance(loop, ast.For) and self._has_turns(loop.iter)

    def _has_turns(self, iterable: ast.expr) -> bool:
        if isinstance(iterable, ast.Tuple | ast.List):
            return bool(iterable.elts) and not any(isinstance(each, ast.Starred) for each in iterable.elts)
        if not isinstance(iterable, ast.Call) or not isinstance(iterable.func, ast.Name) or len(iterable.args) != 1:
            return False
        if iterable.func.id in ("enumerate", "reversed", "tqdm"):
            return self._has_turns(iterable.args[0])
        count: ast.expr | None = iterable.args[0]
        if isinstance(count, ast.Name):
            count = self.text.value_of(self.text.variable(count))
        known = isinstance(count, ast.Constant) and isinstance(count.value, int) and count.value > 0
        return iterable.func.id == "range" and known
