"""The names that a text reads, by function; outside of functions by statement."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

_MAGIC = re.compile(r"^(\s*)[%!].*$", re.MULTILINE)
_MOST_NAMES = 60
_MOST_DEPTH = 3
# 20 ms of parsing
_MOST_CHARACTERS = 60_000
_Function = ast.FunctionDef | ast.AsyncFunctionDef
Chain = tuple[str, ...]


class NamesRead(NamedTuple):
    """In the lines `first` to `last`: names, and attributes of names, split at the dots. `own`: those that the function
    itself gives a value, its arguments included."""

    first: int
    last: int
    chains: tuple[Chain, ...]
    own: frozenset[str]
    in_function: bool


def tree_of(source: str) -> ast.Module | None:
    """The syntax tree; None for a text that is not Python, or too long.

    Python 3.11 cannot make two at a time: where another one is begun meanwhile, in a callback or on another thread, the
    first one fails with a SystemError.
    """
    if len(source) > _MOST_CHARACTERS:
        return None
    try:
        return ast.parse(_MAGIC.sub(r"\1pass", source))
    except (SyntaxError, ValueError, RecursionError, MemoryError, SystemError):
        return None


def names_of(tree: ast.Module) -> list[NamesRead]:
    """Of each function and of each statement of the text, functions inside others after them.

    `self.frame.iloc[i]` reads `self`, `self.frame`, `self.frame.iloc` and `i`. Empty for too deep a tree.
    """
    try:
        return _of_tree(tree)
    except RecursionError:
        return []


def _of_tree(tree: ast.Module) -> list[NamesRead]:
    outside = [_read(node, (), False) for node in tree.body if not isinstance(node, _Function | ast.ClassDef)]
    functions = [node for node in ast.walk(tree) if isinstance(node, _Function)]
    return outside + [_read(node, _given(node.args), True) for node in functions]


def _read(node: ast.stmt, given: tuple[str, ...], in_function: bool) -> NamesRead:
    inside = [each for part in ast.iter_child_nodes(node) for each in _inside(part)]
    own = {each.id for each in inside if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)}
    chains = tuple(dict.fromkeys(chain for each in inside for chain in _chains(each)))[:_MOST_NAMES]
    return NamesRead(node.lineno, node.end_lineno or node.lineno, chains, frozenset({*own, *given}), in_function)


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, _Function | ast.ClassDef):
        return
    yield node
    for each in ast.iter_child_nodes(node):
        yield from _inside(each)


def _given(arguments: ast.arguments) -> tuple[str, ...]:
    return tuple(each.arg for each in ast.walk(arguments) if isinstance(each, ast.arg))


def _chains(node: ast.AST) -> Iterator[Chain]:
    chain = _chain(node)
    if chain and len(chain) <= _MOST_DEPTH:
        yield chain


def _chain(node: ast.AST) -> Chain:
    """Of names and attributes alone that are read; empty for anything else."""
    if isinstance(node, ast.Name):
        return (node.id,) if isinstance(node.ctx, ast.Load) else ()
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        inner = _chain(node.value)
        return (*inner, node.attr) if inner else ()
    return ()
