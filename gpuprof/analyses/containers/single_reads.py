"""Containers that one loop fills and one later loop alone reads, item by item and in order, so that its work could be
done as each item is made."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gpuprof.analyses.containers.item_aliases import ItemAliases, put_in
from gpuprof.analyses.containers.item_uses import ItemUses, Reader, Uses, same_order
from gpuprof.analyses.containers.list_sources import UNKNOWN, ListSource, source_of
from gpuprof.analyses.containers.loop_effects import effects_of, functions_of
from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.analyses.memory.kept_graphs import filled_in

_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
_Loop = ast.For | ast.While
_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
_LIBRARIES = {"torch", "np", "numpy", "F", "nn", "plt", "time", "random", "math"}
_PASSING = {"enumerate", "tqdm", "track", "iter"}
_NUMBERS = {"len", "int", "float", "str", "bool", "item"}


@dataclass(frozen=True)
class SingleRead:
    """Of the profiled cell: the loop, or comprehension, at line `made_in` (1-based) fills `names` at the lines
    `filled`; the loop at `read_in` alone reads them, and keeps nothing of an item but what it makes of it. `parts`: how
    many tensors an item has at most. `given_to`: the function that has that loop, where they are given to one.
    `source`: what they are made of in one statement."""

    names: tuple[str, ...]
    filled: tuple[int, ...]
    made_in: int
    read_in: int
    parts: int = 1
    given_to: str = ""
    source: ListSource = UNKNOWN


def single_read(sources: Sequence[str], name: str, function: str | None = None) -> SingleRead | None:
    """Of `name` (a variable of that function, else of the notebook) in the first of the texts, the profiled cell; None
    where another text has the name, or anything else may read it, or the later loop may need more than one item at a
    time."""
    source = sources[0] if sources else ""
    tree = parsed(source) if name in source else None
    if tree is None or (function is None and any(_has(each, name) for each in sources[1:])):
        return None
    scopes: list[ast.AST] = [tree]
    if function is not None:
        scopes = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == function]
    return _TwoLoops(tree, scopes[0]).of(name) if len(scopes) == 1 else None


class _TwoLoops:
    """Looks for the two loops of a name in a scope."""

    def __init__(self, tree: ast.Module, scope: ast.AST):
        self._tree = tree
        self._functions = functions_of(tree)
        self._uses = ItemUses(tree, scope, self._functions)
        imports = (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))
        self._libraries = _LIBRARIES | {
            (each.asname or each.name).partition(".")[0] for node in imports for each in node.names
        }

    def of(self, name: str) -> SingleRead | None:
        """The two loops."""
        uses = self._uses.of(name)
        reader = uses.reader if uses else None
        maker = self._maker(uses) if uses else None
        if uses is None or reader is None or maker is None or not same_order(uses, maker):
            return None
        source = source_of(uses.bound, self._functions, self._tree) if maker is uses.bound else UNKNOWN
        if source is None:
            return None
        if self._comes_later(maker, uses.read_at) or self._in_other_contexts(maker, uses):
            if uses.read_at is not reader:
                return None
            source = UNKNOWN
        handed, there = uses.read_at is not reader, {uses.name_there: uses}
        together = there if handed else dict(self._together(reader, maker, name)) | there
        if self._needs_all(maker, uses.read_at, set(together) | {name}) or self._kept_in_making(maker, together):
            return None
        items, parts = _items(reader, together, _counts(maker))
        if self._kept_in_reading(reader, items | set(together)):
            return None
        lines = {getattr(each, "lineno", 0) for each in uses.fills}
        return SingleRead(
            (name,) if handed else tuple(together),
            tuple(sorted(lines)),
            maker.lineno,
            reader.lineno,
            max(parts, 1),
            _called(uses.read_at) if handed else "",
            source,
        )

    def _maker(self, uses: Uses) -> ast.stmt | None:
        """The loop that fills it, or the statement with a comprehension, where it stands beside and before the loop
        that reads it, and both begin anew where a loop around them does."""
        reading = self._uses.path(uses.read_at)
        makings = [self._uses.path(each) for each in uses.fills]
        common = next((each for each in reading if all(each in making for making in makings)), None)
        if common is None:
            return None
        inner = reading[1 : reading.index(common)]
        if any(isinstance(each, _Loop | _Comprehension | _Scope) for each in inner):
            return None
        found = list[ast.AST]()
        for making, fill in zip(makings, uses.fills, strict=True):
            loops = [each for each in making[: making.index(common)] if isinstance(each, _Loop)]
            found += loops[-1:] or ([fill] if fill is uses.bound else [])
        around = next((each for each in self._uses.path(common) if isinstance(each, _Loop)), None)
        anew = around is None or around in self._uses.path(uses.bound)
        alone = len(found) == len(makings) and len({id(each) for each in found}) == 1
        if not alone or not anew or not isinstance(found[0], ast.stmt):
            return None
        return found[0] if _last(found[0]) < uses.read_at.lineno else None

    def _together(self, reader: Reader, maker: ast.stmt, name: str) -> Iterator[tuple[str, Uses]]:
        """Other containers that the same two loops fill and read: `for p, y in zip(preds, labels)`."""
        for other, _ in _taken(_iterated(reader), _target(reader)):
            uses = self._uses.of(other) if other != name else None
            if uses is not None and uses.reader is reader and self._maker(uses) is maker:
                yield other, uses

    def _needs_all(self, maker: ast.stmt, reader: ast.expr | ast.stmt, names: set[str]) -> bool:
        """Whether the later loop uses what the first has only at its end, or one changes what the other uses."""
        free = names | self._libraries
        first, second = effects_of(_made(maker), self._functions), effects_of([reader], self._functions)
        changed = first.writes - free
        for each in self._uses.between(maker, reader):
            middle = effects_of([each], self._functions)
            if middle.reads & changed or middle.writes & first.reads & second.reads - free:
                changed |= middle.writes - free
            if middle.trains and middle.called & second.called - free - set(self._functions):
                return True
        if second.reads & changed or (second.writes & first.reads) - free:
            return True
        trains = first.trains or second.trains
        return bool(trains and (first.called & second.called) - free - set(self._functions))

    def _comes_later(self, maker: ast.stmt, reader: ast.expr | ast.stmt) -> bool:
        """Whether something between the two needs what the first has done, or changes what it reads."""
        first = effects_of(_made(maker), self._functions)
        middle = [effects_of([each], self._functions) for each in self._uses.between(maker, reader)]
        free = self._libraries | set(self._functions)
        return any((each.reads & first.writes or each.writes & first.reads) - free for each in middle)

    def _in_other_contexts(self, maker: ast.stmt, uses: Uses) -> bool:
        """Whether a file that the first reads would be closed by then, or gradients be on or off."""
        making = self._uses.contexts(maker)
        reading = self._uses.contexts(uses.read_at) | self._uses.contexts(uses.reader)
        trains = effects_of(_made(maker), self._functions).trains
        return bool(making - reading or (trains and reading - making))

    def _kept_in_making(self, maker: ast.stmt, together: dict[str, Uses]) -> bool:
        """Whether the first loop puts the same tensor into something else, too."""
        fills = [fill for uses in together.values() for fill in uses.fills]
        values = [value for fill in fills for given in put_in(fill) for value in _elements(given)]
        names = {each.id for each in values if isinstance(each, ast.Name)}
        items = ItemAliases(names - _counts(maker), self._functions)
        others = (node for node in ast.walk(maker) if node not in fills and filled_in(node) is not None)
        return any(items.may_be_item(given) for node in others for given in put_in(node))

    def _kept_in_reading(self, reader: Reader, items: set[str]) -> bool:
        aliases = ItemAliases(items, self._functions)
        if isinstance(reader, ast.For):
            return bool(reader.orelse) or aliases.keeps(reader.body)
        parts = (reader.key, reader.value) if isinstance(reader, ast.DictComp) else (reader.elt,)
        return any(map(aliases.may_be_item, parts)) or aliases.keeps(parts)


def _items(reader: Reader, together: dict[str, Uses], counts: set[str]) -> tuple[set[str], int]:
    """The names that the later loop has for items or parts of them, without those that are numbers by the text, and the
    number of parts."""
    found, most = set[str](), 1
    for name, target in _taken(_iterated(reader), _target(reader)):
        whole = [target]
        fills = together[name].fills if name in together else ()
        given = [value for fill in fills for value in put_in(fill)]
        if isinstance(target, ast.Tuple) and all(isinstance(each, ast.Tuple) for each in given):
            made = [each.elts for each in given if isinstance(each, ast.Tuple)]
            if made and all(len(each) == len(target.elts) for each in made):
                rows = zip(target.elts, *made, strict=True)
                whole = [part for part, *values in rows if not all(_is_number(each, counts) for each in values)]
        most = max(most, len(whole))
        found |= {each.id for part in whole for each in ast.walk(part) if isinstance(each, ast.Name)}
    return found, most


def _taken(iterated: ast.expr, target: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Each name that a loop goes over, with the part of its target that stands for an item."""
    parts = target.elts if isinstance(target, ast.Tuple) else []
    if isinstance(iterated, ast.Name):
        yield iterated.id, target
    elif isinstance(iterated, ast.Call):
        function = iterated.func
        called = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if called == "zip":
            for number, each in enumerate(iterated.args):
                yield from _taken(each, parts[number] if len(parts) == len(iterated.args) else target)
        elif called in _PASSING and iterated.args:
            paired = called == "enumerate" and len(parts) == 2
            yield from _taken(iterated.args[0], parts[1] if paired else target)
        elif called in ("items", "values") and isinstance(function, ast.Attribute):
            yield from _taken(function.value, parts[1] if called == "items" and len(parts) == 2 else target)


