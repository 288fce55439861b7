"""Containers in attributes of objects that a name holds: `runs[…].history`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from gpuprof.analyses.containers.chosen_items import ChosenItems, chosen_items
from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.analyses.memory.kept_graphs import filled_in
from gpuprof.model.memory import HolderLevel

_PAIRS = {"items", "enumerate"}
_PASSING = {"enumerate", "len", "list", "print", "reversed", "sorted", "tqdm", "zip"}


@dataclass(frozen=True)
class InnerContainer:
    """The attribute `name`, of each of `number` objects, with about `items` things in each; the `lines` of the profiled
    cell (1-based) that put something into it; `chosen`: how the text takes single items of it, where it takes no more.
    """

    name: str
    number: int
    items: int
    lines: tuple[int, ...]
    chosen: ChosenItems | None = None


def inner_container(texts: Sequence[str], name: str, levels: Sequence[HolderLevel]) -> InnerContainer | None:
    """The innermost attribute on the way from `name` into which the texts put something; the first of the texts is the
    profiled cell."""
    for at, level in reversed(list(enumerate(levels))):
        attribute = level.step.removeprefix(".")
        if attribute == level.step or not any(_fills(each, attribute) for each in texts):
            continue
        number = prod(each.items for each in levels[:at] if each.step == "[…]")
        with_it = [each for each in texts if attribute in each]
        alone = len(with_it) == 1 and not any(_is_given(each, name) for each in texts)
        chosen = chosen_items(with_it[0], attribute, attribute=True) if alone else None
        items = levels[at + 1].items if at + 1 < len(levels) else 0
        return InnerContainer(attribute, number, items, _fills(texts[0], attribute), chosen)
    return None


def _fills(source: str, attribute: str) -> tuple[int, ...]:
    tree = parsed(source) if attribute in source else None
    found = set[int]()
    for node in ast.walk(tree) if tree else ():
        target = filled_in(node)
        if isinstance(node, ast.AugAssign) and not isinstance(node.value, ast.List | ast.Tuple):
            continue
        while isinstance(target, ast.Subscript):
            target = target.value
        if isinstance(target, ast.Attribute) and target.attr == attribute:
            found.add(node.lineno)  # type: ignore[attr-defined]
    return tuple(sorted(found))


def _is_given(source: str, name: str) -> bool:
    """Whether the objects are given to something as a whole, which may read all of them."""
    tree = parsed(source)
    nodes = list(ast.walk(tree)) if tree else []
    names = {name}
    for node in nodes:
        if isinstance(node, ast.For | ast.comprehension) and _mentions(node.iter, name):
            names |= {each.id for each in ast.walk(_value(node)) if isinstance(each, ast.Name)}
        if isinstance(node, ast.ClassDef):
            methods = (each for each in node.body if isinstance(each, ast.FunctionDef) and each.args.args)
            names |= {each.args.args[0].arg for each in methods}
    for node in nodes:
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") not in _PASSING:
            given = (*node.args, *(each.value for each in node.keywords))
            if any(isinstance(each, ast.Name) and each.id in names for each in given):
                return True
        if isinstance(node, ast.Attribute) and node.attr == "__dict__":
            return True
    return False


def _value(loop: ast.For | ast.comprehension) -> ast.expr:
    """What stands for an item: of pairs with a key or a number the second."""
    called = loop.iter.func if isinstance(loop.iter, ast.Call) else None
    paired = getattr(called, "attr", getattr(called, "id", "")) in _PAIRS
    target = loop.target
    return target.elts[-1] if paired and isinstance(target, ast.Tuple) else target


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node))
