"""Of which columns of a table a call makes a new table, and which of them are read afterwards, by the text.

`b = table.sample(n)`, then `b.groupby("arm")["revenue"].mean()`: the call copies all columns of the table, and two of
them are read. A use that the text does not explain reads all of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.model.operands import Operand
from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.cell.pure_calls import words

# these make a table of the same columns with other rows, or the same rows
_OF_ROWS = words("copy fillna query reindex reset_index sample sort_index sort_values take")
_BY_COLUMNS = words("groupby sort_values")
_OF_NO_COLUMN = words("empty index shape")
# not columns, and what they give may be all of them
_WHOLE = words("T at attrs axes columns dtypes flags iat iloc loc ndim plot size style values")
_COUNTS = words("ngroup ngroups size")
# a table of fewer columns is hardly wide, and of a larger part of them most is needed
_WIDE, _LONG, _LEAST_WIDTH, _LEAST_PART = ".DataFrame", 1000, 8, 4
_MASKS = ast.Compare | ast.BinOp | ast.UnaryOp
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class ColumnsRead(NamedTuple):
    """`call` makes a table of all columns of `table`; `columns` of them are read, in the order of their names."""

    call: ast.Call
    table: str
    columns: tuple[str, ...]


class CopiedColumns(NamedTuple):
    """`call` copies `width` columns of a long table `over`, of which `columns` are read: a quarter at most."""

    call: ast.Call
    over: Operand
    width: int
    columns: tuple[str, ...]


def copied_columns(source: str, nodes: Sequence[ast.AST], seen: Mapping[str, Operand]) -> Iterator[CopiedColumns]:
    """As `columns_read`, of tables that were `seen`, by name."""
    for call, name, columns in columns_read(source, nodes):
        over = seen.get(name)
        if over is None or not over.kind.endswith(_WIDE) or not over.most or (over.least or 0) < _LONG:
            continue
        width = (over.most_elements or 0) // over.most
        if width >= _LEAST_WIDTH and width >= _LEAST_PART * len(columns):
            yield CopiedColumns(call, over, width, columns)


def columns_read(source: str, nodes: Sequence[ast.AST]) -> Iterator[ColumnsRead]:
    """Of each such call of a statement whose columns are known; `nodes`: of the statement, of `parsed(source)`."""
    tree = parsed(source)
    if tree is None:
        return
    reader = _Columns(tree)
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _OF_ROWS:
            table, found = dotted(node.func.value), reader.of_rows(node)
            if table and found:
                yield ColumnsRead(node, table, tuple(sorted(found)))


@lru_cache(maxsize=8)
def _parents(tree: ast.Module) -> Mapping[ast.AST, ast.AST]:
    return {inner: node for node in ast.walk(tree) for inner in ast.iter_child_nodes(node)}


class _Columns:
    """Of one text. A set of names; None where all columns may be read."""

    def __init__(self, tree: ast.Module):
        self._tree, self._parent = tree, _parents(tree)

    def of_rows(self, call: ast.Call) -> frozenset[str] | None:
        """What a call of `sample` and its like asks for, and what is read of its result."""
        assert isinstance(call.func, ast.Attribute)
        read = self._of(call)
        return read if read is None or call.func.attr not in _BY_COLUMNS else _joined(_given(call), read)

    def _of(self, table: ast.expr) -> frozenset[str] | None:
        """What is read of an expression that stands for a table."""
        around = self._parent.get(table)
        if isinstance(around, ast.Subscript) and around.value is table:
            if isinstance(around.slice, _MASKS):
                return self._of(around)
            return frozenset() if isinstance(around.ctx, ast.Store) else _named(around.slice)
        if isinstance(around, ast.Attribute):
            return self._of_attribute(around)
        if isinstance(around, ast.Call):
            return frozenset() if dotted(around.func) == "len" else None
        if isinstance(around, ast.Assign) and len(around.targets) == 1 and around.value is table:
            return self._of_name(around, around.targets[0])
        return None

    def _of_attribute(self, taken: ast.Attribute) -> frozenset[str] | None:
        around = self._parent.get(taken)
        if isinstance(around, ast.Call) and around.func is taken:
            if taken.attr in _OF_ROWS:
                return self.of_rows(around)
            return _joined(_given(around), self._of_groups(around)) if taken.attr == "groupby" else None
        if taken.attr == "loc" and isinstance(around, ast.Subscript) and isinstance(around.slice, ast.Tuple):
            return _named(around.slice.elts[-1])
        if taken.attr in _OF_NO_COLUMN:
            return frozenset()
        return None if taken.attr in _WHOLE else frozenset((taken.attr,))

    def _of_groups(self, groups: ast.Call) -> frozenset[str] | None:
        """`["revenue"]` of `b.groupby("arm")["revenue"]`."""
        around = self._parent.get(groups)
        if isinstance(around, ast.Subscript):
            return _named(around.slice)
        if not isinstance(around, ast.Attribute):
            return None
        if around.attr in _COUNTS:
            return frozenset()
        called = isinstance(self._parent.get(around), ast.Call) and getattr(self._parent[around], "func", 0) is around
        return None if called else frozenset((around.attr,))

    def _of_name(self, given: ast.Assign, target: ast.expr) -> frozenset[str] | None:
        if not isinstance(target, ast.Name):
            return None
        names = [each for each in ast.walk(self._scope(given)) if isinstance(each, ast.Name) and each.id == target.id]
        loads = [each for each in names if isinstance(each.ctx, ast.Load)]
        if len(names) - len(loads) != 1:
            return None
        found: frozenset[str] | None = frozenset()
        for each in loads:
            found = _joined(found, self._of(each))
        return found

    def _scope(self, node: ast.AST) -> ast.AST:
        while not isinstance(node, _Function | ast.Module):
            node = self._parent[node]
        return node


def _joined(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    return None if one is None or other is None else one | other


def _named(index: ast.expr) -> frozenset[str] | None:
    """`"a"`, `["a", "b"]`."""
    parts = index.elts if isinstance(index, ast.List | ast.Tuple) else [index]
    names = [each.value for each in parts if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return frozenset(names) if len(names) == len(parts) else None


def _given(call: ast.Call) -> frozenset[str] | None:
    """The columns that `groupby` or `sort_values` is asked for."""
    by = call.args[0] if call.args else next((each.value for each in call.keywords if each.arg == "by"), None)
    return _named(by) if by is not None else None
