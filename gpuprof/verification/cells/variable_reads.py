"""Which variables a cell reads that it has not made itself: only what these hold can matter to it, or be harmed."""

from __future__ import annotations

import ast
import dis
from collections.abc import Iterable, Iterator
from types import CodeType

_GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL")
_ANYTHING = frozenset({"globals", "locals", "vars", "eval", "exec"})
_LEAVES = (ast.Raise, ast.Return, ast.Continue, ast.Break)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def read_names(source: str) -> set[str] | None:
    """The names that the code reads before it has assigned them itself; None where that may be any (`eval`, `globals`).

    A loop counts as entered. What a function of the code reads counts where the function is first used.
    """
    reader = _Reader()
    reader.run(ast.parse(source).body)
    return None if reader.read & _ANYTHING else reader.read


def global_names(code: CodeType) -> set[str]:
    """The global names that a function's code and the functions inside it use."""
    steps = list(dis.get_instructions(code))
    # the body of a class reads its own names before those outside
    own = {str(each.argval) for each in steps if each.opname == "STORE_NAME"} | {"__name__"}
    found = {str(each.argval) for each in steps if each.opname in _GLOBAL} - own
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= global_names(constant)
    return found


def _globals_of(node: ast.stmt | ast.expr) -> set[str]:
    """The global names of the functions that a statement defines or a lambda is."""
    tree = ast.Module([node if isinstance(node, ast.stmt) else ast.Expr(node)], [])
    code = compile(ast.fix_missing_locations(tree), "<names>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    return {name for part in code.co_consts if isinstance(part, CodeType) for name in global_names(part)}


class _Reader:
    """Follows the top level of a cell in the order in which it runs."""

    def __init__(self) -> None:
        self.assigned: set[str] = set()
        self.read: set[str] = set()
        self._waiting: dict[str, set[str]] = {}

    def run(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self._definition(node)
            case ast.If():
                self._expressions(node.test)
                self._branches([node.body, node.orelse])
            case ast.For() | ast.AsyncFor():
                self._expressions(node.iter)
                self._expressions(node.target)
                self.run([*node.body, *node.orelse])
            case ast.While():
                self._expressions(node.test)
                self.run([*node.body, *node.orelse])
            case ast.Try() | ast.TryStar():
                handlers = [[ast.Expr(h.type), *h.body] if h.type else h.body for h in node.handlers]
                self._branches([[*node.body, *node.orelse], *handlers])
                self.run(node.finalbody)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    self._expressions(item.context_expr, item.optional_vars)
                self.run(node.body)
            case ast.Match():
                self._expressions(node.subject)
                self._branches([*([*_captures(case), *case.body] for case in node.cases), []])
            case ast.Assign():
                self._expressions(node.value, *node.targets)
            case ast.AnnAssign():
                self._expressions(node.value, *([node.target] if node.value else []))
            case ast.AugAssign():
                if isinstance(node.target, ast.Name):
                    self._load(node.target.id)
                self._expressions(node.value, node.target)
            case ast.Import() | ast.ImportFrom():
                self.assigned |= {(name.asname or name.name).partition(".")[0] for name in node.names}
            case _:
                self._expressions(*(child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)))

    def _definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        self._expressions(*node.decorator_list)
        if isinstance(node, _FUNCTIONS):
            self._expressions(*node.args.defaults, *node.args.kw_defaults)
            names = _globals_of(node)
        else:
            self._expressions(*node.bases, *(word.value for word in node.keywords))
            names = _globals_of(node) - {node.name}
        self.assigned.add(node.name)
        self._waiting[node.name] = names
        if node.decorator_list:
            self._load(node.name)

    def _branches(self, branches: list[list[ast.stmt]]) -> None:
        """Only one of them runs: assigned is what all do that go on below."""
        before, ends = set(self.assigned), []
        for branch in branches:
            self.assigned = set(before)
            self.run(branch)
            if not (branch and isinstance(branch[-1], _LEAVES)):
                ends.append(self.assigned)
        self.assigned = set.intersection(*ends) if ends else before

    def _expressions(self, *nodes: ast.expr | None) -> None:
        for node in nodes:
            if node is not None:
                self._expression(node)

    def _expression(self, node: ast.expr) -> None:
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                self._load(name)
            case ast.Name(id=name, ctx=ast.Store()):
                self.assigned.add(name)
            case ast.Name(id=name):
                self._load(name)
                self.assigned.discard(name)
            case ast.Lambda():
                self._expressions(*node.args.defaults, *node.args.kw_defaults)
                for name in sorted(_globals_of(node)):
                    self._load(name)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                self._comprehension(node)
            case ast.NamedExpr():
                self._expressions(node.value, node.target)
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self._expression(child)
                    elif isinstance(child, ast.keyword):
                        self._expression(child.value)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        outside = set(self.assigned)
        for part in node.generators:
            self._expressions(part.iter, part.target, *part.ifs)
        made = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self._expressions(*made)
        walrus = {each.target.id for each in ast.walk(node) if isinstance(each, ast.NamedExpr)}
        self.assigned = outside | walrus

    def _load(self, name: str) -> None:
        if name not in self.assigned:
            self.read.add(name)
        for inner in sorted(self._waiting.pop(name, ())):
            self._load(inner)


def _captures(case: ast.match_case) -> Iterator[ast.stmt]:
    """What a `case` binds, as assignments; its guard, as an expression."""
    for node in ast.walk(case.pattern):
        name = getattr(node, "rest", None) if isinstance(node, ast.MatchMapping) else getattr(node, "name", None)
        if isinstance(name, str):
            yield ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None))
        elif isinstance(node, ast.expr):
            yield ast.Expr(node)
    if case.guard is not None:
        yield ast.Expr(case.guard)
