"""Which calls in the functions of a text compute the same each time that the function is called.

What such a call reads never changes: names that the text gives one value outside of functions and loops and changes
nowhere, attributes that only `__init__` gives, arguments that are the same in every call of the function. What is not
understood here is taken to change.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.cell.pure_calls import words
from gpuprof.rules.cell.repeatable import Repeatable, changed_by, root

Function = ast.FunctionDef | ast.AsyncFunctionDef
_Scope = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_Loop = (ast.For, ast.While, ast.comprehension)
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_Repeating = ast.For | ast.While | _Comprehension
_DEEPEST = 4
# methods that leave their object as it is
_KEEPS = words("query query_ball_point query_radius kneighbors solve predict predict_proba transform score dot")


class CallInFunction(NamedTuple):
    """`call` on the lines `first` to `last` of `function`; the loop in line `loop` runs it. `alone`: nothing else of
    its statement is computed. `unknown`: names that it reads (`self.points`) of which the text does not say that they
    are data."""

    function: str
    first: int
    last: int
    call: ast.Call
    loop: int
    alone: bool
    unknown: frozenset[str]


def calls_in_functions(tree: ast.Module, known: Repeatable) -> Iterator[CallInFunction]:
    """Of each function that a loop of the text runs."""
    text = FunctionsOfText(tree, known)
    for function, owner in text.functions():
        loop = text.loop_around(function.name, 0)
        if loop is not None:
            yield from _of_function(text, function, owner, loop)


def _of_function(
    text: FunctionsOfText, function: Function, owner: ast.ClassDef | None, loop: int
) -> Iterator[CallInFunction]:
    known, own = text.known, _own_nodes(function)
    changed = {name for node in own for name in _changed(node, known)}
    same, mine = text.same_arguments(function, owner), text.given_in(function)
    for statement, call in _calls(function.body):
        value = getattr(statement, "value", None)
        alone = call is value
        if known.is_plain_call(call) or not known.is_steady(call):
            continue
        if alone and isinstance(statement, ast.Assign) and changed & {root(each) for each in statement.targets}:
            continue
        if not alone and not _is_only_read(value, call):
            continue
        reads, unknown, fits = known.reads(call), set[str](), True
        for name in reads:
            if name in mine:
                attributes = text.steady_attributes(call, name, owner)
                fits = fits and (attributes is not None or name in same)
                unknown |= attributes or {name}
            elif text.is_constant(name):
                unknown |= {name} & known.not_data(ast.Name(name, ast.Load()))
            else:
                fits = False
        if fits and any(not text.is_made_by_text(name) for name in reads):
            last = statement.end_lineno or statement.lineno
            yield CallInFunction(function.name, statement.lineno, last, call, loop, alone, frozenset(unknown))


class FunctionsOfText:
    """The functions of a text, where they are called, and the names that keep their value."""

    def __init__(self, tree: ast.Module, known: Repeatable):
        self._tree, self.known = tree, known
        nodes = list(ast.walk(tree))
        self._given = Counter(each.id for each in nodes if isinstance(each, ast.Name) and _stores(each))
        self._defined = {each.name for each in nodes if isinstance(each, Function | ast.ClassDef)}
        self._imported = {
            each.asname or each.name.partition(".")[0]
            for node in nodes
            if isinstance(node, ast.Import | ast.ImportFrom)
            for each in node.names
        }
        self._changed = {name for node in nodes for name in _changed(node, known)}
        self._changed |= {name for node in nodes if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
        # what was made of another name may be a view of it
        self._changed |= {source for name in self._changed for source in known.sources(name)}
        looped = (inner for node in nodes if isinstance(node, _Loop) for inner in ast.walk(node))
        self._looped = {each.id for each in looped if isinstance(each, ast.Name) and _stores(each)}
        self._outside = {each.id for each in _own_nodes(tree) if isinstance(each, ast.Name) and _stores(each)}
        classes = (node for node in nodes if isinstance(node, ast.ClassDef))
        self._methods = {each.name for node in classes for each in node.body if isinstance(each, Function)}
        self._attributes = _changed_attributes(tree)
        self._calls = list(_calls_with_place(tree))

    def functions(self) -> Iterator[tuple[Function, ast.ClassDef | None]]:
        """Those of the text itself and of its classes, with the class; those inside others read their variables."""
        for node in self._tree.body:
            for each in node.body if isinstance(node, ast.ClassDef) else [node]:
                if isinstance(each, Function):
                    yield each, node if isinstance(node, ast.ClassDef) else None

    def loop_around(self, name: str, depth: int) -> int | None:
        """The line of a loop that calls it, through other functions as well."""
        for call, function, loop in self._calls:
            if not self._is_call_of(call, name) or function == name:
                continue
            found = loop if loop or depth == _DEEPEST or not function else self.loop_around(function, depth + 1)
            if found:
                return found
        return None

    def _is_call_of(self, call: ast.Call, name: str) -> bool:
        """Of a function by its name; of a method by any object."""
        return _bare(call) == name and (isinstance(call.func, ast.Name) or name in self._methods)

    def is_constant(self, name: str) -> bool:
        """Whether it stands for the same, unchanged, from when the functions are called."""
        if self.is_made_by_text(name):
            return True
        if name in self._changed | self._looped or self._given[name] > 1:
            return False
        if not self._given[name]:
            return True
        # what it was made of may be changed through it, or be a view of it
        return name in self._outside and not self.known.sources(name) & self._changed

    def is_made_by_text(self, name: str) -> bool:
        """Whether it is a function, a class or a module: no data."""
        return name in self._imported | self._defined

    def given_in(self, function: Function) -> set[str]:
        """Its arguments and variables."""
        own = (each for each in _own_nodes(function) if isinstance(each, ast.Name) and _stores(each))
        return {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)} | {each.id for each in own}

    def same_arguments(self, function: Function, owner: ast.ClassDef | None) -> set[str]:
        """The arguments that each call of the text gives the same constant name, and the function does not change."""
        sites = [(call, within) for call, within, _ in self._calls if self._is_call_of(call, function.name)]
        names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
        names = names[1:] if owner is not None else names
        own = _own_nodes(function)
        changed = {name for node in own for name in _changed(node, self.known)}
        changed |= {each.id for each in own if isinstance(each, ast.Name) and _stores(each)}
        found = set[str]()
        for at, name in enumerate(names):
            handed = {self._handed(call, within, at, name) for call, within in sites}
            one = next(iter(handed)) if len(handed) == 1 else None
            if one and name not in changed and self.is_constant(one) and not self.is_made_by_text(one):
                found.add(name)
        return found

    def _handed(self, call: ast.Call, within: str, at: int, name: str) -> str:
        """The name of the text's own that a call in that function hands on for an argument; empty for anything else."""
        given = _handed(call, at, name)
        around = [node for node in ast.walk(self._tree) if isinstance(node, Function) and node.name == within]
        return "" if any(given in self.given_in(each) for each in around) else given

    def steady_attributes(self, call: ast.expr, name: str, owner: ast.ClassDef | None) -> set[str] | None:
        """`self.points`, where the call reads of the object only attributes that nothing changes; else None."""
        if owner is None:
            return None
        inside = list(ast.walk(call))
        held = [each for each in inside if isinstance(each, ast.Attribute) and _is(each.value, name)]
        called = {id(each.func) for each in inside if isinstance(each, ast.Call)}
        bare = sum(_is(each, name) for each in inside)
        if not held or bare != len(held) or any(id(each) in called for each in held):
            return None
        if self._attributes & {each.attr for each in held} or name != _first_argument(owner, call):
            return None
        return {f"{name}.{each.attr}" for each in held}


