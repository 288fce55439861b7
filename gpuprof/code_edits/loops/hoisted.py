"""Work that a loop repeats on the same inputs, moved out of it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gpuprof.code_edits.syntax.cell_text import Comprehension, Edit, Variable
from gpuprof.code_edits.syntax.changing import Changed
from gpuprof.code_edits.syntax.parts import called, function_of, head, is_conditional, is_worth_it, stays
from gpuprof.code_edits.syntax.reading import CellReading

_Whole = ast.For | ast.While
Loop = _Whole | Comprehension
_LEAVES = (ast.Break, ast.Continue, ast.Return, ast.Raise)
_WITHOUT = ("torch.no_grad", "torch.inference_mode")


def move_before_loop(source: str, lines: Iterable[int], *, without_backward: bool = False) -> str | None:
    """What the statement at the first of `lines` where that is possible computes in each iteration of a loop, moved
    before that loop, or as many loops as repeat it: the statement itself, with those that it alone needs, or the
    largest part of it that is the same.

    None where the text does not show that nothing that it reads changes in the loop, that it has no effect of its own,
    and that nobody else reads or changes its result in between. `without_backward`: no backward pass goes through it.
    """
    reading = CellReading.of(source)
    if reading is None:
        return None
    mover = _Mover(reading, without_backward)
    for line in lines:
        edits = mover.at(line)
        changed = reading.text.changed(edits) if edits is not None else None
        if changed is not None:
            return changed
    return None


@dataclass
class _Way:
    """Loops around something, the innermost first, and the `with torch.no_grad():` within the innermost."""

    loops: list[Loop] = field(default_factory=list)
    manager: ast.With | None = None


class _Mover:
    def __init__(self, reading: CellReading, without_backward: bool):
        self._reading, self._without = reading, without_backward
        self._text, self._steady, self._changing = reading.text, reading.steady, reading.changing

    def at(self, line: int) -> list[Edit] | None:
        """For the statement at that line."""
        statement = self._reading.statement_at(line)
        if statement is None:
            return None
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            edits = self._whole(statement)
            if edits is not None:
                return edits
        return next((edits for part in self._parts(statement) if (edits := self._part(statement, part))), None)

    def _whole(self, statement: ast.Assign) -> list[Edit] | None:
        way = self._way(statement)
        found: tuple[_Whole, list[ast.Assign]] | None = None
        for loop in way.loops:
            moved = self._movable(statement, loop, ()) if isinstance(loop, _Whole) else None
            if moved is None or not isinstance(loop, _Whole):
                break
            found = loop, moved
        if found is None or not is_worth_it(statement.value):
            return None
        loop, moved = found
        manager = way.manager
        if manager is not None and (len(moved) > 1 or self._text.parent(statement) is not manager):
            return None
        left = manager if manager is not None and manager.body == [statement] else None
        gone: list[ast.stmt] = [left] if left is not None else list(moved)
        if any(len(self._text.block(each)) <= len(gone) for each in gone):
            return None
        if not all(self._text.stands_alone(each) for each in moved):
            return None
        indent = self._text.indent(loop)
        lines = [line for each in moved for line in self._text.moved(each, indent + "    " * (manager is not None))]
        if manager is not None:
            lines = [f"{indent}with {self._text.text(manager.items[0].context_expr)}:", *lines]
        removed = [Edit(each.lineno, each.end_lineno or each.lineno, ()) for each in gone]
        return [Edit(loop.lineno, loop.lineno - 1, tuple(lines)), *removed]

    def _part(self, statement: ast.stmt, part: ast.expr) -> list[Edit] | None:
        way = self._way(part)
        outermost: Loop | None = None
        for loop in way.loops:
            if not self._is_the_same(part, self._changing.by(loop)):
                break
            outermost = loop
        before = self._text.statement(outermost) if outermost is not None else None
        if before is None or not stays(self._reading, part):
            return None
        name, indent = self._text.new_name(f"fixed_{called(part)}"), self._text.indent(before)
        value = self._text.text(part)
        value = f"({value})" if "\n" in value else value
        lines = [f"{indent}{name} = {value}"]
        if way.manager is not None:
            manager = self._text.text(way.manager.items[0].context_expr)
            lines = [f"{indent}with {manager}:", f"{indent}    {name} = {value}"]
        return [Edit(before.lineno, before.lineno - 1, tuple(lines)), *self._text.replaced([(part, name)])]

    def _parts(self, statement: ast.stmt) -> Iterator[ast.expr]:
        """The largest expressions in the head of a statement that are worth it and might be the same each time."""
        todo: list[ast.AST] = list(head(statement))
        while todo:
            node = todo.pop(0)
            if isinstance(node, ast.Lambda | ast.Starred):
                continue
            if isinstance(node, ast.expr) and isinstance(node, ast.Call | ast.BinOp | ast.ListComp):
                way = self._way(node)
                worth = bool(way.loops) and is_worth_it(node)
                if worth and self._is_the_same(node, self._changing.by(way.loops[0])):
                    yield node
                    continue
            todo += [each for each in ast.iter_child_nodes(node) if not is_conditional(node, each)]

    def _is_the_same(
        self, node: ast.expr, changed: Changed, but: set[Variable] | frozenset[Variable] = frozenset()
    ) -> bool:
        if changed.unclear or not self._steady.is_steady(node):
            return False
        reads = self._steady.reads(node)
        if changed.trains and not self._reading.graphs.are_plain(reads):
            return False
        return not self._changing.any_of(reads, changed) and self._has_no_graph(node)

    def _has_no_graph(self, node: ast.expr) -> bool:
        return self._without or not self._reading.graphs.may_have_graph(node)

    def _movable(self, statement: ast.Assign, loop: _Whole, asked: tuple[ast.Assign, ...]) -> list[ast.Assign] | None:
        """The statement, after those that make what it reads in the loop, where all of them may move before it."""
        if statement in asked:
            return None
        targets = self._reading.names_of(statement.targets[0])
        if not targets or not all(self._is_only_given_here(each, statement, loop) for each in targets):
            return None
        changed, moved = self._changing.by(loop), list[ast.Assign]()
        made = set[Variable]()
        for variable in self._steady.reads(statement.value) & changed.bound:
            maker = self._maker(variable, loop, statement)
            needed = self._movable(maker, loop, (*asked, statement)) if maker is not None else None
            if needed is None:
                return None
            moved += [each for each in needed if each not in moved]
            made.add(variable)
        whole = Changed(changed.bound - made, changed.grown, changed.inside, changed.trains, changed.unclear)
        if not self._is_the_same(statement.value, whole):
            return None
        return sorted([*moved, statement], key=lambda each: each.lineno)

    def _maker(self, variable: Variable, loop: _Whole, before: ast.Assign) -> ast.Assign | None:
        stored = [each for each in self._text.mentions(variable) if not isinstance(each.ctx, ast.Load)]
        inside = [each for each in stored if self._text.holds(loop, each)]
        maker = self._text.statement(inside[0]) if len(inside) == 1 else None
        beside = self._text.block(before)
        is_before = isinstance(maker, ast.Assign) and maker in beside and beside.index(maker) < beside.index(before)
        return maker if isinstance(maker, ast.Assign) and is_before and len(maker.targets) == 1 else None

    def _is_only_given_here(self, variable: Variable, statement: ast.Assign, loop: _Whole) -> bool:
        """Whether in the loop only this statement gives it a value, before all that read it, and nothing changes it."""
        changed = self._reading.ever
        if self._changing.inside({variable}, changed) or variable in changed.grown:
            return False
        end = (statement.end_lineno or 0, statement.end_col_offset or 0)
        elsewhere = False
        for each in self._text.mentions(variable):
            if self._text.scope(each) is not self._text.scope(statement):
                return False
            if not self._text.holds(loop, each):
                elsewhere = True
            elif self._text.holds(statement, each):
                if isinstance(each.ctx, ast.Load):
                    return False
            elif not isinstance(each.ctx, ast.Load) or (each.lineno, each.col_offset) < end:
                return False
        return not elsewhere or self._reading.runs(loop)

    def _way(self, node: ast.AST) -> _Way:
        """The loops that repeat it each time that they go round, up to whatever may keep it from running."""
        way, inner = _Way(), node
        for outer in self._text.around(node):
            if isinstance(outer, Comprehension):
                lazy = isinstance(outer, ast.GeneratorExp) and not isinstance(self._text.parent(outer), ast.Call)
                if inner is outer.generators[0].iter or lazy or any(each.ifs for each in outer.generators):
                    break
                way.loops.append(outer)
            elif isinstance(outer, _Whole):
                if inner in outer.orelse:
                    break
                if not (isinstance(outer, ast.For) and inner is outer.iter):
                    if isinstance(inner, ast.stmt) and self._may_leave_before(outer, inner):
                        break
                    way.loops.append(outer)
            elif isinstance(outer, ast.With):
                full = self._text.full_name(function_of(outer.items[0].context_expr))
                plain = len(outer.items) == 1 and full in _WITHOUT and outer.items[0].optional_vars is None
                if not plain or way.manager is not None or way.loops:
                    break
                way.manager = outer
            elif isinstance(outer, ast.If | ast.IfExp | ast.BoolOp):
                if inner is not (outer.values[0] if isinstance(outer, ast.BoolOp) else outer.test):
                    break
            elif isinstance(outer, ast.stmt | ast.Lambda | ast.ExceptHandler | ast.match_case) and not isinstance(
                outer, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr | ast.Return | ast.Assert
            ):
                break
            inner = outer if not isinstance(outer, ast.comprehension) else inner
        return way

    def _may_leave_before(self, loop: _Whole, inner: ast.stmt) -> bool:
        before = loop.body[: loop.body.index(inner)] if inner in loop.body else []
        return any(isinstance(each, _LEAVES) for part in before for each in ast.walk(part))
