"""Whether a line gives a result to a name that the text reads later: a copy of the best weights so far, for example.

The close look sees a few iterations. In these each copy may be overwritten before anything reads it, and the last one
is read after the loop.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import lru_cache

from gpuprof.analyses.loops.written_loops import parsed

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Loop = ast.For | ast.AsyncFor | ast.While
_Given = ast.Assign | ast.AnnAssign | ast.AugAssign
_FILLS = frozenset({"add", "append", "copy_", "extend", "update"})
_Simple = _Given | ast.Expr | ast.Return


def reads_later(sources: Sequence[str | None], lines: Sequence[int]) -> bool:
    """Of a chain of lines, the innermost first, with the text of each (None: not known): whether the innermost one, or
    the call whose result it returns, gives a name a value that is read after the loop around it, or after the condition
    under which it does."""
    unknown = False
    for source, line in zip(sources, lines, strict=True):
        text = _ReadText.of(source) if source is not None else None
        if text is None:
            unknown = True
            continue
        statement = text.statement(line)
        if isinstance(statement, ast.Return):
            continue
        # what a function of another file returns is not known: it may be something else
        return statement is not None and text.is_read_later(statement, conditional=unknown)
    return False


class _ReadText:
    def __init__(self, tree: ast.Module):
        self._nodes = list(ast.walk(tree))
        self._parent = {inner: node for node in self._nodes for inner in ast.iter_child_nodes(node)}

    @staticmethod
    @lru_cache(maxsize=16)
    def of(source: str) -> _ReadText | None:
        tree = parsed(source)
        return _ReadText(tree) if tree is not None else None

    def statement(self, line: int) -> _Simple | None:
        """The innermost simple one of that line."""
        found = [
            each
            for each in self._nodes
            if isinstance(each, _Simple) and each.lineno <= line <= (each.end_lineno or each.lineno)
        ]
        return max(found, key=lambda each: each.lineno, default=None)

    def is_read_later(self, statement: _Simple, *, conditional: bool) -> bool:
        """See `reads_later`; `conditional`: only what stands under a condition counts."""
        around, scope = self._around(statement)
        loop = next((each for each in around if isinstance(each, _Loop)), None)
        within = around[: around.index(loop)] if loop is not None else around
        test = next((each for each in within if isinstance(each, ast.If)), None)
        last = loop.end_lineno or loop.lineno if loop is not None else 0
        for target, shared in _targets(statement):
            loads = [each for each in self._loads(target) if not self._is_in(each, statement)]
            shared = shared or self._is_global(target, scope)
            own = [each for each in loads if isinstance(scope, ast.Module) or self._is_in(each, scope)]
            if test is not None and (loop is not None or shared):
                found = any(not self._is_in(each, test) for each in (loads if shared else own))
            else:
                after = loop is not None and any(each.lineno > last for each in own)
                found = not conditional and (after or (shared and len(own) < len(loads)))
            if found:
                return True
        return False

    def _loads(self, target: ast.Name | ast.Attribute) -> list[ast.expr]:
        """Where the text reads it, except where it is given its value."""
        found = list[ast.expr]()
        for each in self._nodes:
            if isinstance(each, ast.Name) and isinstance(target, ast.Name):
                alike = each.id == target.id
            else:
                alike = (
                    isinstance(each, ast.Attribute) and isinstance(target, ast.Attribute) and each.attr == target.attr
                )
            if alike and isinstance(each, ast.Name | ast.Attribute) and isinstance(each.ctx, ast.Load):
                found.append(each)
        return found

    def _is_global(self, target: ast.expr, scope: ast.AST) -> bool:
        """Whether a function gives it to the text around."""
        names = (each for each in ast.walk(scope) if isinstance(each, ast.Global | ast.Nonlocal))
        return isinstance(target, ast.Name) and any(target.id in each.names for each in names)

    def _around(self, node: ast.AST) -> tuple[list[ast.AST], ast.AST]:
        """What it is in, the innermost first, and the function that all of it is in, or the whole text."""
        found = list[ast.AST]()
        while node in self._parent and not isinstance(node, _Function):
            found.append(node)
            node = self._parent[node]
        return found, node

    def _is_in(self, node: ast.AST, other: ast.AST) -> bool:
        while node is not other and node in self._parent:
            node = self._parent[node]
        return node is other


def _targets(statement: _Simple) -> Iterator[tuple[ast.Name | ast.Attribute, bool]]:
    """`a` and `b` of `a, b = f(x)`; `best` of `best["w"] = w` and of `best.update(w)`, and `self.best` of
    `self.best = w`: these are read in other functions, too."""
    targets = list[tuple[ast.expr, bool]]()
    if isinstance(statement, ast.Assign):
        targets += [(each, False) for each in statement.targets]
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign):
        targets.append((statement.target, False))
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        called = statement.value.func
        targets += [(called.value, True)] if isinstance(called, ast.Attribute) and called.attr in _FILLS else []
    while targets:
        target, shared = targets.pop()
        if isinstance(target, ast.Tuple | ast.List):
            targets += [(each, shared) for each in target.elts]
        elif isinstance(target, ast.Subscript | ast.Starred):
            targets.append((target.value, shared or isinstance(target, ast.Subscript)))
        elif isinstance(target, ast.Name | ast.Attribute):
            yield target, shared or isinstance(target, ast.Attribute)
