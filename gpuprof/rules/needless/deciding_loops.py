"""The loop around a line as it is written: which flags it collects, and whether it ends early."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from gpuprof.rules.cell.cell_lines import MAGIC

_ASKED = "all", "any"
_SETS, _CLEARS = ("logical_or", "bitwise_or"), ("logical_and", "bitwise_and", "mul")


@dataclass(frozen=True)
class DecidingLoop:
    """The loop that begins at `line`. `flag`: the one name to which each iteration adds, None where there is no such
    name; `sets`: it adds with `or`, so that all are decided once all are True. `ends_early`: a condition on flags
    leaves it, or the function."""

    line: int
    flag: str | None
    sets: bool
    ends_early: bool


def deciding_loop(source: str, line: int) -> DecidingLoop | None:
    """Of the innermost loop around that line of the cell; None where there is none, or no Python to be read."""
    try:
        tree = ast.parse(MAGIC.sub(r"\1pass", source))
    except (SyntaxError, ValueError, RecursionError):
        return None
    loops = [
        each
        for each in ast.walk(tree)
        if isinstance(each, ast.For | ast.While) and each.body[0].lineno <= line <= (each.end_lineno or 0)
    ]
    if not loops:
        return None
    loop = max(loops, key=lambda each: each.lineno)
    flags = dict(_flags(loop.body))
    name = next(iter(flags)) if len(flags) == 1 else None
    tests = [node.test for node in _own(loop.body) if isinstance(node, ast.If) and _leaves(node)]
    if isinstance(loop, ast.While):
        tests.append(loop.test)
    ends = any(_asks(each, flags) for each in tests)
    return DecidingLoop(loop.lineno, name, flags.get(name or "", True), ends)


def _flags(body: Sequence[ast.stmt]) -> Iterator[tuple[str, bool]]:
    """Names with whether they are set: `done |= new`, `done = done | new`, `done = torch.logical_or(done, new)`."""
    for node in _own(body):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            if isinstance(node.op, ast.BitOr | ast.BitAnd):
                yield node.target.id, isinstance(node.op, ast.BitOr)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            how = _combined(node.value, node.targets[0].id)
            if how is not None:
                yield node.targets[0].id, how


def _combined(value: ast.expr, name: str) -> bool | None:
    """Whether the value sets more of that name's flags (clears: False); None where it is something else."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr | ast.BitAnd):
        both: Sequence[ast.expr] = (value.left, value.right)
        sets = isinstance(value.op, ast.BitOr)
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if value.func.attr not in (*_SETS, *_CLEARS):
            return None
        both, sets = (value.func.value, *value.args), value.func.attr in _SETS
    else:
        return None
    return sets if any(isinstance(each, ast.Name) and each.id == name for each in both) else None


def _leaves(condition: ast.If) -> bool:
    return any(isinstance(each, ast.Break | ast.Return) for each in (*condition.body, *condition.orelse))


def _asks(test: ast.expr, flags: Container[str]) -> bool:
    """Whether it asks for flags, or whether all or any of something are true."""
    return any(
        (isinstance(node, ast.Name) and node.id in flags) or (isinstance(node, ast.Attribute) and node.attr in _ASKED)
        for node in ast.walk(test)
    )


def _own(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """What is in it, but for loops, functions and classes within."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.For | ast.While | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for name in ("body", "orelse", "finalbody"):
            yield from _own(getattr(statement, name, ()))