def _first_argument(owner: ast.ClassDef, call: ast.expr) -> str:
    around = [each for each in owner.body if isinstance(each, Function) and any(one is call for one in ast.walk(each))]
    return around[0].args.args[0].arg if around and around[0].args.args else ""


def _is_only_read(value: ast.expr | None, call: ast.Call) -> bool:
    """Whether the rest of the expression only asks it something: `cKDTree(points).query(x)`."""
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.value is call
        and (value.func.attr in _KEEPS)
    )


def _calls(body: list[ast.stmt]) -> Iterator[tuple[ast.stmt, ast.Call]]:
    """The calls of each statement, those inside others after them; what is in loops and branches of the function is
    left out: it may run more seldom."""
    for statement in body:
        if isinstance(statement, ast.Assign | ast.AnnAssign | ast.Return | ast.Expr) and statement.value is not None:
            inside = list(ast.walk(statement.value))
            if any(isinstance(each, _Comprehension | ast.Lambda | ast.IfExp) for each in inside):
                continue
            yield from ((statement, each) for each in inside if isinstance(each, ast.Call))
        elif isinstance(statement, ast.With):
            yield from _calls(statement.body)


def own_calls(body: list[ast.stmt]) -> Iterator[ast.Call]:
    """All calls of these statements, not those of functions and classes inside."""
    waiting: list[ast.AST] = [*body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call):
            yield node
        if not isinstance(node, _Scope):
            waiting.extend(ast.iter_child_nodes(node))


