"""The names by which one iteration of a written loop leaves a value to the next: they make it a recurrence."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gpuprof.analyses.loops.written_loops import parsed

# what an iteration may add to without needing it: a sum, a list, the largest so far
_GATHERS = {"max", "min", "maximum", "minimum", "cat", "concat", "stack"}
_COMPREHENSION = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def carried_names(source: str, line: int) -> tuple[str, ...] | None:
    """Of the loop at that line (1-based) of a text: names that it reads before it binds them anew, and containers of
    which it reads other places than it writes. Sums, products, counters, lists and extremes that only grow do not
    count.

    Empty for comprehensions; None where there is no loop.
    """
    tree = parsed(source)
    there = [node for node in ast.walk(tree) if getattr(node, "lineno", 0) == line] if tree else []
    loop = next((node for node in there if isinstance(node, ast.For | ast.AsyncFor | ast.While)), None)
    if loop is None:
        return () if any(isinstance(node, _COMPREHENSION) for node in there) else None
    body = [node for each in loop.body for node in ast.walk(each)]
    if isinstance(loop, ast.While):
        body = [*ast.walk(loop.test), *body]
    gathered = {id(read) for node in body for read in _gathering(node)}
    reads = [node for node in body if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    reads = [node for node in reads if id(node) not in gathered]
    bound: dict[str, tuple[int, int]] = {}
    for name, at in (each for node in body for each in _binds(node)):
        bound[name] = min(bound.get(name, at), at)
    targets = () if isinstance(loop, ast.While) else ast.walk(loop.target)
    own = {node.id for node in targets if isinstance(node, ast.Name)}
    early = {node.id for node in reads if node.id in bound and (node.lineno, node.col_offset) < bound[node.id]}
    return tuple(sorted((early | _places(body)) - own))


def _binds(node: ast.AST) -> Iterator[tuple[str, tuple[int, int]]]:
    """Each name that a statement gives another value, and where that is done: behind what the statement reads."""
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value is not None:
        if isinstance(node, ast.AugAssign) and isinstance(node.value, ast.Constant):
            return  # a counter
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        for name in (each for target in targets for each in ast.walk(target)):
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                yield name.id, end


def _gathering(node: ast.AST) -> Iterator[ast.Name]:
    """What an assignment only adds to: `a = a + …`, `a = max(a, …)`, `a = torch.cat([a, …])`."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
        return
    value = node.value
    parts: list[ast.expr] = []
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add | ast.Sub | ast.Mult):
        parts = [value.left, value.right]
    elif isinstance(value, ast.Call) and _called(value.func) in _GATHERS:
        lists = [each.elts if isinstance(each, ast.List | ast.Tuple) else [each] for each in value.args]
        parts = [part for each in lists for part in each]
    for part in parts:
        if isinstance(part, ast.Name) and part.id == node.targets[0].id:
            yield part


def _called(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _places(body: list[ast.AST]) -> set[str]:
    """Containers of which other places are read than are written: `d[i] = d[i - 1] + …`."""
    written: dict[str, set[str]] = {}
    read: dict[str, set[str]] = {}
    for node in body:
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            kept = written if isinstance(node.ctx, ast.Store) else read
            kept.setdefault(node.value.id, set()).add(ast.dump(node.slice))
    return {name for name, places in written.items() if read.get(name, set()) - places}
