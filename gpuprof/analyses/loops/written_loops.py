"""The loops that the notebook's code has, by its text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model.context import RunContext
from gpuprof.model.trace import Trace

_MAGIC = re.compile(r"^(\s*)[%!].*$", re.MULTILINE)
_Loop = ast.For | ast.AsyncFor | ast.While
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)


@dataclass(frozen=True)
class WrittenLoop:
    """A loop from `line` to `last` (1-based) of `file` (empty: the profiled cell), its body from `first`.

    `cuts`: lines of the body that run once in each iteration, one simple statement each. `over_modules`: it calls what
    it goes over (`for layer in layers: x = layer(x)`), so that its iterations are parts of one pass.
    """

    file: str
    line: int
    first: int
    last: int
    cuts: tuple[int, ...]
    over_modules: bool

    def holds(self, file: str, line: int) -> bool:
        """Whether that line is in its body."""
        return file == self.file and self.first <= line <= self.last


@dataclass(frozen=True)
class WrittenLoops(Result):
    """`loops` of the profiled cell and of the other cells that ran in it, outer ones before those inside them."""

    loops: tuple[WrittenLoop, ...]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the texts."""
        return cls(tuple(loop for file, source in notebook_sources(trace) for loop in written_loops(file, source)))


def notebook_sources(trace: Trace) -> list[tuple[str, str]]:
    """File name and text of each cell whose text is known; the name is empty for the profiled one."""
    return sources_of(trace.context)


def sources_of(context: RunContext) -> list[tuple[str, str]]:
    """The same, of what is known of a run."""
    found = {"": context.cell.source} if context.cell else {}
    sampled = [each for each in (context.stacks.files if context.stacks else ()) if each.kind == "notebook"]
    followed = context.lines.files if context.lines else ()
    others = [(each.filename, each.source) for each in sampled] + [(each.filename, each.source) for each in followed]
    found |= {file: source for file, source in others if source}
    return list(found.items())


@lru_cache(maxsize=64)
def parsed(source: str) -> ast.Module | None:
    """The text as a tree, magic lines apart; None where it is not Python."""
    try:
        # magic lines are not Python, but lines must keep their numbers
        return ast.parse(_MAGIC.sub(r"\1pass", source))
    except (SyntaxError, ValueError, RecursionError):
        return None


def written_loops(file: str, source: str) -> Iterator[WrittenLoop]:
    """The loops of a text, comprehensions as well, outer ones first."""
    tree = parsed(source)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, _Loop):
            last = max(each.end_lineno or each.lineno for each in node.body)
            cuts = tuple(dict.fromkeys(_cuts(node.body)))
            yield WrittenLoop(file, node.lineno, node.body[0].lineno, last, cuts, _calls_target(node))
        elif isinstance(node, _Comprehension):
            last = node.end_lineno or node.lineno
            yield WrittenLoop(file, node.lineno, node.lineno, last, (), _calls_target(node))


def _cuts(body: list[ast.stmt]) -> Iterator[int]:
    """Lines that hold one whole simple statement: one of several lines is entered more than once."""
    for node in body:
        if isinstance(node, ast.With | ast.AsyncWith):
            yield from _cuts(node.body)
        elif isinstance(node, _SIMPLE) and node.lineno == node.end_lineno:
            yield node.lineno


def _calls_target(loop: _Loop | _Comprehension) -> bool:
    if isinstance(loop, ast.While):
        return False
    targets = [loop.target] if isinstance(loop, ast.For | ast.AsyncFor) else [each.target for each in loop.generators]
    names = {node.id for each in targets for node in ast.walk(each) if isinstance(node, ast.Name)}
    calls = (node for node in ast.walk(loop) if isinstance(node, ast.Call))
    return any(isinstance(call.func, ast.Name) and call.func.id in names for call in calls)
