"""Which calls of a text compute the same in each iteration of a loop around them.

Nothing that such a call reads depends on the loop, and nothing that it runs is random, keeps a state, or is unknown.
What is not understood here is taken to depend on the loop.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.rules.cell.calls_in_functions import CallInFunction, calls_in_functions
from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.cell.repeatable import HARMLESS, Repeatable, changed_by, root
from gpuprof.rules.cell.timed_calls import times_its_calls

_Given = ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr
_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
_GOES_OVER = frozenset({"range", "enumerate", "zip", "sorted", "list", "tuple", "reversed"})
_IN_PLACE = ("pop", "heappop", "heappush", "heapreplace", "setdefault", "send")
_VIEWS = frozenset({"items", "keys", "values", "itertuples", "iterrows"})


@dataclass(frozen=True)
class UnchangedCall:
    """The statement in lines `first` to `last` (from 1) calls `call`, whose result the loop in line `loop` does not
    change; `turns`: how often it is computed for one that is needed, as far as the text says, at least 2. `unknown`:
    names that it reads of which the text does not say that they are data. `function`: the one that the statement is in,
    where the loop is around what calls it; `alone`: the statement computes nothing else."""

    first: int
    last: int
    call: str
    loop: int
    turns: int
    unknown: frozenset[str]
    function: str = ""
    alone: bool = True


@lru_cache(maxsize=16)
def unchanged_calls(source: str) -> tuple[UnchangedCall, ...]:
    """Of each statement by the outermost such loop. Empty where the text is not Python, or measures its own time."""
    tree = parsed(source)
    if tree is None or times_its_calls(source):
        return ()
    try:
        found = dict[tuple[int, str], UnchangedCall]()
        known = Repeatable(tree)
        for loop in ast.walk(tree):
            for each in _of_loop(loop, known) if isinstance(loop, ast.For) else ():
                before = found.get((each.first, each.call))
                turns = each.turns * (before.turns if before else 1)
                found[each.first, each.call] = replace(before or each, turns=turns)
        return (*found.values(), *(_in_function(each) for each in calls_in_functions(tree, known)))
    except RecursionError:  # an expression of a thousand terms
        return ()


def _in_function(found: CallInFunction) -> UnchangedCall:
    name = dotted(found.call.func) or ast.unparse(found.call.func)
    return UnchangedCall(found.first, found.last, name, found.loop, 2, found.unknown, found.function, found.alone)


def _of_loop(loop: ast.For, known: Repeatable) -> Iterator[UnchangedCall]:
    turns = _turns(loop.iter)
    if turns is not None and turns < 2:
        return
    changing = changing_names(loop, known)
    given = _first_given(loop)
    for node, tests in _statements(loop.body, ()):
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign | ast.Return) else None
        if not isinstance(value, ast.Call) or any(not known.is_unchanged(test, changing) for test in tests):
            continue
        # what is changed afterwards is made anew for that
        kept = isinstance(node, ast.Return) or not changing & _stored(node)
        kept = kept and not _reads_before(value, given, known)
        if kept and known.is_unchanged(value, changing) and not known.is_plain_call(value):
            yield UnchangedCall(
                first=node.lineno,
                last=node.end_lineno or node.lineno,
                call=dotted(value.func) or ast.unparse(value.func),
                loop=loop.lineno,
                turns=turns or 2,
                unknown=frozenset(known.not_data(value)),
            )


def _turns(iterable: ast.expr) -> int | None:
    if isinstance(iterable, ast.Tuple | ast.List):
        return len(iterable.elts)
    if isinstance(iterable, ast.Call) and dotted(iterable.func) == "range" and len(iterable.args) == 1:
        end = iterable.args[0]
        return end.value if isinstance(end, ast.Constant) and isinstance(end.value, int) else None
    return None


def _statements(body: list[ast.stmt], tests: tuple[ast.expr, ...]) -> Iterator[tuple[ast.stmt, tuple[ast.expr, ...]]]:
    """Each statement of a body, with the conditions within it; not those of functions inside."""
    for each in body:
        if isinstance(each, _Scope):
            continue
        yield each, tests
        inner = (*tests, each.test) if isinstance(each, ast.If | ast.While) else tests
        for part in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(each, part, []), inner)


def changing_names(loop: ast.For, known: Repeatable) -> set[str]:
    """The names that may stand for something else from one iteration to the next."""
    nodes = [node for each in loop.body for node in _inside(each)]
    changing = _names(loop.target) | {each.name for each in nodes if isinstance(each, _Scope) and hasattr(each, "name")}
    rare = {id(node) for each, tests in _statements(loop.body, ()) if tests for node in ast.walk(each)}
    given = _first_given(loop)
    for node in nodes:
        if isinstance(node, _Given) and node.value is not None and _reads_before(node.value, given, known):
            changing |= {name for each in _targets(node) for name in _names(each)}
    changed = {name for node in nodes for name in mutated(node, known)}
    before = -1
    while len(changing) != before:
        before = len(changing)
        # what was made of another name may be a view of it
        changed |= {source for name in changed for source in known.sources(name)}
        changing |= changed
        for node in nodes:
            changing |= _bound(node, known, changing, id(node) in rare)
    return changing


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    if not isinstance(node, _Scope):
        for each in ast.iter_child_nodes(node):
            yield from _inside(each)


def _bound(node: ast.AST, known: Repeatable, changing: set[str], rare: bool) -> set[str]:
    """The names to which this node gives another value each time."""
    if isinstance(node, _Given):
        names = {name for each in _targets(node) for name in _stored(each)}
        kept = isinstance(node, ast.AugAssign) or node.value is None or rare
        if kept or node.value is None or names & _names(node.value) or not known.is_unchanged(node.value, changing):
            return names
    elif isinstance(node, ast.For):
        return set() if _goes_over_the_same(node.iter, known, changing) else _names(node.target)
    elif isinstance(node, ast.With):
        return {name for each in node.items if each.optional_vars for name in _names(each.optional_vars)}
    elif isinstance(node, ast.Global | ast.Nonlocal):
        return set(node.names)
    elif isinstance(node, ast.Import | ast.ImportFrom):
        return {each.asname or each.name.partition(".")[0] for each in node.names}
    return set()


def mutated(node: ast.AST, known: Repeatable) -> set[str]:
    """The names whose objects this node changes in place."""
    if isinstance(node, ast.AugAssign):
        return {root(node.target)}
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.Delete):
        targets = node.targets if isinstance(node, ast.Assign | ast.Delete) else [node.target]
        return {root(each) for target in targets for each in ast.walk(target) if _is_part(each)}
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return changed_by(node.value)
    if not isinstance(node, ast.Call):
        return set()
    name = node.func.attr if isinstance(node.func, ast.Attribute) else dotted(node.func)
    if name.endswith("_") or name.startswith(_IN_PLACE):
        return {root(node), *(root(each) for each in node.args)}
    shown = dotted(node.func) in ("print", "display")
    is_harmless = isinstance(node.func, ast.Attribute) and node.func.attr in HARMLESS
    return set() if shown or is_harmless else known.given_to_effects(node)


def _targets(node: _Given) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _first_given(loop: ast.For) -> dict[str, tuple[int, int]]:
    """Where in the loop each name first gets a value: line and column."""
    found = dict[str, tuple[int, int]]()
    for node in ast.walk(loop):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            at = (node.lineno, node.col_offset)
            found[node.id] = min(found.get(node.id, at), at)
    return found


def _reads_before(value: ast.expr, given: dict[str, tuple[int, int]], known: Repeatable) -> bool:
    """Whether it reads what the iteration before has left."""
    at = (value.lineno, value.col_offset)
    own = {name for each in ast.walk(value) if isinstance(each, ast.comprehension) for name in _names(each.target)}
    return any(given.get(name, (0, 0)) >= at for name in known.reads(value) - own)


def _goes_over_the_same(iterable: ast.expr, known: Repeatable, changing: set[str]) -> bool:
    """Whether each time it gives the same, in the same order: no iterator that is used up, no loader that shuffles."""
    if isinstance(iterable, ast.Call):
        name = dotted(iterable.func)
        if name in _GOES_OVER:
            steady = _goes_over_the_same if name != "range" else _is_the_same
            return all(isinstance(each, ast.Constant) or steady(each, known, changing) for each in iterable.args)
        if isinstance(iterable.func, ast.Attribute) and iterable.func.attr in _VIEWS:
            return _goes_over_the_same(iterable.func.value, known, changing)
        return False
    if isinstance(iterable, ast.Tuple | ast.List):
        return known.is_unchanged(iterable, changing)
    name = dotted(iterable)
    return bool(name) and known.is_unchanged(iterable, changing) and known.is_collection(name)


def _is_the_same(node: ast.expr, known: Repeatable, changing: set[str]) -> bool:
    return known.is_unchanged(node, changing)


def _is_part(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(node.ctx, ast.Load)


def _stored(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