def _calls_with_place(tree: ast.Module) -> Iterator[tuple[ast.Call, str, int]]:
    """Each call, with its function and the line of the loop around it within that (0: none)."""
    waiting: list[tuple[ast.AST, str, int]] = [(tree, "", 0)]
    while waiting:
        node, function, loop = waiting.pop()
        for each in ast.iter_child_nodes(node):
            if isinstance(each, ast.Call):
                yield each, function, loop
            if isinstance(each, Function):
                waiting.append((each, each.name, 0))
            else:
                waiting.append((each, function, each.lineno if isinstance(each, _Repeating) else loop))


def _own_nodes(scope: ast.Module | Function) -> list[ast.AST]:
    """What is in it, not in functions and classes inside."""
    found, waiting = list[ast.AST](), list[ast.AST](scope.body)
    while waiting:
        node = waiting.pop()
        found.append(node)
        if not isinstance(node, _Scope):
            waiting.extend(ast.iter_child_nodes(node))
    return found


def _changed(node: ast.AST, known: Repeatable) -> set[str]:
    """The names of the objects that this node changes in place."""
    if isinstance(node, ast.AugAssign):
        return {root(node.target)}
    if isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(node.ctx, ast.Load):
        return {root(node)}
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        own = known.is_own(dotted(node.value.func))
        return known.given_to_effects(node.value) if own else changed_by(node.value)
    if isinstance(node, ast.Call):
        name = _bare(node)
        changes = name.endswith("_") or name.startswith("fit") or name in ("pop", "setdefault", "send", "popleft")
        return {root(node)} if changes else set()
    return set()


def _changed_attributes(tree: ast.Module) -> set[str]:
    """The names of attributes that something other than a plain assignment in `__init__` gives or changes."""
    found = set[str]()
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    counted = Counter[str]()
    while waiting:
        node, begins = waiting.pop()
        begins = node.name == "__init__" if isinstance(node, Function) else begins
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            counted[node.attr] += 1
            found |= set() if begins else {node.attr}
        target: ast.AST | None = node.target if isinstance(node, ast.AugAssign) else None
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            target = node
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            target = node.value
        if isinstance(node, ast.Call) and _bare(node).endswith("_"):
            target = node
        if target is not None:
            found |= {each.attr for each in ast.walk(target) if isinstance(each, ast.Attribute)}
        waiting.extend((each, begins) for each in ast.iter_child_nodes(node))
    return found | {name for name, count in counted.items() if count > 1}


def _handed(call: ast.Call, at: int, name: str) -> str:
    """The name that a call hands on for an argument; empty for anything else."""
    keywords: Mapping[str | None, ast.expr] = {each.arg: each.value for each in call.keywords}
    given = keywords.get(name) or (call.args[at] if at < len(call.args) else None)
    return given.id if isinstance(given, ast.Name) else ""


def _bare(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else dotted(call.func)


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _stores(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)
