"""Which names stand for the same thing, with the same content, in all turns of a loop."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Iterator

from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.reads.text_names import TextNames, given_to, in_loops, stores

Scope = ast.Module | ast.FunctionDef


class FixedNames:
    """Of a `loop` in a scope of a text: a module, or a function."""

    def __init__(self, text: TextNames, scope: Scope, loop: ast.For):
        self.text, self._stored, self._in_loop = text, Counter(stores(scope)), set(stores(loop))
        self._arguments = set[str]()
        self._in_own_loops = text.in_loops
        if isinstance(scope, ast.FunctionDef):
            self._arguments = {each.arg for each in ast.walk(scope.args) if isinstance(each, ast.arg)}
            self._in_own_loops = in_loops(scope)
        changed = text.changed | text.changed_in(loop)
        changed |= text.given_to_own(loop, changed)
        self._changed = changed | {source for name in changed for source in text.views_of(name)}

    def is_fixed(self, name: str) -> bool:
        """Also a function of the text, an import, a builtin."""
        given = name in self._stored or name in self.text.times
        if name in self.text.imported or name in self.text.functions:
            return not given
        return self._is_value(name) or (hasattr(builtins, name) and not given)

    def is_known(self, name: str) -> bool:
        """Whether it is an import, a builtin, or the text says what it is."""
        return name in self.text.imported or hasattr(builtins, name) or bool(self.values_of(name))

    def is_collection(self, name: str) -> bool:
        """Whether it is fixed and has the same items in each turn: no iterator, no loader."""
        return self.is_fixed(name) and self.text.known.is_collection(name)

    def is_given_once(self, name: str) -> bool:
        """Whether the scope gives it a value in one place."""
        return self._stored[name] == 1

    def values_of(self, name: str) -> list[ast.expr]:
        """All that the text assigns to that name, in whichever scope."""
        return self.text.values.get(name, [])

    def is_changed(self, statement: ast.Assign) -> bool:
        """Whether what the statement makes is changed in place: then it has to be new each time."""
        return any(isinstance(each, ast.Name) and each.id in self._changed for each in statement.targets)

    def _is_value(self, name: str) -> bool:
        """Whether the scope, or the text around it, gives it one value, before the loop, and nothing changes it."""
        if name in self._changed or name in self._in_loop or self.text.is_of_weights(name):
            return False
        if name in self._arguments:
            return name not in self._stored
        if name in self._stored:
            return self._stored[name] == 1 and name not in self._in_own_loops
        return self.text.times[name] == 1 and name not in self.text.in_loops


class GivenNames(FixedNames):
    """Of a function that the loop calls in one place, as `call`."""

    def __init__(self, names: FixedNames, function: ast.FunctionDef, call: ast.Call):
        self._outer, self.text, self._changed = names, names.text, names._changed
        self._stored = Counter(stores(function))
        self._arguments = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
        self._values = dict(given_to(function, call))
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
    called = Counter(dotted(each.func) for each in calls)
    for call in calls:
        function = names.text.functions.get(dotted(call.func))
        if function is not None and called[function.name] == 1:
            yield function.body, GivenNames(names, function, call)
