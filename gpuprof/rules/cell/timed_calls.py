"""Whether a cell measures how long something takes, again and again: then it repeats it on purpose."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.cell.cell_lines import MAGIC

_CLOCKS = frozenset(
    {"perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns", "time", "time_ns", "process_time", "thread_time"}
)
_RECORD, _TIMERS = "record", frozenset({"timeit", "autorange", "blocked_autorange", "adaptive_autorange"})
_MAGICS = ("%timeit", "%%timeit")
# before and after
_READINGS = 2


def times_its_calls(source: str) -> bool:
    """Whether a loop of the cell, or a function that it calls, reads a clock before and after a call in one turn, or a
    timer of a library runs it. False where the cell cannot be read."""
    if any(line.lstrip().startswith(_MAGICS) for line in source.splitlines()):
        return True
    try:
        tree = ast.parse(MAGIC.sub(r"\1pass", source))
    except (SyntaxError, ValueError, RecursionError):
        return False
    if any(isinstance(node, ast.Call) and _name(node) in _TIMERS for node in ast.walk(tree)):
        return True
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While)]
    return any(sum(_reads_clock(node) for node in _own_nodes(loop)) >= _READINGS for loop in loops)


def only_repeats(tree: ast.AST, line: int) -> bool:
    """Whether a loop does nothing but the statement in that line, `for _ in range(200): y = f(x)`, and hands nothing on
    from one iteration to the next: somebody measures it, or waits."""
    return any(_repeats(loop, line) for loop in ast.walk(tree) if isinstance(loop, ast.For))


def _repeats(loop: ast.For, line: int) -> bool:
    if len(loop.body) != 1 or not isinstance(loop.iter, ast.Call) or dotted(loop.iter.func) != "range":
        return False
    (statement,) = loop.body
    if not isinstance(statement, ast.Assign | ast.Expr) or not statement.lineno <= line <= (statement.end_lineno or 0):
        return False
    names = [node for part in (loop.target, statement) for node in ast.walk(part) if isinstance(node, ast.Name)]
    read = {each.id for each in names if isinstance(each.ctx, ast.Load)}
    given = {each.id for each in names if isinstance(each.ctx, ast.Store)}
    return not read & given


def _own_nodes(loop: ast.For | ast.While) -> Iterator[ast.AST]:
    """Of the turns of a loop, those of loops inside it left out."""
    waiting: list[ast.AST] = list(loop.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.For | ast.While | ast.FunctionDef | ast.Lambda):
            continue
        yield node
        waiting.extend(ast.iter_child_nodes(node))


def _reads_clock(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    if _name(node) in _CLOCKS:
        return not node.args
    return _name(node) == _RECORD and isinstance(node.func, ast.Attribute)


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else dotted(call.func)
