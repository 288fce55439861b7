"""What texts read of the items of a container, wherever these go."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gpuprof.analyses.memory.later_reductions import inside_scope

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Turns = ast.For | ast.comprehension
_Whole = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
_GROWS = {"append", "add", "extend", "insert", "appendleft", "clear", "sort", "reverse", "update", "setdefault"}
_TAKES = {"pop", "popleft", "get"}
_SAME = {"list", "tuple", "sorted", "reversed", "iter", "deque", "set", "tqdm", "trange"}
_SAME_METHODS = {"values", "copy"}
_ONE = {"min", "max", "next"}
_COUNTS = {"len", "bool", "id", "type", "isinstance"}
_MOST_STEPS = 2000


class _UnknownUseError(Exception):
    """The container, or an item, goes where it cannot be followed."""


class ContainerReads:
    """Of the names in these texts."""

    def __init__(self, trees: Sequence[ast.Module]):
        self._trees = trees
        self._above = {
            id(inner): node for tree in trees for node in ast.walk(tree) for inner in ast.iter_child_nodes(node)
        }
        self._functions: dict[str, list[_Function]] = {}
        for node in (each for tree in trees for each in ast.walk(tree)):
            if isinstance(node, _Function) and not isinstance(self._above.get(id(node)), ast.ClassDef):
                self._functions.setdefault(node.name, []).append(node)
        self._read = set[str]()
        self._followed = set[tuple[int, str, bool]]()

    def of(self, name: str, function: str | None) -> frozenset[str] | None:
        """Steps from an item: `.score`, `.predict()`, `["logits"]`, `[0]`; `()` where an item is called. None where
        something may read all of an item."""
        self._read, self._followed = set(), set()
        scopes: list[ast.AST] = list(self._trees)
        if function is not None:
            scopes = list(self._functions.get(function.rpartition(".")[2], ()))
        try:
            for scope in scopes:
                self._follow(scope, name, whole=True)
                self._follow_put_in(scope, name)
        except _UnknownUseError:
            return None
        return frozenset(self._read)

    def _follow(self, scope: ast.AST, name: str, *, whole: bool) -> None:
        """A name that stands for the container, or (not `whole`) for an item."""
        key = id(scope), name, whole
        if key in self._followed:
            return
        self._followed.add(key)
        for node in inside_scope(scope, name):
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                self._container(node) if whole else self._item(node)

    def _follow_put_in(self, scope: ast.AST, name: str) -> None:
        """What the names of items do behind the loop that puts them in, or in its next turn."""
        for node in inside_scope(scope, name):
            called = node.func if isinstance(node, ast.Call) else None
            if not (isinstance(called, ast.Attribute) and called.attr in _GROWS and _is(called.value, name)):
                continue
            assert isinstance(node, ast.Call)
            loop = self._loop_around(node)
            for item in (each for each in node.args if isinstance(each, ast.Name)):
                for use in self._loads(scope, item.id):
                    later = loop is None or loop not in self._path(use)
                    if later or isinstance(self._above[id(use)], ast.Assign):
                        self._item(use)

    def _container(self, node: ast.expr) -> None:
        above = self._above[id(node)]
        if isinstance(above, ast.Attribute):
            self._method(above)
        elif isinstance(above, ast.Subscript) and above.value is node:
            if isinstance(above.ctx, ast.Load):
                self._container(above) if isinstance(above.slice, ast.Slice) else self._item(above)
        elif isinstance(above, ast.Call | ast.keyword):
            self._handed(above, node, whole=True)
        elif isinstance(above, _Turns) and above.iter is node:
            self._target(above.target, above)
        elif isinstance(above, ast.Assign):
            self._named(above, whole=True)
        elif isinstance(above, ast.BinOp | ast.IfExp | ast.Starred) and not self._is_tested(node):
            self._container(above)
        elif not (isinstance(above, ast.AugAssign | ast.Compare | ast.Delete) or self._is_tested(node)):
            raise _UnknownUseError

    def _method(self, above: ast.Attribute) -> None:
        call = self._above[id(above)]
        if not isinstance(call, ast.Call) or call.func is not above:
            raise _UnknownUseError
        self._keys(call)
        if above.attr in _TAKES:
            self._item(call)
        elif above.attr in _SAME_METHODS:
            self._container(call)
        elif above.attr == "items":
            self._iterated(call, (1,))
        elif above.attr not in _GROWS:
            raise _UnknownUseError

    def _keys(self, call: ast.Call) -> None:
        """`key=lambda item: item.score`."""
        for each in call.keywords:
            if each.arg == "key":
                if not isinstance(each.value, ast.Lambda) or len(each.value.args.args) != 1:
                    raise _UnknownUseError
                self._follow(each.value, each.value.args.args[0].arg, whole=False)

    def _handed(self, above: ast.Call | ast.keyword, node: ast.expr, *, whole: bool) -> None:
        """To a function, as an argument."""
        call = above if isinstance(above, ast.Call) else self._above[id(above)]
        called = call.func if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or called is node:
            if whole or call is not above:
                raise _UnknownUseError
            self._read.add("()")
            return
        named = called.id if isinstance(called, ast.Name) else ""
        if named in _COUNTS or (not whole and isinstance(called, ast.Attribute) and called.attr in _GROWS):
            return
        if whole and named in _SAME | _ONE:
            self._keys(call)
            self._container(call) if named in _SAME else self._item(call)
        elif whole and named in ("enumerate", "zip"):
            self._iterated(call, (1 if named == "enumerate" else call.args.index(node),))
        else:
            scope, parameter = self._parameter(call, node, named)
            self._follow(scope, parameter, whole=whole)

    def _parameter(self, call: ast.Call, node: ast.expr, named: str) -> tuple[ast.AST, str]:
        """Of the function of the texts that gets it."""
        functions = self._functions.get(named, [])
        keyword = next((each.arg for each in call.keywords if each.value is node), None)
        if len(functions) != 1 or any(isinstance(each, ast.Starred) for each in call.args):
            raise _UnknownUseError
        names = [each.arg for each in (*functions[0].args.posonlyargs, *functions[0].args.args)]
        if keyword is None and (node not in call.args or call.args.index(node) >= len(names)):
            raise _UnknownUseError
        return ast.Module(functions[0].body, []), keyword or names[call.args.index(node)]

    def _iterated(self, call: ast.expr, path: tuple[int, ...]) -> None:
        """By a loop, whose target has an item at that place."""
        above = self._above[id(call)]
        if isinstance(above, _Turns) and above.iter is call:
            target: ast.expr = above.target
            for place in path:
                if not isinstance(target, ast.Tuple) or place >= len(target.elts):
                    raise _UnknownUseError
                target = target.elts[place]
            self._target(target, above)
            return
        named = above.func.id if isinstance(above, ast.Call) and isinstance(above.func, ast.Name) else ""
        if isinstance(above, ast.Call) and named in _SAME | {"enumerate", "zip"}:
            self._keys(above)
            outer = {"enumerate": (1,), "zip": (above.args.index(call),)}.get(named, ())
            self._iterated(above, (*outer, *path))
            return
        raise _UnknownUseError

    def _target(self, target: ast.expr, turns: _Turns) -> None:
        """The variable of a loop, inside of it; or several, each of which takes one thing from the item."""
        inside = turns if isinstance(turns, ast.For) else self._above[id(turns)]
        if isinstance(target, ast.Name):
            self._follow(inside, target.id, whole=False)
        elif isinstance(target, ast.Tuple) and all(isinstance(each, ast.Name) for each in target.elts):
            self._unpacked(target, self._path(inside)[-1] if isinstance(inside, ast.For) else inside)
        else:
            raise _UnknownUseError

    def _unpacked(self, target: ast.Tuple, scope: ast.AST) -> None:
        """`score, weights = item`: which of these names are read."""
        read = {node.id for node in ast.walk(scope) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        self._read |= {f"[{at}]" for at, each in enumerate(target.elts) if getattr(each, "id", "") in read}

    def _named(self, statement: ast.Assign, *, whole: bool) -> None:
        for target in statement.targets:
            scope = self._path(statement)[-1]
            if isinstance(target, ast.Name):
                self._follow(scope, target.id, whole=whole)
            elif (
                isinstance(target, ast.Tuple) and not whole and all(isinstance(each, ast.Name) for each in target.elts)
            ):
                self._unpacked(target, scope)
            else:
                raise _UnknownUseError

    def _item(self, node: ast.expr) -> None:
        above = self._above[id(node)]
        if len(self._followed) > _MOST_STEPS:
            raise _UnknownUseError
        if isinstance(above, ast.Attribute):
            call = self._above[id(above)]
            called = isinstance(call, ast.Call) and call.func is above
            if isinstance(above.ctx, ast.Load):
                self._read |= {f".{above.attr}", *((f".{above.attr}()",) if called else ())}
        elif isinstance(above, ast.Subscript) and above.value is node:
            self._entry(above)
        elif isinstance(above, ast.Call | ast.keyword):
            self._handed(above, node, whole=False)
        elif isinstance(above, ast.Assign) and above.value is node:
            self._named(above, whole=False)
        elif isinstance(above, _Whole) and getattr(above, "elt", getattr(above, "value", None)) is node:
            self._container(above)
        elif not (isinstance(above, ast.Compare | ast.Expr | ast.Delete) or self._is_tested(node)):
            raise _UnknownUseError

    def _entry(self, node: ast.Subscript) -> None:
        if not isinstance(node.slice, ast.Constant) or not isinstance(node.slice.value, str | int):
            raise _UnknownUseError
        if isinstance(node.ctx, ast.Load):
            key = node.slice.value
            self._read.add(f'["{key}"]' if isinstance(key, str) else f"[{key}]")

    def _is_tested(self, node: ast.AST) -> bool:
        """`if items`, `not items`, `if items and …`."""
        above = self._above[id(node)]
        while isinstance(above, ast.BoolOp):
            node, above = above, self._above[id(above)]
        if isinstance(above, ast.If | ast.While | ast.IfExp):
            return above.test is node
        return isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.Not)

    def _loads(self, scope: ast.AST, name: str) -> Iterator[ast.Name]:
        """Where the name is read, but for loops that give it a value of their own."""
        for node in inside_scope(scope, name):
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                loops = (turns for each in self._path(node) if each is not scope for turns in _turns_of(each))
                if not any(_is(each, name) for turns in loops for each in ast.walk(turns.target)):
                    yield node

    def _loop_around(self, node: ast.AST) -> ast.AST | None:
        return next((each for each in self._path(node) if isinstance(each, ast.For | ast.While)), None)

    def _path(self, node: ast.AST) -> list[ast.AST]:
        """The node and those above it, up to the function or text that it is in."""
        found = [node]
        while not isinstance(found[-1], _Function | ast.Module) and id(found[-1]) in self._above:
            found.append(self._above[id(found[-1])])
        return found


def _turns_of(node: ast.AST) -> list[ast.For | ast.comprehension]:
    if isinstance(node, _Whole):
        return list(node.generators)
    return [node] if isinstance(node, ast.For) else []


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
