"""A cell as a syntax tree of `ast`: which variable a name stands for, and the text after lines or parts change."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

from gpuprof.code_edits.syntax.masks import Masked
from gpuprof.code_edits.syntax.tree import LONGEST_SOURCE

Scope = ast.Module | ast.FunctionDef | ast.Lambda | ast.ClassDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
# what hides from the text which variable a name stands for, or when a statement runs
_UNCLEAR = (ast.Global, ast.Nonlocal, ast.AsyncFor, ast.AsyncWith, ast.AsyncFunctionDef, ast.NamedExpr)
# what a cell calls them that an earlier one imported
_BY_CONVENTION = {
    "torch": "torch",
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "np": "numpy",
    "numpy": "numpy",
    "math": "math",
    "plt": "matplotlib.pyplot",
    "time": "time",
}


@dataclass(frozen=True)
class Variable:
    """A name of a function, of a comprehension, or of the cell's first level."""

    name: str
    scope: ast.AST


@dataclass(frozen=True)
class Edit:
    """Lines `first` to `last` (from 1; `last` before `first`: nothing) are replaced by others."""

    first: int
    last: int
    lines: tuple[str, ...]


class CellText:
    """One parsed cell. A variable that is global in a function is not told from others: such cells are not read."""

    def __init__(self, source: str, masked: Masked, tree: ast.Module):
        self.tree = tree
        self.lines = masked.code.split("\n")
        self._source, self._masked = source, masked
        self._parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        self._bound: dict[ast.AST, set[str]] = {}
        self.nodes = list(ast.walk(tree))
        self._imports = _imports(self.nodes)
        self._variables: dict[ast.Name, Variable] = {}
        self._definitions: dict[Variable, list[ast.FunctionDef | ast.ClassDef]] = {}
        for node in self.nodes:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                self._definitions.setdefault(Variable(node.name, self.scope(node)), []).append(node)
        self._mentions: dict[Variable, list[ast.Name]] = {}
        for name in self.names():
            self._mentions.setdefault(self.variable(name), []).append(name)

    @classmethod
    @functools.lru_cache(maxsize=2)
    def of(cls, source: str) -> Self | None:
        """The tree; None where the cell is no Python that can be read, or says `global`, `async` or `:=`."""
        masked = Masked.of(source) if len(source) <= LONGEST_SOURCE else None
        if masked is None or "\f" in source or "\r" in source.replace("\r\n", ""):
            return None
        try:
            tree = ast.parse(masked.code)
        except (SyntaxError, ValueError, RecursionError):
            return None
        return None if any(isinstance(each, _UNCLEAR) for each in ast.walk(tree)) else cls(source, masked, tree)

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around it, the innermost first."""
        outer = self._parents.get(node)
        while outer is not None:
            yield outer
            outer = self._parents.get(outer)

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node around it; None for the module."""
        return self._parents.get(node)

    def scope(self, node: ast.AST) -> Scope:
        """The function, lambda or class whose body it is in, or the module."""
        return next((each for each in self.around(node) if isinstance(each, Scope)), self.tree)

    def variable(self, name: ast.Name) -> Variable:
        """What a name stands for."""
        if name not in self._variables:
            self._variables[name] = self._find(name)
        return self._variables[name]

    def _find(self, name: ast.Name) -> Variable:
        inner: ast.AST = name
        of_class = True  # what a class binds is not seen in its methods
        for each in self.around(name):
            if isinstance(each, Comprehension):
                first = inner is each.generators[0].iter
                if not first and name.id in _targets(each):
                    return Variable(name.id, each)
                of_class = of_class and first
            elif isinstance(each, ast.FunctionDef | ast.Lambda) and not _is_outside(each, inner):
                if name.id in self._locals(each):
                    return Variable(name.id, each)
                of_class = False
            elif isinstance(each, ast.ClassDef) and inner in each.body:
                if of_class and name.id in self._locals(each):
                    return Variable(name.id, each)
                of_class = False
            inner = each if not isinstance(each, ast.comprehension) else inner
        return Variable(name.id, self.tree)

    def names(self, within: ast.AST | None = None) -> list[ast.Name]:
        """Every mention of a variable."""
        nodes = self.nodes if within is None else ast.walk(within)
        return [each for each in nodes if isinstance(each, ast.Name)]

    def mentions(self, variable: Variable) -> list[ast.Name]:
        """Every mention of that one."""
        return self._mentions.get(variable, [])

    def holds(self, node: ast.AST, inner: ast.AST) -> bool:
        """Whether one node is the other, or within it."""
        return inner is node or any(each is node for each in self.around(inner))

    def full_name(self, function: ast.expr) -> str | None:
        """`torch.linalg.inv` of `linalg.inv`, by the imports of this cell, or, for what it does not bind, by custom."""
        parts: list[str] = []
        while isinstance(function, ast.Attribute):
            parts.append(function.attr)
            function = function.value
        if not isinstance(function, ast.Name):
            return None
        variable = self.variable(function)
        root = self._imports.get(function.id) if variable.scope is self.tree else None
        if root is None and not self.is_bound(variable):
            root = _BY_CONVENTION.get(function.id)
        return ".".join([root, *reversed(parts)]) if root is not None else None

    def is_bound(self, variable: Variable) -> bool:
        """Whether this cell gives it a value."""
        return variable.scope is not self.tree or variable.name in self._locals(self.tree)

    def value_of(self, variable: Variable) -> ast.expr | None:
        """What this cell gives it, where it does so once, by `x = value` or `x, y = value, other`."""
        stored = [each for each in self.mentions(variable) if not isinstance(each.ctx, ast.Load)]
        others = variable.scope is not self.tree and variable.name in _parameters(variable.scope)
        if len(stored) != 1 or others or (variable.scope is self.tree and variable.name in self._imports):
            return None
        return self.given_at(stored[0])

    def given_at(self, target: ast.expr) -> ast.expr | None:
        """`value` for `x` of `x = value`, or of `x, y = value, other`."""
        outer = self._parents[target]
        if isinstance(outer, ast.Assign):
            return outer.value if len(outer.targets) == 1 else None
        assign = self._parents.get(outer)
        if not isinstance(outer, ast.Tuple) or not isinstance(assign, ast.Assign) or assign.targets != [outer]:
            return None
        values = assign.value.elts if isinstance(assign.value, ast.Tuple) else []
        plain = len(values) == len(outer.elts) and not any(isinstance(each, ast.Starred) for each in values)
        return values[outer.elts.index(target)] if plain else None

    def given(self, variable: Variable) -> list[ast.expr] | None:
        """What the cell's calls give a parameter; None where they are not known, empty for what is none."""
        function = variable.scope
        if not isinstance(function, ast.FunctionDef | ast.Lambda):
            return []
        names = [each.arg for each in function.args.args]
        others = [*function.args.kwonlyargs, function.args.vararg, function.args.kwarg, *function.args.posonlyargs]
        if variable.name in {each.arg for each in others if each is not None}:
            return None
        if variable.name not in names:
            return []
        if isinstance(function, ast.Lambda) or not isinstance(self.parent(function), ast.Module):
            return None
        return self._at_calls(function, names.index(variable.name), variable.name)

    def _at_calls(self, function: ast.FunctionDef, at: int, name: str) -> list[ast.expr] | None:
        found, defaults = list[ast.expr](), function.args.defaults
        first = len(function.args.args) - len(defaults)
        for each in self.mentions(Variable(function.name, self.tree)):
            call = self.parent(each)
            if not isinstance(call, ast.Call) or call.func is not each:
                return None
            if any(isinstance(arg, ast.Starred) for arg in call.args) or any(k.arg is None for k in call.keywords):
                return None
            named = [k.value for k in call.keywords if k.arg == name]
            value = named or call.args[at : at + 1] or (defaults[at - first : at - first + 1] if at >= first else [])
            if not value:
                return None
            found += value
        return found or None

    def definition(self, variable: Variable) -> ast.FunctionDef | ast.ClassDef | None:
        """The function or class of that name, where nothing else has it."""
        mine = self._definitions.get(variable, [])
        stored = any(not isinstance(each.ctx, ast.Load) for each in self.mentions(variable))
        imported = variable.scope is self.tree and variable.name in self._imports
        return mine[0] if len(mine) == 1 and not stored and not imported else None

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The innermost statement that it is in, or is."""
        return next((each for each in (node, *self.around(node)) if isinstance(each, ast.stmt)), None)

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements beside it, itself among them."""
        outer = self._parents.get(statement)
        for part in ("body", "orelse", "finalbody"):
            block = getattr(outer, part, None)
            if isinstance(block, list) and statement in block:
                return block
        return []

    def text(self, node: ast.expr) -> str:
        """An expression as it is written."""
        return ast.get_source_segment("\n".join(self.lines), node) or ""

    def column(self, line: int, offset: int) -> int:
        """In characters, of an offset in bytes."""
        return len(self.lines[line - 1].encode()[:offset].decode())

    def indent(self, node: ast.stmt) -> str:
        """The white space before a statement."""
        line = self.lines[node.lineno - 1]
        return line[: len(line) - len(line.lstrip())]

    def stands_alone(self, statement: ast.stmt) -> bool:
        """Whether its lines hold nothing else than it and a comment, and no text of several lines."""
        end = statement.end_lineno or statement.lineno
        before = self.lines[statement.lineno - 1][: self.column(statement.lineno, statement.col_offset)]
        behind = self.lines[end - 1][self.column(end, statement.end_col_offset or 0) :].strip()
        long = (each for each in ast.walk(statement) if isinstance(each, ast.Constant) and isinstance(each.value, str))
        return (
            not before.strip()
            and (not behind or behind.startswith("#"))
            and not any(each.end_lineno != each.lineno for each in long)
            and not any(line.rstrip().endswith("\\") for line in self.lines[statement.lineno - 1 : end])
        )

    def moved(self, statement: ast.stmt, indent: str) -> tuple[str, ...]:
        """Its lines with another indent."""
        own = self.indent(statement)
        lines = self.lines[statement.lineno - 1 : statement.end_lineno]
        return tuple(indent + line.removeprefix(own) if line.strip() else line for line in lines)

    def replaced(self, parts: Iterable[tuple[ast.expr, str]]) -> list[Edit]:
        """The edits that put another text in place of expressions; several within one line are one."""
        by_line: dict[int, list[tuple[int, int, str]]] = {}
        edits = list[Edit]()
        for node, text in parts:
            end = node.end_lineno or node.lineno
            first, last = self.column(node.lineno, node.col_offset), self.column(end, node.end_col_offset or 0)
            if end == node.lineno:
                by_line.setdefault(node.lineno, []).append((first, last, text))
            else:
                joined = self.lines[node.lineno - 1][:first] + text + self.lines[end - 1][last:]
                edits.append(Edit(node.lineno, end, (joined,)))
        for number, found in by_line.items():
            line = self.lines[number - 1]
            for first, last, text in sorted(found, reverse=True):
                line = line[:first] + text + line[last:]
            edits.append(Edit(number, number, (line,)))
        return edits

    def changed(self, edits: Iterable[Edit]) -> str | None:
        """The cell's text after them; None where two touch the same lines, or where the result would be no Python."""
        lines, end = list(self.lines), "\r" if "\r\n" in self._source else ""
        before = len(lines) + 1
        for edit in sorted(edits, key=lambda each: (each.first, each.last), reverse=True):
            if max(edit.last, edit.first - 1) >= before:
                return None
            lines[edit.first - 1 : edit.last] = [line.removesuffix("\r") + end for line in edit.lines]
            before = edit.first
        return self._masked.finished("\n".join(lines), self._source)

    def new_name(self, wanted: str) -> str:
        """That name, or with a number, if the cell has it already."""
        taken = {each.id for each in self.names()} | {each.arg for each in self.nodes if isinstance(each, ast.arg)}
        number = 2
        name = wanted
        while name in taken:
            name, number = f"{wanted}_{number}", number + 1
        return name

    def _locals(self, scope: ast.AST) -> set[str]:
        if scope not in self._bound:
            self._bound[scope] = set(_bound_in(scope))
        return self._bound[scope]


