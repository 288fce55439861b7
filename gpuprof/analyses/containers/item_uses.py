"""Where a scope of a text binds a container, fills it, and reads it in one loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from gpuprof.analyses.containers.loop_effects import given_to
from gpuprof.analyses.memory.later_reductions import inside_scope

_EMPTY = {"list", "dict", "OrderedDict", "deque"}
_COPYING = {"list", "tuple"}
_ADDING = {"append", "extend"}
_PASSING = {"enumerate", "zip", "tqdm", "track", "iter"}
_PARTS = {"items", "values", "keys"}
# a function that runs at once, as it is written
_PLAIN_DECORATORS = {"no_grad", "inference_mode", "enable_grad"}
_SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
Reader = ast.For | ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


@dataclass(frozen=True)
class Uses:
    """Of one name: the statement that binds it, what fills it (that statement, of a comprehension), and the one loop or
    comprehension that reads it; `by_place`: with `name[i]`. `read_at`: that loop, or the call of the function of the
    text that has the loop, in which the container is called `name_there`."""

    name: str
    bound: ast.stmt
    fills: tuple[ast.AST, ...]
    reader: Reader
    by_place: bool
    read_at: ast.expr | ast.stmt
    name_there: str


class Handed(NamedTuple):
    """The one loop of a function that goes over its parameter, once, and the call that gives it the container."""

    call: ast.Call
    reader: Reader
    parameter: str


class ItemUses:
    """Of the names of a scope in a text."""

    def __init__(self, tree: ast.Module, scope: ast.AST, functions: dict[str, ast.FunctionDef] | None = None):
        """`functions`: of the text, by name, to which it may be given."""
        self._tree, self._scope, self._functions = tree, scope, functions or {}
        self._above = {inner: node for node in ast.walk(tree) for inner in ast.iter_child_nodes(node)}
        self._nodes = [node for node in ast.walk(scope) if node is not scope]

    def of(self, name: str) -> Uses | None:
        """None where it is bound more than once, or read by anything but one loop."""
        bound, value = self._bound(name)
        if bound is None or value is None:
            return None
        fills: list[ast.AST] = [] if _is_empty(value) else [bound]
        readers, by_place, measured = dict[int, tuple[Reader | None, ast.AST, str]](), False, False
        for node in self._named(name):
            if isinstance(node.ctx, ast.Del) or self._within(node, bound):
                continue
            above = self._above[node]
            fill = self._filling(node)
            handed = self._handed(node)
            if fill is not None:
                fills.append(fill)
            elif isinstance(node.ctx, ast.Store):
                return None
            elif handed is not None:
                readers[id(handed.call)] = handed.reader, handed.call, handed.parameter
            elif self._is_measured(node):
                measured |= not self._is_progress(node)
            else:
                reader = self._reader(node)
                readers[id(reader)] = reader, reader or node, name
                by_place |= isinstance(above, ast.Subscript)
        found, at, there = next(iter(readers.values())) if len(readers) == 1 else (None, bound, name)
        if found is None or not fills or (bound in fills and len(fills) > 1):
            return None
        # a generator has no length, and a mapping is none
        if at is not found and (measured or _is_mapping(value)):
            return None
        assert isinstance(at, ast.expr | ast.stmt)
        return Uses(name, bound, tuple(fills), found, by_place, at, there)

    def of_parameter(self, name: str) -> Reader | None:
        """The one loop of this scope, a function, that goes over its parameter, once for each call."""
        nodes = [node for node in self._nodes if isinstance(node, ast.Name) and node.id == name]
        if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in self._nodes):
            return None
        nodes = [node for node in nodes if not (self._is_measured(node) and self._is_progress(node))]
        if len(nodes) != 1 or not isinstance(nodes[0].ctx, ast.Load):
            return None
        reader = None if isinstance(self._above[nodes[0]], ast.Subscript) else self._reader(nodes[0])
        if reader is None or any(isinstance(each, ast.Attribute) for each in self._until(nodes[0], reader)):
            return None
        around = self.path(reader)[1:-1]
        again = any(isinstance(each, ast.For | ast.While | _Comprehension | _SCOPES) for each in around)
        return None if again else reader

    def path(self, node: ast.AST) -> list[ast.AST]:
        """The node and those above it, up to the scope."""
        found = [node]
        while found[-1] is not self._scope and found[-1] in self._above:
            found.append(self._above[found[-1]])
        return found

    def contexts(self, node: ast.AST) -> set[ast.AST]:
        """The `with` and `try` around a node, in the scope and in the function of the text that it is in, with the
        decorators of that."""
        found, above = set[ast.AST](), self._above.get(node)
        while above is not None and above is not self._scope:
            if isinstance(above, ast.With | ast.AsyncWith | ast.Try):
                found.add(above)
            if isinstance(above, ast.FunctionDef):
                found |= set(above.decorator_list)
            above = self._above.get(above)
        return found

    def between(self, first: ast.stmt, reader: ast.expr | ast.stmt) -> Iterator[ast.stmt]:
        """The whole statements behind one and before another, in order."""
        begin, end = first.end_lineno or first.lineno, reader.lineno
        last = begin
        inside = [node for node in self._nodes if isinstance(node, ast.stmt) and node.lineno > begin]
        for node in sorted(inside, key=lambda each: each.lineno):
            until = node.end_lineno or node.lineno
            if node.lineno > last and until < end:
                last = until
                yield node

    def _bound(self, name: str) -> tuple[ast.stmt | None, ast.expr | None]:
        """The one statement `name = …` whose value is a new container, with that value."""
        found = list[tuple[ast.stmt, ast.expr]]()
        for node in inside_scope(self._scope, name):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    found += [(node, value) for value in _value_for(target, node.value, name)]
            elif isinstance(node, ast.AnnAssign) and node.value is not None and _is(node.target, name):
                found.append((node, node.value))
        if len(found) != 1 or not (_is_empty(found[0][1]) or is_made(found[0][1])):
            return None, None
        return found[0]

    def _named(self, name: str) -> Iterator[ast.Name]:
        for node in inside_scope(self._scope, name):
            if isinstance(node, ast.Name) and node.id == name:
                yield node

    def _filling(self, node: ast.Name) -> ast.AST | None:
        """What puts something into the container: a call, or a statement."""
        above = self._above[node]
        if isinstance(above, ast.AugAssign) and above.target is node:
            return above
        if isinstance(above, ast.Attribute) and above.attr in _ADDING:
            call = self._above[above]
            alone = isinstance(call, ast.Call) and isinstance(self._above[call], ast.Expr)
            return call if alone else None
        if isinstance(above, ast.Subscript) and above.value is node and isinstance(above.ctx, ast.Store):
            statement = self._above[above]
            return statement if isinstance(statement, ast.Assign) else None
        return None

    def _handed(self, node: ast.Name) -> Handed | None:
        """Where it is given to a function of the text, which then reads it in a loop."""
        call = self._above[node]
        call = self._above[call] if isinstance(call, ast.keyword) else call
        function = self._functions.get(getattr(call.func, "id", "")) if isinstance(call, ast.Call) else None
        if function is None or not isinstance(call, ast.Call) or not runs_at_once(function):
            return None
        if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
            return None
        names = [parameter for parameter, value in given_to(call, function).items() if value is node]
        reader = ItemUses(self._tree, function).of_parameter(names[0]) if len(names) == 1 else None
        return Handed(call, reader, names[0]) if reader else None

    def _is_measured(self, node: ast.Name) -> bool:
        above = self._above[node]
        return isinstance(above, ast.Call) and getattr(above.func, "id", "") == "len"

    def _is_progress(self, node: ast.Name) -> bool:
        """Of `total=len(name)`."""
        above = self._above[self._above[node]]
        return isinstance(above, ast.keyword) and above.arg == "total"

    def _until(self, node: ast.AST, reader: Reader) -> list[ast.AST]:
        path = self.path(node)
        return path[: path.index(reader)]

    def _reader(self, node: ast.AST) -> Reader | None:
        """The loop that goes over it, or over the places of it that it reads."""
        above = self._above[node]
        if isinstance(above, ast.Subscript) and above.value is node and isinstance(above.slice, ast.Name):
            return self._loop_of(above, above.slice.id)
        while not isinstance(above, ast.For | ast.comprehension):
            call = self._above[above] if isinstance(above, ast.Attribute) and above.attr in _PARTS else above
            if not isinstance(call, ast.Call):
                return None
            if call is above and getattr(call.func, "id", "") not in _PASSING:
                return None
            if call is not above and call.func is not above:
                return None
            node, above = call, self._above[call]
        if above.iter is not node:
            return None
        return above if isinstance(above, ast.For) else self._whole(above)

    def _loop_of(self, node: ast.AST, variable: str) -> Reader | None:
        """The loop around it whose variable that is."""
        for each in self.path(node):
            if isinstance(each, ast.For) and _is(each.target, variable):
                return each
            if isinstance(each, _Comprehension) and _is(each.generators[0].target, variable):
                return self._whole(each.generators[0])
        return None

    def _whole(self, part: ast.comprehension) -> Reader | None:
        found = self._above[part]
        assert isinstance(found, _Comprehension)
        return found if len(found.generators) == 1 else None

    def _within(self, node: ast.AST, statement: ast.stmt) -> bool:
        return statement in self.path(node)


def runs_at_once(function: ast.FunctionDef) -> bool:
    """Whether a call of it runs its body, once, before it returns."""
    named = (each.func if isinstance(each, ast.Call) else each for each in function.decorator_list)
    return all(getattr(each, "attr", getattr(each, "id", "")) in _PLAIN_DECORATORS for each in named)


def is_made(value: ast.expr) -> bool:
    """A comprehension, or a list of what an iterator gives."""
    if isinstance(value, ast.Call):
        return getattr(value.func, "id", "") in _COPYING and len(value.args) == 1
    return isinstance(value, ast.ListComp | ast.DictComp)


def same_order(uses: Uses, maker: ast.stmt) -> bool:
    """Whether a loop that reads `name[i]` takes the places in the order in which they were filled."""
    if not uses.by_place:
        return True
    reader = uses.reader
    iterated = reader.iter if isinstance(reader, ast.For) else reader.generators[0].iter
    if isinstance(iterated, ast.Name) and iterated.id == uses.name:
        return True
    first = maker.iter if isinstance(maker, ast.For) else None
    value = getattr(maker, "value", None)
    if isinstance(value, _Comprehension):
        first = value.generators[0].iter
    if first is not None and ast.dump(first) == ast.dump(iterated):
        return True
    return ast.unparse(iterated) == f"range(len({uses.name}))"


def _value_for(target: ast.expr, value: ast.expr, name: str) -> list[ast.expr]:
    """What is given to the name in `a, b = [], []`."""
    if _is(target, name):
        return [value]
    if not isinstance(target, ast.Tuple) or not any(_is(each, name) for each in ast.walk(target)):
        return []
    values = value.elts if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts) else []
    return [given for each, given in zip(target.elts, values, strict=False) if _is(each, name)] or [value]


def _is_empty(value: ast.expr) -> bool:
    if isinstance(value, ast.List | ast.Dict):
        return not (value.elts if isinstance(value, ast.List) else value.keys)
    if not isinstance(value, ast.Call) or value.args or value.keywords:
        return False
    return getattr(value.func, "id", "") in _EMPTY


def _is_mapping(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return getattr(value.func, "id", "") in ("dict", "OrderedDict")
    return isinstance(value, ast.Dict | ast.DictComp)


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
