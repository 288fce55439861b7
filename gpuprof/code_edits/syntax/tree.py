"""One cell as a concrete syntax tree: what stands where, what a name is bound to, and the text after a change."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self, TypeVar, cast

import libcst as cst
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider, ScopeProvider

from gpuprof.code_edits.syntax import matching as m
from gpuprof.code_edits.syntax.masks import Masked

# what a node of the original tree becomes; the argument has the changes below it already
Changes = dict[cst.CSTNode, Callable[[Any], Any]]
Loop = cst.For | cst.While
Callee = cst.FunctionDef | cst.Lambda
N = TypeVar("N", bound=cst.CSTNode)

# about a second on a slow machine; a cell of fifty lines takes 0.03 s
LONGEST_SOURCE = 30_000


class CellTree:
    """A parsed cell."""

    def __init__(self, source: str, masked: Masked):
        # libcst loses some empty lines and comments at the end of a text, none above a last statement
        self._end = "pass\n" if masked.code.endswith("\n") else "\npass\n"
        wrapper = MetadataWrapper(cst.parse_module(masked.code + self._end), unsafe_skip_copy=True)
        self.module = wrapper.module
        self._source = source
        self._masked = masked
        self._positions: Mapping[cst.CSTNode, Any] = wrapper.resolve(PositionProvider)
        self._parents: Mapping[cst.CSTNode, cst.CSTNode] = wrapper.resolve(ParentNodeProvider)
        self._scopes: Mapping[cst.CSTNode, Any] = wrapper.resolve(ScopeProvider)

    @classmethod
    @functools.lru_cache(maxsize=2)  # the findings of one report change the same cell
    def of(cls, source: str) -> Self | None:
        """The tree; None where the cell is no Python that can be read, or is a whole program of over 30,000 signs."""
        if len(source) > LONGEST_SOURCE:
            return None
        masked = Masked.of(source)
        if masked is None:
            return None
        try:
            tree = cls(source, masked)
        except (cst.ParserSyntaxError, cst.CSTValidationError, RecursionError, UnicodeError):
            return None
        return tree if tree.module.code == masked.code + tree._end else None

    @property
    def statements(self) -> Sequence[cst.BaseStatement]:
        """Those of the first level."""
        return cast(Sequence[cst.BaseStatement], self.module.body)[:-1]

    def changed(self, changes: Changes) -> str | None:
        """The cell's text with the changes; None without any, or where the result would be no Python."""
        if not changes:
            return None
        code = self.module.visit(_Changer(changes)).code.removesuffix(self._end)
        return self._masked.finished(code, self._source)

    def all(self, matcher: Any, within: cst.CSTNode | None = None) -> list[Any]:
        """Every node that matches, in the order of the text."""
        found: list[cst.CSTNode] = list(m.findall(within or self.module, matcher))
        return sorted(found, key=self.place)

    def names(self, within: cst.CSTNode | None = None) -> list[cst.Name]:
        """Every mention of a variable: not the names of attributes, keywords and modules."""
        return [name for name in self.all(m.Name(), within) if self.scope(name) is not None]

    def place(self, node: cst.CSTNode) -> tuple[int, int]:
        """Line (from 1) and column (from 0) where it begins."""
        start = self._positions[node].start
        return start.line, start.column

    def lines(self, node: cst.CSTNode) -> range:
        """The lines (from 1) that it covers."""
        where = self._positions[node]
        return range(where.start.line, where.end.line + 1)

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The node around it; None for the module."""
        return self._parents.get(node)

    def around(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes around it, the innermost first."""
        outer = self.parent(node)
        while outer is not None:
            yield outer
            outer = self.parent(outer)

    def nearest(self, node: cst.CSTNode, *kinds: type[N]) -> N | None:
        """The innermost node of these kinds around it."""
        return next((outer for outer in self.around(node) if isinstance(outer, kinds)), None)

    def loops(self, node: cst.CSTNode) -> list[Loop]:
        """The loops within the same function that repeat it, the innermost first."""
        found, inner = list[Loop](), node
        for outer in self.around(node):
            if isinstance(outer, Callee):
                break
            once = isinstance(outer, cst.For) and inner is outer.iter
            if isinstance(outer, Loop) and not once and inner is not outer.orelse:
                found.append(outer)
            inner = outer
        return found

    def function(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The function, lambda or class whose body it is in; None at the top level."""
        return self.nearest(node, cst.FunctionDef, cst.Lambda, cst.ClassDef)

    def scope(self, name: cst.CSTNode) -> Any:
        """libcst's scope of a name; None where it keeps none."""
        return self._scopes.get(name)

    def imported_as(self, node: cst.CSTNode) -> str | None:
        """The full name (`torch.optim.Adam`) of what an import of this cell bound; None for any other name."""
        root = node
        while isinstance(root, cst.Attribute):
            root = root.value
        scope = self.scope(root)
        names = scope.get_qualified_names_for(node) if scope is not None else ()
        return next((str(name.name) for name in names if name.source.name == "IMPORT"), None)

    def code(self, node: cst.CSTNode) -> str:
        """Its text."""
        return self.module.code_for_node(node)


class _Changer(cst.CSTTransformer):
    def __init__(self, changes: Changes):
        super().__init__()
        self._changes = changes

    def on_leave(self, original_node: Any, updated_node: Any) -> Any:
        change = self._changes.get(original_node)
        return updated_node if change is None else change(updated_node)
