"""Which names of a text stand for a single item of what a loop goes over.

A loop over batches is none: `range` with a step, `split`, a loader, and whatever else is not understood here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from gpuprof.analyses.loops.carried_names import carried_names
from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.rules.cell.cell_bindings import dotted

_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_Loop = ast.For | _Comprehension
_Function = ast.FunctionDef | ast.AsyncFunctionDef
# what goes over all of its first argument
_THROUGH = ("tqdm", "list", "tuple", "iter", "reversed", "sorted", "track")
# methods that give all items of an object, and attributes that do
_OF_ALL = (
    "items",
    "values",
    "keys",
    "iterrows",
    "itertuples",
    "tolist",
    "to_numpy",
    "numpy",
    "astype",
    "copy",
    "index",
)
_MOST_CALLERS = 3


@dataclass(frozen=True)
class ItemScope:
    """What one loop gives to a place in its body, or to a function that is called there.

    `items`: names that stand for one item, or for what is made of one; `indexes`: those that count. `over`: what the
    loop goes over, as it is written; `times`: its iterations, where the text says so. `line`: of the loop. `carried`:
    names by which one iteration leaves a value to the next.
    """

    items: frozenset[str]
    indexes: frozenset[str]
    over: tuple[str, ...]
    times: int | None
    line: int
    carried: frozenset[str]

    def is_item(self, node: ast.expr) -> bool:
        """Whether its value is that of one item: no group, and no stretch of several."""
        if any(isinstance(each, ast.Compare) or self._is_stretch(each) for each in ast.walk(node)):
            return False
        return not self.items.isdisjoint(_names(node))

    def is_carried(self, node: ast.AST) -> bool:
        """Whether it reads what an iteration before has left."""
        return not self.carried.isdisjoint(_names(node))

    def indexed(self, node: ast.AST) -> Iterator[str]:
        """What is read there at the place of the item: `z` of `z[i, 0]`."""
        for each in ast.walk(node):
            if isinstance(each, ast.Subscript):
                first = each.slice.elts[0] if isinstance(each.slice, ast.Tuple) and each.slice.elts else each.slice
                if isinstance(first, ast.List) and len(first.elts) == 1:
                    first = first.elts[0]
                if isinstance(first, ast.Slice) and first.lower is not None:
                    first = first.lower
                if dotted(first) in self.indexes and dotted(each.value):
                    yield dotted(each.value)

    def _is_stretch(self, node: ast.AST) -> bool:
        """`x[i:i + 64]`, `x[:i]`; not `x[i:i + 1]`."""
        if not isinstance(node, ast.Slice):
            return False
        lower, upper = (set() if each is None else _names(each) for each in (node.lower, node.upper))
        if self.items.isdisjoint(lower | upper):
            return False
        one = node.lower is not None and node.upper is not None
        return not (one and ast.unparse(node.upper) == f"{ast.unparse(node.lower)} + 1")  # type: ignore[arg-type]


def item_scopes(source: str, node: ast.expr, callers: Sequence[int] = ()) -> Iterator[ItemScope]:
    """Of the loops around a node of the text, innermost first; past its function those around the call of it, where
    `callers` are lines that led there, innermost first. The node has to be one of `parsed(source)`."""
    tree = parsed(source)
    path = _path(tree, node) if tree is not None else []
    yield from _scopes(source, path, list(callers)[: _MOST_CALLERS + 1])


def _scopes(source: str, path: list[ast.AST], callers: list[int]) -> Iterator[ItemScope]:
    for outer, inner in zip(path[-2::-1], path[:0:-1], strict=True):
        if isinstance(outer, ast.While | ast.Lambda | ast.ClassDef):
            return
        if isinstance(outer, _Function):
            yield from _called(source, outer, callers)
            return
        if isinstance(outer, _Loop) and _is_repeated(outer, inner):
            scope = _scope(source, outer)
            if scope is not None:
                yield scope


def _is_repeated(loop: ast.AST, inner: ast.AST) -> bool:
    if isinstance(loop, ast.For):
        return any(inner is each for each in loop.body)
    return not isinstance(inner, ast.comprehension)


def _scope(source: str, loop: ast.For | _Comprehension) -> ItemScope | None:
    given = [(loop.target, loop.iter)] if isinstance(loop, ast.For) else [(g.target, g.iter) for g in loop.generators]
    items, indexes, over = set[str](), set[str](), list[str]()
    times: int | None = None
    for target, iterable in given:
        for each in _gone_over(target, iterable):
            if each is None:
                return None
            names, what, count, counts = each
            items |= names
            indexes |= names if counts else set()
            over += [what] if what else []
            times = count if count is not None else times
    body = loop.body if isinstance(loop, ast.For) else []
    carried = frozenset(carried_names(source, loop.lineno) or ()) if isinstance(loop, ast.For) else frozenset[str]()
    scope = ItemScope(frozenset(items), frozenset(indexes), tuple(over), times, loop.lineno, carried)
    return _with_derived(scope, body)


def _with_derived(scope: ItemScope, body: Iterable[ast.stmt]) -> ItemScope:
    """With the names that the body makes of an item."""
    for node in (node for each in body for node in ast.walk(each)):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and scope.is_item(node.value):
            scope = replace(scope, items=scope.items | _names(node.targets[0]))
    return scope


def _called(source: str, function: _Function, callers: list[int]) -> Iterator[ItemScope]:
    """Of the loops around the call of a function: its parameters that are given an item."""
    tree = parsed(source)
    for number, line in enumerate(callers):
        if function.lineno <= line <= (function.end_lineno or function.lineno):
            continue
        for node in ast.walk(tree) if tree is not None else ():
            if not isinstance(node, ast.Call) or not node.lineno <= line <= (node.end_lineno or node.lineno):
                continue
            if (node.func.attr if isinstance(node.func, ast.Attribute) else dotted(node.func)) != function.name:
                continue
            for scope in item_scopes(source, node, callers[number + 1 :]):
                given = frozenset(name for name, each in _arguments(function, node) if scope.is_item(each))
                if given and not scope.is_carried(node):
                    over = (*scope.over, *scope.indexed(node))
                    inner = replace(scope, items=given, indexes=frozenset(), over=over, carried=frozenset())
                    yield _with_derived(inner, function.body)
        return


def _arguments(function: _Function, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    if isinstance(call.func, ast.Attribute) and names[:1] == ["self"]:
        names = names[1:]
    yield from zip(names, call.args, strict=False)
    yield from ((each.arg, each.value) for each in call.keywords if each.arg)


# names of the target, what it goes over, how often, and whether it counts
_Gone = tuple[set[str], str, int | None, bool]


def _gone_over(target: ast.expr, iterable: ast.expr) -> Iterator[_Gone | None]:
    """None for a loop over batches."""
    if not isinstance(iterable, ast.Call):
        yield _names(target), _collection(iterable), _written_count(iterable), False
        return
    name, given = dotted(iterable.func).rpartition(".")[2], iterable.args
    parts = list(target.elts) if isinstance(target, ast.Tuple | ast.List) else [target]
    if name in ("range", "trange"):
        yield _counted(target, given)
    elif name == "enumerate" and given and len(parts) == 2:
        yield _names(parts[0]), _collection(given[0]), None, True
        yield from _gone_over(parts[1], given[0])
    elif name == "zip" and len(parts) == len(given):
        for part, each in zip(parts, given, strict=True):
            yield from _gone_over(part, each)
    elif name in _THROUGH and given:
        yield from _gone_over(target, given[0])
    elif isinstance(iterable.func, ast.Attribute) and name in _OF_ALL:
        yield _names(target), _collection(iterable.func.value), None, False
    else:
        yield None


def _counted(target: ast.expr, given: list[ast.expr]) -> _Gone | None:
    if len(given) == 3 and not (isinstance(given[2], ast.Constant) and given[2].value == 1):
        return None
    end = given[1] if len(given) > 1 else given[0] if given else None
    if end is None:
        return None
    times = end.value if isinstance(end, ast.Constant) and isinstance(end.value, int) else None
    over = ""
    if isinstance(end, ast.Call) and dotted(end.func) == "len" and end.args:
        over = _collection(end.args[0])
    elif isinstance(end, ast.Subscript) and isinstance(end.value, ast.Attribute) and end.value.attr == "shape":
        first = isinstance(end.slice, ast.Constant) and end.slice.value == 0
        over = _collection(end.value.value) if first else ""
    return _names(target), over, times, True


def _collection(node: ast.expr) -> str:
    """What all items belong to: `table` of `table["price"]` and of `table.index`."""
    if isinstance(node, ast.Subscript):
        column = isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
        return dotted(node.value) if column or _first_of(node) is not None else ""
    if isinstance(node, ast.Attribute) and node.attr in _OF_ALL:
        return _collection(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _OF_ALL:
        return _collection(node.func.value)
    return dotted(node)


def _written_count(node: ast.expr) -> int | None:
    return len(node.elts) if isinstance(node, ast.List | ast.Tuple | ast.Set) else _first_of(node)


def _first_of(node: ast.expr) -> int | None:
    """1500 of `y[:1500]`."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Slice) or node.slice.lower is not None:
        return None
    end = node.slice.upper
    return end.value if isinstance(end, ast.Constant) and type(end.value) is int and end.value > 0 else None


def _path(tree: ast.AST, node: ast.expr) -> list[ast.AST]:
    """From the root down to the node; empty where it is not there."""
    if tree is node:
        return [tree]
    for each in ast.iter_child_nodes(tree):
        first, last = getattr(each, "lineno", None), getattr(each, "end_lineno", None)
        if first is not None and last is not None and not first <= node.lineno <= last:
            continue
        below = _path(each, node)
        if below:
            return [tree, *below]
    return []


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