def _counts(maker: ast.stmt) -> set[str]:
    """The names that the first loop binds to numbers: of `range`, or in front of what `enumerate` gives."""
    loops = [node for node in ast.walk(maker) if isinstance(node, ast.For | ast.comprehension)]
    found = set[str]()
    for loop in loops:
        called = loop.iter.func if isinstance(loop.iter, ast.Call) else None
        kind = getattr(called, "id", getattr(called, "attr", ""))
        if kind == "range" and isinstance(loop.target, ast.Name):
            found.add(loop.target.id)
        if kind in ("enumerate", "items") and isinstance(loop.target, ast.Tuple):
            found |= {each.id for each in loop.target.elts[:1] if isinstance(each, ast.Name)}
    return found


def _is_number(node: ast.expr, counts: set[str]) -> bool:
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", getattr(node.func, "attr", "")) in _NUMBERS
    return isinstance(node, ast.Constant | ast.JoinedStr) or (isinstance(node, ast.Name) and node.id in counts)


def _elements(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple | ast.List) else [node]


def _iterated(reader: Reader) -> ast.expr:
    return reader.iter if isinstance(reader, ast.For) else reader.generators[0].iter


def _target(reader: Reader) -> ast.expr:
    return reader.target if isinstance(reader, ast.For) else reader.generators[0].target


def _made(maker: ast.stmt) -> list[ast.AST]:
    return [maker.value] if isinstance(maker, ast.Assign | ast.AnnAssign) and maker.value else [maker]


def _called(node: ast.AST) -> str:
    return getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""


def _last(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _has(source: str, name: str) -> bool:
    tree = parsed(source) if name in source else None
    return tree is not None and any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(tree))
