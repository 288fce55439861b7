"""Where the notebook's code collects something in a loop and works on all of it again, by its text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Self, TypeGuard

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.loops.attachments import attachments
from gpuprof.analyses.loops.written_loops import notebook_sources, parsed
from gpuprof.model.trace import Trace

_Loop = ast.For | ast.AsyncFor | ast.While
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_COMPOUND = ast.For | ast.AsyncFor | ast.While | ast.If | ast.With | ast.AsyncWith | ast.Try
JOINS = ("cat", "concat", "concatenate", "vstack", "hstack", "dstack", "column_stack", "append", "stack")
_ADDS = ("append", "extend")
_REMOVES = ("pop", "popleft", "clear", "remove")
_SIZES = ("shape", "size", "numel", "ndim", "device", "dtype", "dim")


class Growing(StrEnum):
    """How it grows: joined to itself, and then read, or only copied for that; a list that is appended to, a prefix that
    gets longer, a graph that is kept; hooks and their like that are added and never removed."""

    JOINED = "joined"
    COPIED = "copied"
    LISTED = "listed"
    PREFIX = "prefix"
    GRAPH = "graph"
    ATTACHED = "attached"


@dataclass(frozen=True)
class Accumulation:
    """`name` grows in a loop or function from `first` to `last` of `file` (empty: the profiled cell); `line` makes it
    grow, `reads` are the lines that work on all of it, `works` those and the lines that work on what comes of them.
    Lines are 1-based. `in_function`: it outlives the function, which something else calls again and again."""

    growing: Growing
    name: str
    file: str
    first: int
    last: int
    line: int
    reads: tuple[int, ...]
    works: tuple[int, ...]
    in_function: bool = False

    def holds(self, file: str, line: int) -> bool:
        """Whether that line is in the loop or function."""
        return file == self.file and self.first <= line <= self.last


@dataclass(frozen=True)
class Accumulations(Result):
    """`found` in the profiled cell and in the other cells that ran in it. What is cut back or given a new value in the
    same loop is left out. `known`: there was a text to look into."""

    found: tuple[Accumulation, ...]
    known: bool

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the texts."""
        sources = notebook_sources(trace)
        return cls(tuple(each for file, text in sources for each in accumulations(file, text)), bool(sources))


def accumulations(file: str, source: str) -> Iterator[Accumulation]:
    """Those of a text: in loops, and in functions that collect in an attribute (`self.seen.append(x)`)."""
    tree = parsed(source)
    for node in ast.walk(tree) if tree else ():
        if not isinstance(node, _Loop | _Function):
            continue
        body = _Body(node)
        last = max(each.end_lineno or each.lineno for each in node.body)
        for growing, name, line, reads in body.grown():
            works = body.works(set(reads))
            read, within = tuple(sorted(set(reads))), not isinstance(node, _Loop)
            yield Accumulation(growing, name, file, node.lineno, last, line, read, works, within)
    for name, line, works, (first, last) in attachments(source):
        yield Accumulation(Growing.ATTACHED, name, file, first, last, line, (line,), works)


