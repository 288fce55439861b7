"""Statements that compute something for single items of a collection, again in each turn of a loop around them, though
nothing but the item decides what it is; or that compute the same in each turn.

Which items a turn takes, and in which order, does not matter: `build(rows[i])` for each `i` of a new permutation. What
is not understood here is taken to differ.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from gpuprof.analyses.containers.written_numbers import whole_number
from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.cell.pure_calls import words
from gpuprof.rules.cell.repeatable import RepeatableReads, root
from gpuprof.rules.cell.timed_calls import times_its_calls
from gpuprof.rules.reads.fixed_names import FixedNames, Scope, called_once
from gpuprof.rules.reads.text_names import TextNames, own_nodes

_Whole = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
_Turns = ast.For | ast.comprehension
_ORDERS = re.compile(r"perm|shuffle|arange|^range$|argsort", re.IGNORECASE)
_PARTS = re.compile(r"split|chunk|batched", re.IGNORECASE)
# some of all, perhaps none twice
_SOME = re.compile(r"randint|choice|choices|multinomial|^sample$|integers|random_sample", re.IGNORECASE)
_WRAPS = ("tqdm", "enumerate", "list", "reversed", "sorted")
# they only put together what single items gave
_JOINS = words(
    """
    append array as_tensor asarray cat concat concatenate float from_numpy hstack int item len list long max min
    pad_sequence range stack sum tensor to tolist tuple unsqueeze view vstack zip
    """
)
_FEWEST = 2
_MOST_NAMES = 3


@dataclass(frozen=True)
class SameItems:
    """The statement in lines `first` to `last` (from 1) computes `value`, as it is written, of the variable `item` of
    an inner loop, for which it takes items of `collection` (empty where the item is a number of a range). `item` is
    empty where it depends on none. The loop in line `loop` has it `passes` times, as far as the text says, at least 2.
    """

    first: int
    last: int
    value: str
    item: str
    collection: str
    loop: int
    passes: int


@lru_cache(maxsize=16)
def same_items(source: str, lines: frozenset[int] | None = None) -> tuple[SameItems, ...]:
    """Of each statement, of those that begin in these lines, by the outermost such loop. Empty where the text is not
    Python, or measures its own time."""
    tree = parsed(source) if lines is None or lines else None
    if tree is None or times_its_calls(source):
        return ()
    known, found = RepeatableReads(tree), dict[int, SameItems]()
    try:
        for loop, body, names in bodies_of_loops(tree, known):
            for statement in assigned(body):
                if statement.lineno in found or (lines is not None and statement.lineno not in lines):
                    continue
                one = _OfStatement(known, names, statement, _turns_around(body, statement))
                if (what := one.found()) is not None:
                    last, passes = statement.end_lineno or statement.lineno, _passes(tree, loop.iter)
                    found[statement.lineno] = SameItems(statement.lineno, last, *what, loop.lineno, passes)
    except RecursionError:  # an expression of a thousand terms
        return ()
    return tuple(found.values())


def bodies_of_loops(tree: ast.Module, known: RepeatableReads) -> Iterator[tuple[ast.For, list[ast.stmt], FixedNames]]:
    """Of each loop of the text that turns twice or more, the outermost first: its body and those of the functions that
    it calls in one place, with what names stand for in it."""
    scopes: list[Scope] = [tree, *(each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef))]
    text = TextNames(tree, known)
    for scope in scopes:
        for loop in (each for each in own_nodes(scope) if isinstance(each, ast.For)):
            if _passes(tree, loop.iter) >= _FEWEST:
                names = FixedNames(text, scope, loop)
                yield loop, loop.body, names
                for body, inner in called_once(names, loop):
                    yield loop, body, inner


def _passes(tree: ast.Module, node: ast.expr) -> int:
    """How often it turns; 2 where the text does not say it, 0 where it may be for once."""
    if isinstance(node, ast.Tuple | ast.List):
        return len(node.elts)
    if not isinstance(node, ast.Call):
        return _FEWEST if isinstance(node, ast.Name) else 0
    name = dotted(node.func).rpartition(".")[2]
    if name in _WRAPS and node.args:
        return _passes(tree, node.args[0])
    if name not in ("range", "trange") or len(node.args) not in (1, 2):
        return _FEWEST if name == "range" else 0
    ends = [whole_number(tree, _without_one(each)) for each in node.args]
    if None in ends:
        return _FEWEST
    numbers = [each for each in ends if each is not None]
    return numbers[0] if len(numbers) == 1 else numbers[1] - numbers[0] + _has_one(node.args[1])


class _OfStatement:
    """One statement within loops."""

    def __init__(self, known: RepeatableReads, names: FixedNames, statement: ast.Assign, around: list[_Turns]):
        self._known, self._names, self._statement = known, names, statement
        inside = [each for node in ast.walk(statement.value) if isinstance(node, _Whole) for each in node.generators]
        self._items: dict[str, str] = {}
        for turns in (*around, *inside):
            self._items |= self._items_of(turns)
        for turns in around:
            if isinstance(turns, ast.For):
                self._made_of_items(turns)

    def found(self) -> tuple[str, str, str] | None:
        """The value, the item and the collection, where the statement computes little else."""
        outer = self._core(self._statement.value)
        if outer is None or self._names.is_changed(self._statement) or not self._depends_on_items(outer):
            return None
        read = {each.id for each in ast.walk(outer) if isinstance(each, ast.Name)}
        item = next((name for name in self._items if name in read), "")
        if not item and not self._is_sure(outer):
            return None
        return ast.unparse(outer), item, self._items[item] or self._indexed(outer, item) if item else ""

    def _core(self, node: ast.expr) -> ast.Call | None:
        """The call that makes what the other ones put together: `f(x)` of `torch.stack([f(x) for x in rows])`."""
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
            return self._core(node.elt)
        if isinstance(node, ast.Subscript | ast.Attribute):
            return self._core(node.value)
        if not isinstance(node, ast.Call):
            return None
        if _last(node) not in _JOINS and not self._known.is_plain_call(node):
            return node
        module = dotted(node.func).partition(".")[0] in self._names.text.imported
        of_object = isinstance(node.func, ast.Attribute) and not module
        inner = [node.func.value] if of_object and isinstance(node.func, ast.Attribute) else node.args[:1]
        return self._core(inner[0]) if inner else None

    def _is_sure(self, call: ast.Call) -> bool:
        """Whether what depends on no item is known well enough: a function of the text, or of a library, of what the
        text says that it is data."""
        mine = root(call.func) in self._names.text.imported or dotted(call.func) in self._names.text.functions
        others = self._known.reads(call) - self._names.text.functions.keys()
        return mine and bool(call.args) and all(self._names.is_known(each) for each in others)

    def _depends_on_items(self, call: ast.Call) -> bool:
        reads = self._known.reads(call)
        fixed = all(each in self._items or self._names.is_fixed(each) for each in reads)
        return fixed and self._known.is_steady(call) and not self._known.reads_files(call)

    def _items_of(self, turns: _Turns) -> dict[str, str]:
        """The variables of a loop that stand for items, each with its collection."""
        iterable, target = turns.iter, turns.target
        while isinstance(iterable, ast.Call) and _last(iterable) in _WRAPS and iterable.args:
            if _last(iterable) == "enumerate":
                target = target.elts[1] if isinstance(target, ast.Tuple) and len(target.elts) > 1 else target
            iterable = iterable.args[0]
        if not isinstance(target, ast.Name):
            return {}
        if isinstance(iterable, ast.Name) and self._names.is_collection(iterable.id):
            return {target.id: iterable.id}
        return {target.id: ""} if self._levels(iterable) == 1 else {}

    def _levels(self, node: ast.expr, depth: int = 0) -> int:
        """How deep it is of places of items, all of them in each turn: 1 of a range or a permutation, 2 of parts of
        one; 0 where it is anything else."""
        calls = [_last(each) for each in ast.walk(node) if isinstance(each, ast.Call)]
        slices = [each for each in ast.walk(node) if isinstance(each, ast.Slice)]
        if any(_SOME.search(each) for each in calls) or any(each.lower is None and each.upper for each in slices):
            return 0
        if any(_PARTS.search(each) for each in calls):
            return 2
        if any(_ORDERS.search(each) for each in calls):
            return 1
        values = self._names.values_of(root(node)) if depth < _MOST_NAMES else []
        turns = self._names.text.turns.get(root(node), []) if depth < _MOST_NAMES else []
        found = [self._levels(each, depth + 1) for each in values]
        found += [self._levels(each, depth + 1) - 1 for each in turns]
        return min(found, default=0)

    def _made_of_items(self, turns: ast.For) -> None:
        """Names that the body gives one value to, which is of the item alone: `row = rows[i]`."""
        for statement in assigned(turns.body):
            target = statement.targets[0]
            once = isinstance(target, ast.Name) and self._names.is_given_once(target.id)
            if not once or statement is self._statement or not isinstance(statement.value, ast.Subscript):
                continue
            reads = self._known.reads(statement.value)
            if reads & self._items.keys() and all(each in self._items or self._names.is_fixed(each) for each in reads):
                assert isinstance(target, ast.Name)
                self._items[target.id] = root(statement.value)

    def _indexed(self, node: ast.AST, item: str) -> str:
        for each in ast.walk(node):
            if isinstance(each, ast.Subscript) and isinstance(each.slice, ast.Name) and each.slice.id == item:
                return ast.unparse(each.value)
        return ""


def assigned(body: Sequence[ast.stmt]) -> Iterator[ast.Assign]:
    """Assignments that each turn comes to, also of loops inside."""
    for each in body:
        if isinstance(each, ast.Assign) and len(each.targets) == 1:
            yield each
        elif isinstance(each, ast.For | ast.With):
            yield from assigned(each.body)


def _turns_around(body: list[ast.stmt], statement: ast.stmt) -> list[_Turns]:
    """The loops of the body that it is in."""
    return [
        node
        for each in body
        for node in ast.walk(each)
        if isinstance(node, ast.For) and any(inner is statement for inner in ast.walk(node))
    ]


def _last(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else dotted(call.func)


def _has_one(node: ast.expr) -> int:
    """Of `epochs + 1`."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)


def _without_one(node: ast.expr) -> ast.expr:
    return node.left if isinstance(node, ast.BinOp) and _has_one(node) else node