def _bound_in(scope: ast.AST) -> Iterator[str]:
    """The names that a function, a class or the module binds itself."""
    if isinstance(scope, ast.FunctionDef | ast.Lambda):
        yield from (each.arg for each in ast.walk(scope.args) if isinstance(each, ast.arg))
    body = scope.body if isinstance(scope.body, list) else [scope.body]  # type: ignore[attr-defined]
    todo: list[ast.AST] = list(body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
            todo += node.decorator_list
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (each.asname or each.name.partition(".")[0] for each in node.names)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        if isinstance(node, Comprehension):
            todo.append(node.generators[0].iter)
        elif not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            todo += ast.iter_child_nodes(node)


def _parameters(scope: ast.AST) -> set[str]:
    arguments = scope.args if isinstance(scope, ast.FunctionDef | ast.Lambda) else None
    return {each.arg for each in ast.walk(arguments) if isinstance(each, ast.arg)} if arguments else set()


def _targets(node: ast.AST) -> set[str]:
    generators = node.generators if isinstance(node, Comprehension) else []
    return {each.id for part in generators for each in ast.walk(part.target) if isinstance(each, ast.Name)}


def _is_outside(function: ast.FunctionDef | ast.Lambda, inner: ast.AST) -> bool:
    """Defaults and decorators are read where the function is defined."""
    body = function.body if isinstance(function.body, list) else [function.body]
    return inner not in body


def _imports(nodes: list[ast.AST]) -> dict[str, str]:
    found = dict[str, str]()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {each.asname or each.name.partition(".")[0]: each.name for each in node.names if each.asname}
            found |= {(root := each.name.partition(".")[0]): root for each in node.names if not each.asname}
        elif isinstance(node, ast.ImportFrom):
            found |= {each.asname or each.name: f"{node.module or ''}.{each.name}" for each in node.names}
    return found
