"""Sums over the rest of a sequence, or over what came before, that a loop computes anew for each position.

`for t in range(n): g = 0; for k, r in enumerate(rewards[t:]): g += gamma ** k * r` takes n²/2 additions; going through
the sequence once from its end, `g = r + gamma * g`, takes n. By the text: the bounds of the inner loop, and that its
terms are the same for every position.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.rules.cell.cell_bindings import dotted

_Loop = ast.For | ast.AsyncFor
_PLAIN_CALLS = ("abs", "float", "int")
_REDUCED_BY = ("sum", "mean", "max", "min", "prod")
_MODULES = ("np", "numpy", "torch", "math")


class RunningTotal(NamedTuple):
    """Lines `first` to `last` go through a part of `name` for each turn of the loop in line `loop`; from the place of
    that turn on, with `suffix`, or else up to it."""

    name: str
    first: int
    last: int
    loop: int
    suffix: bool


@lru_cache(maxsize=64)
def running_totals(source: str) -> tuple[RunningTotal, ...]:
    """All of them in a source; empty for one that cannot be parsed."""
    tree = parsed(source)
    loops = [each for node in ast.walk(tree) for each in _outer(node)] if tree is not None else []
    return tuple(each for loop in loops for counter in _counters(loop) for each in _totals(loop, counter))


class _Outer(NamedTuple):
    """A loop, or what a comprehension makes of each item: `node` is all of it."""

    node: ast.stmt | ast.expr
    target: ast.expr
    over: ast.expr
    body: list[ast.AST]


def _outer(node: ast.AST) -> Iterator[_Outer]:
    if isinstance(node, _Loop):
        yield _Outer(node, node.target, node.iter, [*node.body])
    elif isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp) and len(node.generators) == 1:
        yield _Outer(node, node.generators[0].target, node.generators[0].iter, [node.elt])


def _counters(loop: _Outer) -> Iterator[str]:
    """`t` of `for t in range(n)` and `for t, x in enumerate(xs)`."""
    target, called = loop.target, loop.over
    if isinstance(called, ast.Call) and dotted(called.func) == "range" and isinstance(target, ast.Name):
        yield target.id
    counted = isinstance(called, ast.Call) and dotted(called.func) == "enumerate"
    if counted and isinstance(target, ast.Tuple) and target.elts and isinstance(target.elts[0], ast.Name):
        yield target.elts[0].id


def _totals(loop: _Outer, counter: str) -> Iterator[RunningTotal]:
    changing, line = _stored(loop.node), loop.node.lineno
    for node in (each for part in loop.body for each in ast.walk(part)):
        if isinstance(node, _Loop) and not node.orelse and _only_adds_up(node, counter, changing):
            found, last = _part(node.iter, node, counter), node.body[-1]
            if found is not None:
                yield RunningTotal(found[0], node.lineno, last.end_lineno or last.lineno, line, found[1])
        elif isinstance(node, ast.Call):
            found = _reduced(node, counter, changing)
            if found is not None:
                yield RunningTotal(found[0], node.lineno, node.end_lineno or node.lineno, line, found[1])


def _only_adds_up(inner: _Loop, counter: str, changing: frozenset[str]) -> bool:
    """Whether its body does nothing but add terms to names, or multiply these, that do not depend on the turn."""
    own = {each.id for each in ast.walk(inner.target) if isinstance(each, ast.Name)}
    made = set[str]()
    for each in inner.body:
        if not isinstance(each, ast.AugAssign) or not isinstance(each.target, ast.Name):
            return False
        if not isinstance(each.op, ast.Add | ast.Sub | ast.Mult):
            return False
        made.add(each.target.id)
    values = [each.value for each in inner.body if isinstance(each, ast.AugAssign)]
    return bool(values) and all(_is_of_position(each, own | made, counter, changing) for each in values)


def _is_of_position(term: ast.expr, own: set[str], counter: str, changing: frozenset[str]) -> bool:
    """Whether the term is the same in each turn, but for powers by the distance `k - t`."""
    distances = {
        id(part)
        for node in ast.walk(term)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)
        for part in ast.walk(node.right)
    }
    for node in ast.walk(term):
        if isinstance(node, ast.Call) and dotted(node.func) not in _PLAIN_CALLS:
            return False
        varies = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in changing - own
        if varies and (getattr(node, "id", "") != counter or id(node) not in distances):
            return False
    return True


def _part(over: ast.expr, inner: _Loop, counter: str) -> tuple[str, bool] | None:
    """What the inner loop goes through: `rewards[t:]`, `enumerate(rewards[:t])`, `range(t, n)` with `rewards[k]`."""
    if isinstance(over, ast.Call) and dotted(over.func) in ("enumerate", "reversed") and len(over.args) == 1:
        over = over.args[0]
    if isinstance(over, ast.Call) and dotted(over.func) == "range" and isinstance(inner.target, ast.Name):
        suffix = _bounded(over.args, counter)
        names = [
            dotted(node.value)
            for part in inner.body
            for node in ast.walk(part)
            if isinstance(node, ast.Subscript) and dotted(node.slice) == inner.target.id
        ]
        return (names[0], suffix) if suffix is not None and names and names[0] else None
    return _slice_of(over, counter)


def _bounded(given: list[ast.expr], counter: str) -> bool | None:
    """Whether a range begins at the counter (True) or ends there (False); None for neither."""
    if len(given) == 1 and _is_at(given[0], counter):
        return False
    if len(given) == 2 and _is_at(given[0], counter) and counter not in _loaded(given[1]):
        return True
    return False if len(given) == 2 and isinstance(given[0], ast.Constant) and _is_at(given[1], counter) else None


def _slice_of(over: ast.expr, counter: str) -> tuple[str, bool] | None:
    if not isinstance(over, ast.Subscript) or not isinstance(over.slice, ast.Slice) or over.slice.step is not None:
        return None
    lower, upper, name = over.slice.lower, over.slice.upper, dotted(over.value)
    if not name:
        return None
    if lower is not None and upper is None and _is_at(lower, counter):
        return name, True
    return (name, False) if lower is None and upper is not None and _is_at(upper, counter) else None


def _reduced(call: ast.Call, counter: str, changing: frozenset[str]) -> tuple[str, bool] | None:
    """`sum(rewards[t:])`, `np.mean(scores[:i + 1])`, `x[:i].max()`, `sum(g ** k * r for k, r in enumerate(x[t:]))`."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else dotted(call.func)
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    if name not in _REDUCED_BY:
        return None
    if owner is not None and (isinstance(owner, ast.Subscript) or dotted(owner) not in _MODULES):
        return _slice_of(owner, counter) if not call.args else None
    if len(call.args) != 1:
        return None
    given = call.args[0]
    if not isinstance(given, ast.GeneratorExp | ast.ListComp) or name != "sum":
        return _slice_of(given, counter)
    if len(given.generators) != 1 or given.generators[0].ifs:
        return None
    source = given.generators[0]
    loop = ast.For(target=source.target, iter=source.iter, body=[ast.Expr(given.elt)], orelse=[])
    own = {each.id for each in ast.walk(source.target) if isinstance(each, ast.Name)}
    return _part(source.iter, loop, counter) if _is_of_position(given.elt, own, counter, changing) else None


def _is_at(node: ast.expr, counter: str) -> bool:
    """`t`, `t + 1`, `t - 1`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        return isinstance(node.right, ast.Constant) and _is_at(node.left, counter)
    return isinstance(node, ast.Name) and node.id == counter


def _loaded(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _stored(node: ast.AST) -> frozenset[str]:
    names = (each for each in ast.walk(node) if isinstance(each, ast.Name))
    return frozenset(each.id for each in names if isinstance(each.ctx, ast.Store))