class _Body:
    """The nodes of a loop's or function's body, functions and classes inside it apart."""

    def __init__(self, node: _Loop | _Function):
        self._is_loop = isinstance(node, _Loop)
        self._nodes = [inner for each in node.body for inner in _inside(each)]
        self._counters = _names(node.target) if isinstance(node, ast.For | ast.AsyncFor) else set()
        self._counters |= {
            each.target.id
            for each in self._nodes
            if isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name) and _is_number(each.value)
        }

    def grown(self) -> Iterator[tuple[Growing, str, int, list[int]]]:
        for name, line, growing, own in self._growing():
            reads = self._reads(name, own)
            if self._is_cut_back(name, own):
                continue
            if reads:
                yield growing, name, line, reads
            elif growing is Growing.JOINED and self._is_loop and _lengthens(own, self._nodes):
                # each time all of it is copied; what a function keeps may be read elsewhere
                yield Growing.COPIED, name, line, [line]
        if self._is_loop:
            yield from self._prefixes()
            yield from self._graphs()

    def works(self, lines: set[int]) -> tuple[int, ...]:
        """These lines, and those that read what they and each other give a value."""
        statements = [each for each in self._nodes if isinstance(each, ast.stmt) and not isinstance(each, _COMPOUND)]
        found, made, before = set(lines), set[str](), -1
        while len(found) + len(made) > before:
            before = len(found) + len(made)
            for each in statements:
                span = set(range(each.lineno, (each.end_lineno or each.lineno) + 1))
                if span & found or _loaded(each) & made:
                    found |= span
                    made |= _stored(each)
        return tuple(sorted(found))

    def _growing(self) -> Iterator[tuple[str, int, Growing, ast.AST]]:
        """Name, line, and the node that makes it grow."""
        for node in self._nodes:
            if isinstance(node, ast.Assign):
                for target, value in _assigned(node):
                    joined = _joined(value, ast.unparse(target)) if value is not None else None
                    if self._may_grow(target) and joined is not None:
                        yield ast.unparse(target), node.lineno, Growing.JOINED, joined
            elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
                if self._may_grow(node.target) and isinstance(node.value, ast.List | ast.Tuple):
                    yield ast.unparse(node.target), node.lineno, Growing.LISTED, node
            elif _calls(node, *_ADDS) and len(node.args) == 1 and self._may_grow(node.func.value):
                # `np.append` takes two
                yield ast.unparse(node.func.value), node.lineno, Growing.LISTED, node.func

    def _may_grow(self, target: ast.expr) -> bool:
        """A name in a loop; in a function only what outlives its call, an attribute."""
        return isinstance(target, ast.Attribute) or (self._is_loop and isinstance(target, ast.Name))

    def _reads(self, name: str, own: ast.AST) -> list[int]:
        """The lines that take all of it, besides the one that makes it longer."""
        within = {id(each) for each in ast.walk(own)}
        harmless = {id(part) for node in self._nodes for part in _taken_in_part(node)}
        return [
            node.lineno
            for node in self._nodes
            if isinstance(node, ast.Name | ast.Attribute)
            and isinstance(node.ctx, ast.Load)
            and id(node) not in within | harmless
            and ast.unparse(node) == name
        ]

    def _is_cut_back(self, name: str, own: ast.AST) -> bool:
        """Whether it is emptied, shortened or made anew in the same body."""
        changed = [node for node in self._nodes if not isinstance(node, ast.Assign) or own not in ast.walk(node)]
        for node in changed:
            for target, value in _assigned(node):
                grows = value is not None and _joined(value, name) is not None
                if (ast.unparse(target) == name and not grows) or _slice_of(target, name):
                    return True
            if _calls(node, *_REMOVES) and ast.unparse(node.func.value) == name:
                return True
        return False

    def _prefixes(self) -> Iterator[tuple[Growing, str, int, list[int]]]:
        """`x[:, :t]` in a loop over `t`."""
        for node in self._nodes:
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
                parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                if any(self._is_prefix(each) for each in parts):
                    yield Growing.PREFIX, ast.unparse(node.value), node.lineno, [node.lineno]

    def _is_prefix(self, part: ast.expr) -> bool:
        if not isinstance(part, ast.Slice) or part.upper is None or _names(part.upper).isdisjoint(self._counters):
            return False
        return part.lower is None or _is_number(part.lower)

    def _graphs(self) -> Iterator[tuple[Growing, str, int, list[int]]]:
        """`loss.backward(retain_graph=True)`: what was kept of earlier iterations is gone through again."""
        for node in self._nodes:
            if _calls(node, "backward") and any(each.arg == "retain_graph" for each in node.keywords):
                yield Growing.GRAPH, ast.unparse(node.func.value), node.lineno, [node.lineno]


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, _Function | ast.ClassDef | ast.Lambda):
        return
    yield node
    for inner in ast.iter_child_nodes(node):
        yield from _inside(inner)


