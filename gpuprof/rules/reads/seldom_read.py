"""Which statements of a loop compute, in each iteration, what only one of many reads.

`accuracy = hits(net(x), y)` for each step, and `if step % 100 == 0: print(accuracy)`: it belongs below the same
condition. Where it is read after the loop as well, the last iteration computes it, too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import lru_cache

from gpuprof.analyses.containers.written_numbers import given, whole_number
from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.rules.cell.effects import has_effects
from gpuprof.rules.cell.known_calls import imported, only_known
from gpuprof.rules.reads.last_results import LastResult

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Scope = _Function | ast.Lambda | ast.ClassDef | ast.Module
_Loop = ast.For | ast.AsyncFor | ast.While
# of fewer iterations nearly each reads it
_FEWEST = 4
# `step == last`: once
_ONCE = 1 << 30


@lru_cache(maxsize=16)
def seldom_read(source: str) -> tuple[LastResult, ...]:
    """Those of a text, of loops in functions as well; empty where it is not Python."""
    tree = parsed(source)
    try:
        return tuple(_of_tree(tree)) if tree is not None else ()
    except RecursionError:  # an expression of a thousand terms
        return ()


def _of_tree(tree: ast.Module) -> Iterator[LastResult]:
    functions = {each.name: each for each in ast.walk(tree) if isinstance(each, _Function)}
    modules = imported(tree)
    scopes = {id(node): each for each in ast.walk(tree) if isinstance(each, _Scope) for node in _own(each)}
    loads = [each for each in ast.walk(tree) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)]
    loops = [(each, each.lineno) for each in ast.walk(tree) if isinstance(each, _Loop)]
    bodies = list(_bodies(tree))
    for loop, line in (*loops, *bodies):
        conditions = seldom_conditions(tree, loop)
        if not conditions:
            continue
        inside, end, scope = {id(each) for each in ast.walk(loop)}, loop.end_lineno or loop.lineno, scopes.get(id(loop))
        behind = [each for each in loads if each.lineno > end and scopes.get(id(each)) is scope]
        elsewhere = {each.id for each in loads if id(each) not in inside | {id(each) for each in behind}}
        if (loop, line) in bodies:
            # its variables are nobody else's
            behind, elsewhere = [], set()
        for statement, passed_on, readers in _of_loop(loop, conditions, elsewhere):
            calls = [each for each in ast.walk(statement.value) if isinstance(each, ast.Call)]
            if calls and not has_effects(statement, functions):
                last, known = statement.end_lineno or statement.lineno, only_known(statement, functions, modules)
                names, call = _given(statement), ast.unparse(calls[0].func)
                every, reader = min(conditions[each] for each in readers), readers[0].lineno
                every_name = {name for each in (statement, *passed_on) for name in _given(each)}
                yield LastResult(
                    *(statement.lineno, last, names, line, call, known, reader, every),
                    passed_on=tuple(each.lineno for each in passed_on),
                    test=_same_test(loop, statement, readers),
                    after=min((each.lineno for each in behind if each.id in every_name), default=None),
                )


def _bodies(tree: ast.Module) -> Iterator[tuple[ast.For, int]]:
    """The bodies of functions that loops of the text call, as loops over their arguments, with the line of such a
    loop."""
    called = dict[str, int]()
    for loop in ast.walk(tree):
        for each in ast.walk(loop) if isinstance(loop, _Loop) else ():
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute | ast.Name):
                assert isinstance(loop, _Loop)
                # of several around it the innermost
                name = each.func.attr if isinstance(each.func, ast.Attribute) else each.func.id
                called[name] = max(called.get(name, 0), loop.lineno)
    for each in ast.walk(tree):
        if not isinstance(each, ast.FunctionDef) or each.name not in called:
            continue
        if any(isinstance(node, ast.Global | ast.Nonlocal | _Function) for node in ast.walk(each) if node is not each):
            continue
        given = [one.arg for one in ast.walk(each.args) if isinstance(one, ast.arg)]
        target = ast.Tuple([ast.Name(name, ast.Store()) for name in given], ast.Store())
        loop = ast.For(target, ast.Constant(None), each.body, [])
        loop.lineno, loop.end_lineno = each.lineno, each.end_lineno or each.lineno
        yield loop, called[each.name]


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """What is in it and in no function inside it."""
    for each in ast.iter_child_nodes(scope):
        if not isinstance(each, _Scope):
            yield each
            yield from _own(each)


def seldom_conditions(tree: ast.Module, loop: _Loop) -> dict[ast.If, int]:
    """The conditions of the loop itself that hold in one of so many iterations, as its counters say."""
    found = {}
    for each in loop.body:
        every = _every(tree, each.test) if isinstance(each, ast.If) and not each.orelse else None
        if isinstance(each, ast.If) and every is not None and every >= _FEWEST and _is_counted(each.test, loop):
            found[each] = every
    return found


def _every(tree: ast.Module, test: ast.expr) -> int | None:
    """100 of `step % 100 == 0`; None for what holds more often, or nobody knows how often."""
    if isinstance(test, ast.BoolOp):
        parts = [_every(tree, each) for each in test.values]
        known = [each for each in parts if each is not None]
        if isinstance(test.op, ast.And):
            # `rank == 0` may hold each time
            return max((each for each in known if each < _ONCE), default=max(known, default=None))
        return min(known) if len(known) == len(parts) else None
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _period(tree, test.operand)
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        sides = [_period(tree, each) for each in (test.left, test.comparators[0]) if _divides(each)]
        return sides[0] if sides else _ONCE
    return None


def _divides(node: ast.expr) -> bool:
    return any(isinstance(each, ast.Mod) for each in ast.walk(node))


def _period(tree: ast.Module, node: ast.expr) -> int | None:
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mod):
        return None
    known = whole_number(tree, node.right)
    values = given(tree, ast.unparse(node.right)) if isinstance(node.right, ast.Attribute) else []
    if known is None and len(values) == 1 and isinstance(values[0], ast.Name):
        return _default(tree, values[0].id)
    return known


def _default(tree: ast.Module, name: str) -> int | None:
    """Of the argument of that name that one `__init__` has, where no call gives another one."""
    found, others = list[ast.expr](), False
    for each in ast.walk(tree):
        if isinstance(each, ast.FunctionDef) and each.name == "__init__":
            arguments = [one.arg for one in each.args.args]
            defaults = dict(zip(reversed(arguments), reversed(each.args.defaults), strict=False))
            found += [defaults[name]] if name in defaults else []
        others |= isinstance(each, ast.Call) and any(one.arg == name for one in each.keywords)
    return whole_number(tree, found[0]) if len(found) == 1 and not others else None


def _is_counted(test: ast.expr, loop: _Loop) -> bool:
    """Whether it depends on nothing but counters and what the loop does not change."""
    names = {each.id for each in ast.walk(test) if isinstance(each, ast.Name)}
    counts: set[ast.AST] = {
        each.target for each in ast.walk(loop) if isinstance(each, ast.AugAssign) and _is_constant(each.value)
    }
    counts |= set(ast.walk(loop.target)) if isinstance(loop, ast.For | ast.AsyncFor) else set()
    stored = [each for each in ast.walk(loop) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
    changed = {each.id for each in stored if each not in counts}
    calls = any(isinstance(each, ast.Call) for each in ast.walk(test))
    return not calls and bool(names) and names.isdisjoint(changed)


def _is_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant)


def _of_loop(
    loop: _Loop, conditions: Mapping[ast.If, int], elsewhere: set[str]
) -> Iterator[tuple[ast.Assign, list[ast.Assign], list[ast.If]]]:
    """The statements, each with those that read it on the way, and with the conditions that let them be read."""
    plain = [part for each in loop.body for part in _unless(each, conditions)]
    statements = [each for each in plain if isinstance(each, ast.Assign) and _given(each)]
    nodes = [each for each in ast.walk(loop) if isinstance(each, ast.Name)]
    below = {id(node): each for each in conditions for part in each.body for node in ast.walk(part)}
    while True:
        own = {id(node): each for each in statements for node in ast.walk(each)}
        kept = []
        for each in statements:
            uses = [node for node in nodes if node.id in _given(each)]
            stores = [node for node in uses if not isinstance(node.ctx, ast.Load)]
            loads = [node for node in uses if isinstance(node.ctx, ast.Load)]
            seldom = all(id(node) in own | below and node.lineno > each.lineno for node in loads)
            if len(stores) == len(_given(each)) and loads and seldom and elsewhere.isdisjoint(_given(each)):
                kept.append(each)
        if len(kept) == len(statements):
            break
        statements = kept
    for each in statements:
        passed_on, readers = _readers(each, statements, nodes, below)
        if any(conditions[one] < _ONCE for one in readers):
            yield each, passed_on, readers


def _unless(statement: ast.stmt, conditions: Mapping[ast.If, int]) -> list[ast.stmt]:
    """Itself, or what stands below a condition that says nothing of how often: `if len(seen) > 1:`."""
    guard = isinstance(statement, ast.If) and statement not in conditions and not statement.orelse
    return statement.body if guard and isinstance(statement, ast.If) else [statement]


def _same_test(loop: _Loop, statement: ast.Assign, readers: list[ast.If]) -> str | None:
    """The condition under which one of them reads it; None where that has another outcome at the statement, since the
    loop counts on in between."""
    tests = list(dict.fromkeys(ast.unparse(each.test) for each in readers))
    read = {each.id for one in readers for each in ast.walk(one.test) if isinstance(each, ast.Name)}
    first = next(at for at, each in enumerate(loop.body) if any(one is statement for one in ast.walk(each)))
    between = loop.body[first : loop.body.index(readers[-1])]
    nodes = (node for each in between for node in ast.walk(each) if isinstance(node, ast.Name))
    changed = any(each.id in read and not isinstance(each.ctx, ast.Load) for each in nodes)
    return None if changed else " or ".join(tests)


def _readers(
    statement: ast.Assign, statements: list[ast.Assign], nodes: list[ast.Name], below: Mapping[int, ast.If]
) -> tuple[list[ast.Assign], list[ast.If]]:
    """The statements that compute something of it, and the conditions below which it or that is read."""
    names, before, of_it = set(_given(statement)), 0, list[ast.Assign]()
    while len(names) != before:
        before = len(names)
        of_it = [each for each in statements if any(_loads(node, names) for node in ast.walk(each))]
        names |= {name for each in of_it for name in _given(each)}
    readers = {below[id(node)] for node in nodes if _loads(node, names) and id(node) in below}
    return of_it, sorted(readers, key=lambda each: each.lineno)


def _loads(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names


def _given(statement: ast.Assign) -> tuple[str, ...]:
    """The names that it gives a value; empty where it gives one to anything else."""
    flat = [
        inner
        for each in statement.targets
        for inner in (each.elts if isinstance(each, ast.Tuple | ast.List) else [each])
    ]
    names = [each.id for each in flat if isinstance(each, ast.Name)]
    return tuple(names) if len(names) == len(flat) else ()
