"""A stopwatch that is read at every statement: the time of each line, without any profiler.

The copy of a cell calls `AT(place)` before every statement of its functions and loops. The time since the last call
belongs to the statement before. A function gives the time back to the statement that called it.
"""

from __future__ import annotations

import ast
import time
from collections import defaultdict

AT, HERE = "_gpuprof_at", "_gpuprof_here"
_BEFORE = "_gpuprof_before"
# (0: the cell that is measured, 1: the cell before; line)
Place = tuple[int, int]


class LineClock:
    """Adds up the time of every place."""

    def __init__(self) -> None:
        self.seconds: dict[Place | None, float] = defaultdict(float)
        self._place: Place | None = None
        self._since = time.perf_counter()

    def at(self, place: Place | None) -> None:
        """From here on the time belongs to this place."""
        now = time.perf_counter()
        self.seconds[self._place] += now - self._since
        self._place, self._since = place, now

    def here(self) -> Place | None:
        """The place that the time belongs to."""
        return self._place

    def restart(self) -> None:
        """Forget everything."""
        self.seconds.clear()
        self._place, self._since = None, time.perf_counter()


class Instrumenter:
    """Puts the calls into the tree of one cell. Of a cell that only defines things, only the functions are read."""

    def __init__(self, cell: int):
        self._cell = cell

    def visit(self, tree: ast.Module) -> ast.Module:
        """The tree with the calls, changed in place."""
        if self._cell == 0:
            tree.body = self._block(tree.body, None)
        else:
            for each in ast.walk(tree):
                if isinstance(each, ast.FunctionDef) and not _inside(each, tree):
                    self._function(each)
        return ast.fix_missing_locations(tree)

    def _block(self, statements: list[ast.stmt], loop: ast.stmt | None) -> list[ast.stmt]:
        """The statements, each with a call before it; `loop`: the loop that they are the body of."""
        block: list[ast.stmt] = []
        for each in statements:
            if isinstance(each, ast.Continue) and loop is not None:
                block.append(self._mark(loop))
            elif not isinstance(each, ast.Global | ast.Nonlocal):
                block.append(self._mark(each))
            self._statement(each, loop)
            block.append(each)
        return block

    def _statement(self, each: ast.stmt, loop: ast.stmt | None) -> None:
        if isinstance(each, ast.FunctionDef):
            self._function(each)
        elif isinstance(each, ast.ClassDef):
            for inner in each.body:
                if isinstance(inner, ast.FunctionDef):
                    self._function(inner)
        elif isinstance(each, ast.For | ast.While):
            each.body = [*self._block(each.body, each), self._mark(each)]
            each.orelse = self._block(each.orelse, loop)
        elif isinstance(each, ast.With):
            each.body = [*self._block(each.body, loop), self._mark(each)]
        elif isinstance(each, ast.If):
            each.body, each.orelse = self._block(each.body, loop), self._block(each.orelse, loop)
        elif isinstance(each, ast.Try):
            each.body = self._block(each.body, loop)
            for handler in each.handlers:
                handler.body = self._block(handler.body, loop)
            each.orelse, each.finalbody = self._block(each.orelse, loop), self._block(each.finalbody, loop)

    def _function(self, function: ast.FunctionDef) -> None:
        before = ast.parse(f"{_BEFORE} = {HERE}()").body
        after = ast.parse(f"{AT}({_BEFORE})").body
        body = self._block(function.body, None)
        function.body = [*before, ast.Try(body=body, handlers=[], orelse=[], finalbody=after)]
        ast.copy_location(function.body[-1], function)

    def _mark(self, statement: ast.stmt) -> ast.stmt:
        (call,) = ast.parse(f"{AT}(({self._cell}, {statement.lineno}))").body
        for node in ast.walk(call):
            ast.copy_location(node, statement)
        return call


def _inside(function: ast.FunctionDef, tree: ast.Module) -> bool:
    """Whether it is defined in another function, which is gone through with that one."""
    others = (each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) and each is not function)
    return any(function in ast.walk(other) for other in others)


def statement_of(source: str) -> dict[int, int]:
    """For every line the first one of its statement: a sample names the line of a part of it."""
    first: dict[int, int] = {}

    def note(statements: list[ast.stmt]) -> None:
        for each in statements:
            first.update(dict.fromkeys(range(each.lineno, (each.end_lineno or each.lineno) + 1), each.lineno))
            for name in ("body", "orelse", "finalbody"):
                note(getattr(each, name, []))
            for handler in getattr(each, "handlers", []):
                note(handler.body)

    note(ast.parse(source).body)
    return first
