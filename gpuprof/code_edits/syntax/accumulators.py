"""Variables that are begun before a loop and changed at one place in it: running sums, lists of losses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import libcst as cst

from gpuprof.code_edits.syntax import matching as m
from gpuprof.code_edits.syntax.origin import assigned
from gpuprof.code_edits.syntax.statements import block_of
from gpuprof.code_edits.syntax.tree import CellTree, Loop


@dataclass(frozen=True)
class Accumulator:
    """`begin` is its value before `loop`, the outermost loop that repeats the change but not the beginning.

    `shown` are its reads inside the loop, and `resets` the numbers it is set back to there, all of them under
    `if step % n`: only every so often.
    """

    name: str
    begin: cst.BaseExpression
    loop: Loop
    shown: tuple[cst.Name, ...]
    resets: tuple[cst.BaseExpression, ...]

    @classmethod
    def of(cls, tree: CellTree, name: cst.Name, change: cst.CSTNode) -> Self | None:
        """The one that `change` changes; None where anything else reads or binds it before the loop ends."""
        mentions = _mentions(tree, name)
        if any(tree.function(each) is not tree.function(change) for each in mentions):
            return None
        elsewhere = [each for each in mentions if not is_within(tree, each, change)]
        first = elsewhere[0] if elsewhere else None
        begin = assigned(tree, first) if first is not None else []
        if first is None or len(begin) != 1 or tree.place(first) > tree.place(change):
            return None
        loop = _outermost(tree, change, first)
        if loop is None or block_of(tree, loop) is None:
            return None
        inside = [each for each in elsewhere[1:] if is_within(tree, each, loop)]
        # between its beginning and the loop nobody may bind it again
        if any(tree.place(each) < tree.place(loop) and _is_bound(tree, each) for each in elsewhere[1:]):
            return None
        if not all(is_rare(tree, each, loop) for each in inside):
            return None
        resets = [value for each in inside if _is_bound(tree, each) for value in assigned(tree, each) or [each]]
        shown = [each for each in inside if not _is_bound(tree, each)]
        if not all(m.matches(value, m.Integer() | m.Float()) for value in resets) or _names_itself(tree, shown):
            return None
        return cls(name.value, begin[0], loop, tuple(shown), tuple(resets))


def is_rare(tree: CellTree, node: cst.CSTNode, loop: Loop | None = None) -> bool:
    """Whether it stands under `if step % n` (inside the loop): it happens only every so often."""
    tests = [each.test for each in tree.around(node) if isinstance(each, cst.If)]
    tests = [test for test in tests if loop is None or is_within(tree, test, loop)]
    return any(
        tree.all(m.BinaryOperation(operator=m.Modulo()), test) and not is_within(tree, node, test) for test in tests
    )


def is_within(tree: CellTree, node: cst.CSTNode, outer: cst.CSTNode) -> bool:
    """Whether one node is the other, or inside it."""
    return node is outer or outer in tree.around(node)


def _mentions(tree: CellTree, name: cst.Name) -> list[cst.Name]:
    """Every mention of the same variable; those of its namesakes in other functions are left out."""
    scope = tree.scope(name)
    bindings = set(scope[name.value]) if scope is not None else set()
    named = [each for each in tree.names() if each.value == name.value]
    return [each for each in named if bindings & set(tree.scope(each)[name.value])]


def _outermost(tree: CellTree, change: cst.CSTNode, first: cst.CSTNode) -> Loop | None:
    outside = tree.loops(first)
    return next((loop for loop in reversed(tree.loops(change)) if loop not in outside), None)


def _is_bound(tree: CellTree, name: cst.Name) -> bool:
    outer = tree.parent(name)
    if isinstance(outer, cst.Element):
        outer = tree.parent(tree.parent(outer) or outer)
    targets = cst.AssignTarget | cst.AugAssign | cst.AnnAssign | cst.NamedExpr | cst.For | cst.CompFor
    return isinstance(outer, targets) and outer.target in (name, *tree.around(name))


def _names_itself(tree: CellTree, shown: list[cst.Name]) -> bool:
    """`f"{total=}"` shows the very text that would change."""
    fields = [tree.nearest(each, cst.FormattedStringExpression) for each in shown]
    return any(field is not None and field.equal is not None for field in fields)
