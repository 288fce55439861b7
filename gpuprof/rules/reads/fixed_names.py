"""Which names stand for the same thing, with the same content, in all turns of a loop."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.cell.repeatable import RepeatableReads, root
from gpuprof.rules.cell.unchanged_calls import mutated

_Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = ast.Module | ast.FunctionDef
_Loops = ast.For | ast.While | ast.AsyncFor
# weights change as they are trained; a loader or an iterator gives other batches
_CHANGES = re.compile(r"(^|\.)nn\.|Parameter|requires_grad|optim|Loader|^iter$|generator|rng|Generator|seed")
_DEEPEST = 4


class FixedNames:
    """Of a `loop` in a scope of a text: a module, or a function."""

    def __init__(self, tree: ast.Module, known: RepeatableReads, scope: Scope, loop: ast.For):
        self._tree, self._known, self._scope = tree, known, scope
        nodes = list(ast.walk(tree))
        self._classes = {each.name for each in nodes if isinstance(each, ast.ClassDef)}
        self.functions = {each.name: each for each in nodes if isinstance(each, ast.FunctionDef)}
        imports = (each for each in nodes if isinstance(each, ast.Import | ast.ImportFrom))
        self._imported = {each.asname or each.name.partition(".")[0] for node in imports for each in node.names}
        self._optimized = {
            each.id
            for call in nodes
            if isinstance(call, ast.Call) and "optim" in dotted(call.func)
            for each in ast.walk(call)
            if isinstance(each, ast.Name)
        } | {root(each) for each in nodes if isinstance(each, ast.Attribute) and each.attr.startswith("requires_grad")}
        self._stored, self._of_text, self._in_loop = list(_stores(scope)), list(_stores(tree)), set(_stores(loop))
        changed = {name for each in (loop, *self.functions.values()) for name in self._changed_in(each)}
        changed |= {name for each in ast.walk(loop) for name in self._changed_by_own(each, changed)}
        self._changed = changed | {source for name in changed for source in self._views_of(name)}

    def is_fixed(self, name: str) -> bool:
        """Also a function of the text, an import, a builtin."""
        if name in self._imported or name in self.functions:
            return name not in (*self._stored, *self._of_text)
        return self._is_value(name) or (hasattr(builtins, name) and name not in (*self._stored, *self._of_text))

    def is_module(self, name: str) -> bool:
        """Whether the text imports it."""
        return name in self._imported

    def is_known(self, name: str) -> bool:
        """Whether it is an import, a builtin, or the text says what it is."""
        return self.is_module(name) or hasattr(builtins, name) or bool(self.values_of(name))

    def is_collection(self, name: str) -> bool:
        """Whether it is fixed and has the same items in each turn: no iterator, no loader."""
        return self.is_fixed(name) and self._known.is_collection(name)

    def is_given_once(self, name: str) -> bool:
        """Whether the scope gives it a value in one place."""
        return self._stored.count(name) == 1

    def values_of(self, name: str) -> list[ast.expr]:
        """All that the text assigns to that name, in whichever scope."""
        given = (each for each in ast.walk(self._tree) if isinstance(each, ast.Assign))
        return [each.value for each in given if any(_is(target, name) for target in each.targets)]

    def turns_of(self, name: str) -> list[ast.expr]:
        """All that loops whose variable it is go over."""
        turns = (each for each in ast.walk(self._tree) if isinstance(each, ast.For | ast.comprehension))
        return [each.iter for each in turns if _is(each.target, name)]

    def is_changed(self, statement: ast.Assign) -> bool:
        """Whether what the statement makes is changed in place: then it has to be new each time."""
        return any(isinstance(each, ast.Name) and each.id in self._changed for each in statement.targets)

    def _changed_in(self, body: ast.AST) -> set[str]:
        """Names whose objects it changes in place, but for what it gives to functions of the text."""
        nodes, own = list(ast.walk(body)), set[int]()
        for each in nodes:
            call = each.value if isinstance(each, ast.Expr) else each
            if isinstance(call, ast.Call) and dotted(call.func) in self.functions:
                own |= {id(each), id(call)}
        return {name for each in nodes if id(each) not in own for name in mutated(each, self._known)}

    def _changed_by_own(self, call: ast.AST, changed: set[str]) -> Iterator[str]:
        """What the call gives a function of the text that changes an argument of that name."""
        function = self.functions.get(dotted(call.func)) if isinstance(call, ast.Call) else None
        if isinstance(call, ast.Call) and function is not None:
            for name, given in _given_to(function, call):
                if name in changed:
                    yield root(given)

    def _is_value(self, name: str) -> bool:
        """Whether the scope, or the text around it, gives it one value, before the loop, and nothing changes it."""
        if name in self._changed or name in self._in_loop or self._is_of_weights(name):
            return False
        if isinstance(self._scope, ast.FunctionDef):
            arguments = {each.arg for each in ast.walk(self._scope.args) if isinstance(each, ast.arg)}
            if name in arguments:
                return name not in self._stored
            if name in self._stored:
                return self._stored.count(name) == 1 and not _is_in_a_loop(self._scope, name)
        return self._of_text.count(name) == 1 and not _is_in_a_loop(self._tree, name)

    def _is_of_weights(self, name: str) -> bool:
        """Whether it is, or may have in it, what a training changes."""
        if name in self._optimized:
            return True
        for value in (*self.values_of(name), *self.turns_of(name)):
            called = {dotted(each.func) for each in ast.walk(value) if isinstance(each, ast.Call)}
            if called & self._classes or _CHANGES.search(ast.unparse(value)):
                return True
        return False

    def _views_of(self, name: str, depth: int = 0) -> set[str]:
        """Names of which it may be a part."""
        found = set[str]()
        for value in (*self.values_of(name), *self.turns_of(name)) if depth < _DEEPEST else ():
            if isinstance(value, ast.Name | ast.Subscript | ast.Attribute) and (whole := root(value)):
                found |= {whole} | self._views_of(whole, depth + 1)
        return found


class GivenNames(FixedNames):
    """Of a function that the loop calls in one place, as `call`."""

    def __init__(self, names: FixedNames, function: ast.FunctionDef, call: ast.Call):
        self._outer, self.functions, self._known, self._tree = names, names.functions, names._known, names._tree
        self._imported = names._imported
        self._stored, self._changed = list(_stores(function)), names._changed
        self._arguments = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
        self._values = dict(_given_to(function, call))
        self._given = {name: each.id for name, each in self._values.items() if isinstance(each, ast.Name)}

    def is_fixed(self, name: str) -> bool:
        """Also an argument for which the loop gives what is fixed there."""
        if name in self._stored or (name in self._arguments and name not in self._given):
            return False
        return self._outer.is_fixed(self._given.get(name, name))

    def values_of(self, name: str) -> list[ast.expr]:
        """Of an argument what the loop gives for it."""
        own = name in self._values and name not in self._stored
        return [self._values[name]] if own else super().values_of(name)

    def is_collection(self, name: str) -> bool:
        """By what the loop gives for it."""
        return name not in self._stored and self._outer.is_collection(self._given.get(name, name))


def called_once(names: FixedNames, loop: ast.For) -> Iterator[tuple[list[ast.stmt], FixedNames]]:
    """The bodies of functions of the text that the loop calls in one place, with the names in them."""
    calls = [each for each in ast.walk(loop) if isinstance(each, ast.Call)]
    called = [dotted(each.func) for each in calls]
    for call, name in zip(calls, called, strict=True):
        if name in names.functions and called.count(name) == 1:
            yield names.functions[name].body, GivenNames(names, names.functions[name], call)


def _given_to(function: ast.FunctionDef, call: ast.Call) -> list[tuple[str, ast.expr]]:
    """The arguments of a function with what the call gives for them."""
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    by_name = [(each.arg, each.value) for each in call.keywords if each.arg]
    return [*zip(names, call.args, strict=False), *by_name]


def _is_in_a_loop(scope: ast.AST, name: str) -> bool:
    return any(name in _stores(each) for each in own_nodes(scope) if isinstance(each, _Loops))


def own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """What is in it, without what is in functions and classes inside, the outermost first."""
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, _Function | ast.ClassDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def _stores(scope: ast.AST) -> Iterator[str]:
    """The names that it gives a value to; comprehensions have their own."""
    for node in own_nodes(scope):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
