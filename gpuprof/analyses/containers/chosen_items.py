"""Containers of which a text only ever takes single items: the best one, the last one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from gpuprof.analyses.loops.written_loops import parsed

_CHOICES = ("min", "max")
_ORDERS = ("sorted",)
_ADDS = ("append", "extend", "insert", "add")
_LENGTHS = ("len",)


@dataclass(frozen=True)
class ChosenItems:
    """`calls`: the words by which an item is taken, such as `max(checkpoints, …)`; `lines`: where, 1-based."""

    calls: tuple[str, ...]
    lines: tuple[int, ...]


def chosen_items(source: str, name: str, *, attribute: bool = False) -> ChosenItems | None:
    """How that text takes items of what it collects in `name` (an `attribute` of any object); None where it takes none,
    or all of them.

    `max(name, key=…)`, `sorted(name, …)[0]` and `name[-1]` take one. What only reads one entry of each item by a key of
    its own (`[c["loss"] for c in name]`) takes none, where the items that are chosen are not read by that key alone.
    """
    tree = parsed(source) if name in source else None
    if tree is None:
        return None
    text = _ContainerReads(tree, name, attribute)
    taken = [text.taken(each) for each in text.reads()]
    if any(each is None for each in taken):
        return None
    words = [each for each in taken if each]
    if not words:
        return None
    calls, lines = zip(*words, strict=True)
    return ChosenItems(tuple(dict.fromkeys(calls)), tuple(sorted(set(lines))))


class _ContainerReads:
    """The nodes of a text with what they stand in."""

    def __init__(self, tree: ast.Module, name: str, attribute: bool):
        self._name, self._attribute = name, attribute
        self._nodes = list(ast.walk(tree))
        self._around = {id(inner): node for node in self._nodes for inner in ast.iter_child_nodes(node)}
        self._entries = self._read_of_chosen()

    def reads(self) -> Iterator[ast.Name | ast.Attribute]:
        """Where the container is read."""
        for node in self._nodes:
            if self._attribute:
                own = isinstance(node, ast.Attribute) and node.attr == self._name
            else:
                own = isinstance(node, ast.Name) and node.id == self._name
            if own and isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
                yield node

    def taken(self, node: ast.Name | ast.Attribute) -> tuple[str, int] | tuple[()] | None:
        """The words and the line of what takes one item there; empty where it takes none, None where it may take
        all."""
        choice = self._choice(node)
        if choice is not None:
            return choice, node.lineno
        around = self._around[id(node)]
        if isinstance(around, ast.Attribute) and around.attr in _ADDS:
            return ()
        if isinstance(around, ast.Call) and isinstance(around.func, ast.Name) and around.func.id in _LENGTHS:
            return ()
        if self._is_tested(node):
            return ()
        if isinstance(around, ast.comprehension | ast.For) and around.iter is node:
            return () if self._reads_entries(around) else None
        return None

    def _is_tested(self, node: ast.AST) -> bool:
        """`if not kept or better(x):` asks whether anything is in it."""
        around = self._around[id(node)]
        while isinstance(around, ast.UnaryOp | ast.BoolOp):
            node, around = around, self._around[id(around)]
        return getattr(around, "test", None) is node

    def _choice(self, node: ast.expr) -> str | None:
        around = self._around[id(node)]
        if isinstance(around, ast.Subscript) and around.value is node and isinstance(around.ctx, ast.Load):
            return f"{ast.unparse(node)}[{ast.unparse(around.slice)}]" if _is_number(around.slice) else None
        if not isinstance(around, ast.Call) or not isinstance(around.func, ast.Name) or around.args[:1] != [node]:
            return None
        if around.func.id in _CHOICES and len(around.args) == 1:
            return f"{around.func.id}({ast.unparse(node)}, …)"
        above = self._around[id(around)]
        if around.func.id in _ORDERS and isinstance(above, ast.Subscript) and _is_number(above.slice):
            return f"sorted({ast.unparse(node)}, …)[{ast.unparse(above.slice)}]"
        return None

    def _read_of_chosen(self) -> set[str] | None:
        """By which keys the chosen items are read; None where they are read as a whole."""
        names, entries = set[str](), set[str]()
        for read in self.reads():
            if self._choice(read) is None:
                continue
            statement = self._statement(read)
            if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
                return None
            if not isinstance(statement.targets[0], ast.Name):
                return None
            names.add(statement.targets[0].id)
        for node in self._nodes:
            if isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load):
                entry = _entry(self._around[id(node)], node)
                if entry is None:
                    return None
                entries.add(entry)
        return entries

    def _statement(self, node: ast.AST) -> ast.AST:
        found: ast.AST = node
        while not isinstance(found, ast.stmt):
            found = self._around[id(found)]
        return found

    def _reads_entries(self, loop: ast.comprehension | ast.For) -> bool:
        """Whether it reads one entry of each item, which is not all that is read of the chosen ones."""
        if not isinstance(loop.target, ast.Name) or self._entries is None:
            return False
        whole = self._around[id(loop)] if isinstance(loop, ast.comprehension) else loop
        keys = [
            _entry(self._around[id(node)], node)
            for node in ast.walk(whole)
            if isinstance(node, ast.Name) and node.id == loop.target.id and isinstance(node.ctx, ast.Load)
        ]
        return None not in keys and not self._entries <= {each for each in keys if each is not None}


def _entry(around: ast.AST, node: ast.Name) -> str | None:
    """`loss` of `c["loss"]`."""
    if isinstance(around, ast.Subscript) and around.value is node and isinstance(around.slice, ast.Constant):
        return str(around.slice.value)
    return None


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, int)
