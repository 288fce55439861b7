"""The written loop whose turns a chain of lines runs in, where its text shows that no turn needs another."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.rules.cell.independent_iterations import is_independent, names_in
from gpuprof.rules.cell.pure_calls import PureCalls

_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_Loop = ast.For | _Comprehension
_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef


@dataclass(frozen=True)
class IndependentLoop:
    """`line`: of the loop in `file` (1-based); `function`: that it is in, `<module>` for none. `variables`: what each
    turn gives another value; `turns`: where the text says how many there are. `alone`: no other loop is around it."""

    file: str
    line: int
    function: str
    variables: frozenset[str]
    turns: int | None
    alone: bool


def independent_loop(
    sources: Mapping[str, str], path: Sequence[tuple[str, int]], models: frozenset[str] = frozenset()
) -> IndependentLoop | None:
    """The innermost loop around a chain of lines (file, 1-based line; innermost first), by the texts of the files.

    None where a text is not known, where no loop is around, where it is no `for`, or where its turns may need one
    another. `models`: names that hold modules; that these keep nothing from call to call has to be known otherwise.
    """
    for number, (file, line) in enumerate(path):
        tree = parsed(sources[file]) if file in sources else None
        if tree is None:
            return None
        scope, loops = _around(tree, line)
        if not loops:
            continue
        loop = loops[-1]
        if not isinstance(loop, _Loop) or not is_independent(loop, PureCalls(tree, models)):
            return None
        further = (_around(tree, line)[1] for tree, line in _outer(sources, path[number + 1 :]))
        return IndependentLoop(
            file=file,
            line=loop.lineno,
            function=getattr(scope, "name", "<module>"),
            variables=_variables(loop),
            turns=_written_turns(loop),
            alone=len(loops) == 1 and not any(further),
        )
    return None


def _outer(sources: Mapping[str, str], path: Sequence[tuple[str, int]]) -> Iterator[tuple[ast.Module, int]]:
    for file, line in path:
        tree = parsed(sources[file]) if file in sources else None
        if tree is not None:
            yield tree, line


def _around(tree: ast.Module, line: int) -> tuple[ast.AST, list[ast.For | ast.While | _Comprehension]]:
    """The innermost function, or the module, and its loops that repeat something on that line, outer ones first."""
    scope: ast.AST = tree
    loops: list[ast.For | ast.While | _Comprehension] = []
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, _Scope) and node.lineno <= line <= (node.end_lineno or 0):
            scope, loops = node, []
        elif isinstance(node, ast.For | ast.While | _Comprehension) and _repeats(node, line):
            loops.append(node)
        inside = (each for each in ast.iter_child_nodes(node) if _reaches(each, line))
        waiting.extend(inside)
    return scope, loops


def _reaches(node: ast.AST, line: int) -> bool:
    first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
    return first is None or last is None or first <= line <= last


def _repeats(loop: ast.For | ast.While | _Comprehension, line: int) -> bool:
    if isinstance(loop, _Comprehension):
        return loop.lineno <= line <= (loop.end_lineno or 0)
    return loop.body[0].lineno <= line <= (loop.body[-1].end_lineno or 0)


def _variables(loop: _Loop) -> frozenset[str]:
    targets = [loop.target] if isinstance(loop, ast.For) else [each.target for each in loop.generators]
    return frozenset(name for each in targets for name in names_in(each))


def _written_turns(loop: _Loop) -> int | None:
    """`range(96)`."""
    over = loop.iter if isinstance(loop, ast.For) else loop.generators[0].iter
    if not isinstance(over, ast.Call) or not isinstance(over.func, ast.Name) or over.func.id != "range":
        return None
    given = over.args[0] if len(over.args) == 1 else None
    value = given.value if isinstance(given, ast.Constant) else None
    return value if isinstance(value, int) else None
