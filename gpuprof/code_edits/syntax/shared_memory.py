"""Which variables of a cell may hold the same memory, or parts of it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable

from gpuprof.code_edits.syntax.cell_modules import root_of
from gpuprof.code_edits.syntax.cell_text import CellText, Variable
from gpuprof.code_edits.syntax.steady import Steady

PUTS = frozenset(["add", "append", "appendleft", "extend", "insert", "put", "setdefault", "update"])
"""Methods that put something into what holds it."""

_ARRAYS = frozenset({"empty", "zeros", "ones", "full", "empty_like", "zeros_like", "ones_like", "full_like"})


class SharedMemory:
    """Whatever is made of something may be a part of it, unless the text says that it is new. Both are then one."""

    def __init__(self, text: CellText, steady: Steady):
        self._text, self._steady = text, steady
        self._next: dict[Variable, Variable] = {}
        functions = [each for each in text.nodes if isinstance(each, ast.FunctionDef)]
        self._functions = {each.name: each for each in functions}
        for function in functions:
            home = text.parent(function)
            if isinstance(home, ast.ClassDef) and function.args.args:
                # all objects of a class are taken for one
                self._join([Variable(home.name, text.scope(home)), Variable(function.args.args[0].arg, function)])
        for node in text.nodes:
            self._note(node)

    def shares(self, some: Iterable[Variable], others: Iterable[Variable]) -> bool:
        """Whether one of these may hold memory of one of those."""
        return bool({self._first(each) for each in some} & {self._first(each) for each in others})

    def _note(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                for part, value in _pairs(target, node.value):
                    if self._is_copied_into(part):
                        continue
                    self._join([*self._roots(part), *self._of(value)])
        elif isinstance(node, ast.For | ast.comprehension):
            self._join([*self._roots(node.target), *self._of(node.iter)])
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._join([*self._roots(node.optional_vars), *self._of(node.context_expr)])
        elif isinstance(node, ast.Call):
            self._call(node)

    def _is_copied_into(self, target: ast.expr) -> bool:
        """`draws[k] = x` of a tensor or an array copies."""
        if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
            return False
        made = self._text.value_of(self._text.variable(target.value))
        full = self._text.full_name(made.func) if isinstance(made, ast.Call) else None
        return full is not None and full.rpartition(".")[2] in _ARRAYS and full.startswith(("torch.", "numpy."))

    def _call(self, call: ast.Call) -> None:
        given = [*call.args, *(each.value for each in call.keywords)]
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        receiver = root_of(call.func)
        if name in PUTS and isinstance(call.func, ast.Attribute) and receiver is not None:
            self._join([self._text.variable(receiver), *(part for each in given for part in self._of(each))])
        function = self._functions.get(name)
        if function is None or not _keeps(function):
            return
        parts = [part for each in given for part in self._of(each)]
        self._join([*parts, *([self._text.variable(receiver)] if receiver is not None else [])])

    def _roots(self, target: ast.expr) -> list[Variable]:
        if isinstance(target, ast.Tuple | ast.List):
            return [each for part in target.elts for each in self._roots(part)]
        root = root_of(target)
        return [self._text.variable(root)] if root is not None else []

    def _of(self, value: ast.expr | None) -> list[Variable]:
        """The variables of whose memory it may be a part."""
        if value is None or self._steady.fresh.is_fresh(value):
            return []
        if isinstance(value, ast.Attribute | ast.Subscript | ast.Starred):
            return self._of(value.value)
        if isinstance(value, ast.Name):
            return self._of_name(value)
        if isinstance(value, ast.Call):
            inner = value.func.value if isinstance(value.func, ast.Attribute) else value.func
            parts = [inner, *value.args, *(each.value for each in value.keywords)]
            mine = [] if self._is_model(value.func) else self._of(inner)
            return [*mine, *self._returned(value), *(each for part in parts[1:] for each in self._of(part))]
        return [each for part in ast.walk(value) if isinstance(part, ast.Name) for each in self._of_name(part)]

    def _returned(self, call: ast.Call) -> list[Variable]:
        """Of whose memory the functions of the cell that it may call return a part: what they read, and their own."""
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        function = self._functions.get(name)
        if function is None:
            return []
        values = [each.value for each in ast.walk(function) if isinstance(each, ast.Return) and each.value]
        own = [self._text.variable(each) for value in values for each in self._text.names(value)]
        return [*self._steady.reads_of(function), *own]

    def _of_name(self, name: ast.Name) -> list[Variable]:
        """None for modules that are imported, and for what Python brings."""
        variable = self._text.variable(name)
        is_library = self._text.full_name(name) is not None
        is_builtin = hasattr(builtins, name.id) and not self._text.is_bound(variable)
        is_function = isinstance(self._text.definition(variable), ast.FunctionDef)
        return [] if is_library or is_builtin or is_function else [variable]

    def _is_model(self, function: ast.expr) -> bool:
        """Whether it is a module that the cell makes: what it computes is none of its weights."""
        if not isinstance(function, ast.Name):
            return False
        made = self._text.value_of(self._text.variable(function))
        full = self._text.full_name(made.func) if isinstance(made, ast.Call) else None
        if full is not None:
            return full.startswith("torch.nn.")
        runs = self._steady.modules.of_made(made) if isinstance(made, ast.Call) else None
        return runs is not None and not any(each is not None and _gives_attributes(each) for each in runs)

    def _join(self, variables: list[Variable]) -> None:
        if variables:
            first = self._first(variables[0])
            for each in variables[1:]:
                self._next[self._first(each)] = first
                first = self._first(first)

    def _first(self, variable: Variable) -> Variable:
        while (after := self._next.get(variable, variable)) != variable:
            variable = after
        return variable


def _pairs(target: ast.expr, value: ast.expr | None) -> list[tuple[ast.expr, ast.expr | None]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        whole = not any(isinstance(each, ast.Starred) for each in (*target.elts, *value.elts))
        return list(zip(target.elts, value.elts, strict=True)) if whole else [(target, value)]
    return [(target, value)]


def _gives_attributes(function: ast.FunctionDef) -> bool:
    """Whether it may return `self.x` as it is."""
    parts = [each.value for each in ast.walk(function) if isinstance(each, ast.Return | ast.Assign) and each.value]
    own = [part for each in parts for part in (each.elts if isinstance(each, ast.Tuple) else [each])]
    return any(isinstance(each, ast.Attribute | ast.Subscript) for each in own)


def _keeps(function: ast.FunctionDef) -> bool:
    """Whether it puts anything into an object or a container."""
    nodes = list(ast.walk(function))
    stores = any(isinstance(each, ast.Attribute | ast.Subscript) and isinstance(each.ctx, ast.Store) for each in nodes)
    calls = (each.func for each in nodes if isinstance(each, ast.Call))
    return stores or any(isinstance(each, ast.Attribute) and each.attr in PUTS for each in calls)
