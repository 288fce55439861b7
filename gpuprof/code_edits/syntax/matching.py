"""Patterns of code: `Call(Name("print"))` matches every call of that name.

The part of libcst's own matchers that the edits need, with the same meaning: importing those takes a third of a second,
for hundreds of classes. Every class of libcst's nodes is a pattern here, by its name.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import libcst as cst


class Pattern:
    """Anything that a node, a list of nodes or an attribute can match. `one | other`: either."""

    def __or__(self, other: Pattern) -> OneOf:
        return OneOf(self, other)


@dataclass(frozen=True, init=False)
class OneOf(Pattern):
    """Any of these."""

    options: tuple[Any, ...]

    def __init__(self, *options: Any):
        object.__setattr__(self, "options", options)


@dataclass(frozen=True)
class MatchIfTrue(Pattern):
    """Whatever the function says yes to."""

    says: Callable[[Any], Any]


@dataclass(frozen=True)
class AtLeastN(Pattern):
    """In a list: so many that match, or more; anything without a pattern."""

    pattern: Any = None
    n: int = 0


@dataclass(frozen=True)
class NodePattern(Pattern):
    """A node of that class, with those attributes."""

    kind: type[cst.CSTNode]
    wanted: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, kind: type[cst.CSTNode], *values: Any, **named: Any) -> Self:
        """`values` in the order of the node's own attributes."""
        names = (field.name for field in fields(kind))
        return cls(kind, (*zip(names, values, strict=False), *named.items()))


def __getattr__(name: str) -> Any:
    kind = getattr(cst, name, None)
    if not (isinstance(kind, type) and issubclass(kind, cst.CSTNode)):
        raise AttributeError(f"libcst has no node {name!r}")
    return functools.partial(NodePattern.of, kind)


def ZeroOrMore(pattern: Any = None) -> AtLeastN:  # noqa: N802 - it stands among names of classes
    """In a list: any number that match; of anything without a pattern."""
    return AtLeastN(pattern)


def MatchRegex(expression: str) -> MatchIfTrue:  # noqa: N802
    """Text that the whole expression matches."""
    return MatchIfTrue(lambda text: isinstance(text, str) and re.fullmatch(expression, text) is not None)


def matches(node: Any, pattern: Any) -> bool:
    """Whether a node, an attribute or a list of nodes is as the pattern says."""
    if isinstance(pattern, NodePattern):
        return type(node) is pattern.kind and all(matches(getattr(node, name), each) for name, each in pattern.wanted)
    if isinstance(pattern, OneOf):
        return any(matches(node, option) for option in pattern.options)
    if isinstance(pattern, MatchIfTrue):
        return bool(pattern.says(node))
    if isinstance(pattern, str):
        return bool(node == pattern)
    if pattern is None or isinstance(pattern, bool):
        return node is pattern
    return isinstance(node, Sequence) and not isinstance(node, str) and _list_matches(node, pattern)


def findall(tree: cst.CSTNode, pattern: Any) -> list[cst.CSTNode]:
    """Every node of the tree, itself included, that matches."""
    visitor = _Finder(pattern)
    tree.visit(visitor)
    return visitor.found


def _list_matches(nodes: Sequence[Any], patterns: Sequence[Any]) -> bool:
    if not patterns:
        return not nodes
    first, rest = patterns[0], patterns[1:]
    if not isinstance(first, AtLeastN):
        return bool(nodes) and matches(nodes[0], first) and _list_matches(nodes[1:], rest)
    if first.n <= 0 and _list_matches(nodes, rest):
        return True
    if not nodes or not (first.pattern is None or matches(nodes[0], first.pattern)):
        return False
    return _list_matches(nodes[1:], [AtLeastN(first.pattern, first.n - 1), *rest])


class _Finder(cst.CSTVisitor):
    def __init__(self, pattern: Any):
        super().__init__()
        self._pattern = pattern
        self.found: list[cst.CSTNode] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if matches(node, self._pattern):
            self.found.append(node)
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        """Nothing: the usual way looks up a method for every node."""