class _MethodCall(ast.Call):
    """A call of a method: `func` is an attribute."""

    func: ast.Attribute
    keywords: list[ast.keyword]


def _calls(node: ast.AST, *methods: str) -> TypeGuard[_MethodCall]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in methods


def _joined(value: ast.expr, name: str) -> ast.expr | None:
    """`v` itself in `torch.cat([v, x])`, `np.append(v, x)`, `v + [x]`."""
    if isinstance(value, ast.IfExp):
        return _joined(value.body, name) or _joined(value.orelse, name)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        adds = ast.unparse(value.left) == name and isinstance(value.right, ast.List | ast.Tuple)
        return value.left if adds else None
    if not isinstance(value, ast.Call) or not value.args:
        return None
    first = value.args[0]
    given = first.elts if isinstance(first, ast.List | ast.Tuple) else value.args
    last = value.func.attr if isinstance(value.func, ast.Attribute) else ast.unparse(value.func)
    joins = last in JOINS and len(given) > 1
    return next((each for each in given if joins and ast.unparse(each) == name), None)


def _lengthens(own: ast.AST, nodes: list[ast.AST]) -> bool:
    """Whether the call that it is given to joins along an axis: `stack` makes a new one, and a list is short."""
    calls = [each for each in nodes if isinstance(each, ast.Call) and any(part is own for part in ast.walk(each))]
    names = {each.func.attr if isinstance(each.func, ast.Attribute) else ast.unparse(each.func) for each in calls}
    return bool(names & set(JOINS) - {"stack"})


def _taken_in_part(node: ast.AST) -> Iterator[ast.AST]:
    """`v` in `v.shape`, `len(v)`, `v is None`, `v[-1]`, `v[:, -8:]`, `v.append`."""
    if isinstance(node, ast.Attribute) and node.attr in (*_SIZES, *_ADDS):
        yield node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len":
        yield from node.args
    if isinstance(node, ast.Compare) and all(
        isinstance(each, ast.Is | ast.IsNot | ast.In | ast.NotIn) for each in node.ops
    ):
        yield from (node.left, *node.comparators)
    if isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if any(_is_bounded(each) for each in parts):
            yield node.value


def _is_bounded(part: ast.expr) -> bool:
    """One index, or the last few: `-1`, `i`, `-8:`."""
    if isinstance(part, ast.Slice):
        return isinstance(part.lower, ast.UnaryOp) and isinstance(part.lower.op, ast.USub)
    return not (isinstance(part, ast.Constant) and part.value in (..., None))


def _assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """What a statement gives a new value, or deletes, with that value where it stands there."""
    if isinstance(node, ast.Assign):
        for each in node.targets:
            yield from _pairs(each, node.value)
    elif isinstance(node, ast.Delete):
        for each in node.targets:
            yield from _pairs(each, None)
    elif isinstance(node, ast.For | ast.AsyncFor):
        yield from _pairs(node.target, None)
    elif isinstance(node, ast.NamedExpr | ast.AnnAssign) and node.value is not None:
        yield node.target, node.value


def _pairs(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """`a` with `f(a)` and `b` with `g(b)` in `a, b = f(a), g(b)`."""
    if not isinstance(target, ast.Tuple | ast.List):
        yield (target.value if isinstance(target, ast.Starred) else target), value
        return
    given = value.elts if isinstance(value, ast.Tuple | ast.List) else []
    alike = len(given) == len(target.elts) and not any(isinstance(each, ast.Starred) for each in (*given, *target.elts))
    for number, each in enumerate(target.elts):
        yield from _pairs(each, given[number] if alike else None)


def _slice_of(target: ast.expr, name: str) -> bool:
    return isinstance(target, ast.Subscript) and ast.unparse(target.value) == name


def _loaded(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}


def _stored(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)
