"""Which statements of a function compute from inputs that have few contents, while its calls differ in something else.

Looks at the variables mostly come in the middle of a call that takes long, so that its result is seldom seen. What the
call is given is there all the time.
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from gpuprof.analyses.lines.value_makers import MODULE, Function, ValueMaker, own_nodes, scope_of
from gpuprof.model.context import Loader
from gpuprof.model.operands import MadeValue

_FEWEST_CALLS = 8
_FEW_CONTENTS = 0.5
# of the looks at a function so many saw another call of it: there are many more calls than looks
_MOST_DIFFER = 0.8
_ITEM = 2  # self and the index
_BUILTINS = frozenset(dir(builtins))
_BEGINNINGS = ("__init__", "__post_init__", "setup", "prepare_data")
_CHANGES = frozenset(("append", "add", "extend", "update", "insert", "pop", "popleft", "remove", "clear", "sort"))
_CONDITIONS = (ast.If, ast.Try, ast.While, ast.Match, ast.IfExp)
_TURNS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_ONCE = (ast.Assign, ast.AnnAssign, ast.Expr, ast.With)
_LEAVES = (ast.Return, ast.Continue, ast.Break)


@dataclass(frozen=True)
class SamplesRead:
    """How many samples the DataLoaders of the main thread read of the datasets of a class, which have `samples`."""

    read: int
    samples: int

    @classmethod
    def of(cls, loaders: Iterable[Loader], dataset: str) -> Self | None:
        """None where their number is not known, or whole samples were seen to come again: then more than a part of them
        can be kept."""
        mine = [each for each in loaders if dataset in (each.dataset, each.inner_dataset) and not each.workers]
        same = any(each.samples_same and each.samples_same == each.samples_compared for each in mine)
        if same or not mine or not all(each.samples and each.batch_size for each in mine):
            return None
        read = sum(each.batches_read * (each.batch_size or 0) for each in mine)
        return cls(read, sum(each.samples or 0 for each in mine))


@dataclass(frozen=True)
class SameInputs:
    """The variables in `names` had `contents` different contents together at most, in `calls` calls of their function
    that were told apart. `needed`: how many contents there are likely to be, in all objects that have this method.
    `often`: nearly each look saw another call. `counted`: of samples of a dataset, whose numbers are known.
    """

    names: tuple[str, ...]
    contents: int
    needed: int
    calls: int
    often: bool
    counted: bool = False


def inputs_of(
    trees: Sequence[ast.Module],
    maker: ValueMaker,
    first: int,
    seen: Sequence[MadeValue],
    loaders: Sequence[Loader] = (),
) -> SameInputs | None:
    """Of a statement in the function that begins in line `first` of the first text, of whose variables `seen` is known;
    None where anything else that it reads may change, or it does not run in each call. `trees`: of all texts that may
    make the object that it is a method of."""
    tree = trees[0]
    scope = scope_of(tree, maker.function or MODULE, first)
    if not isinstance(scope, Function) or maker.handed_on or not (value := _statement(scope, maker)):
        return None
    read = _read(value)
    if (sample := _of_a_sample(tree, scope, value, read, loaders)) is not None:
        return sample
    calls = max((each.contents or each.made for each in seen), default=0)
    local = {each.name: each for each in seen}
    inputs = [local[name] for name in sorted(read & local.keys())]
    if calls < _FEWEST_CALLS or not inputs or not all(each.contents > 0 for each in inputs):
        return None
    objects = _objects(trees, scope) if any(each.startswith("self.") for each in read) else 1
    together = math.prod(each.contents for each in inputs)
    often = calls >= _MOST_DIFFER * max(each.looks for each in seen)
    few = together * (1 if often else objects) <= _FEW_CONTENTS * calls
    if not objects or not few or not _others_stay(tree, scope, value, read - local.keys()):
        return None
    names = tuple(each.name for each in inputs)
    return SameInputs(names, together, _likely(together, calls) * objects, calls, often)


def _of_a_sample(
    tree: ast.Module, scope: Function, value: ast.expr, read: set[str], loaders: Sequence[Loader]
) -> SameInputs | None:
    """Of a dataset's `__getitem__`, where nothing but the index decides: each pass asks for the same ones."""
    owner = _owner(tree, scope)
    given = [each.arg for each in scope.args.args]
    if scope.name != "__getitem__" or owner is None or len(given) != _ITEM or given[1] not in read:
        return None
    samples = SamplesRead.of(loaders, owner.name)
    if samples is None or samples.samples > _FEW_CONTENTS * samples.read:
        return None
    names = (each for node in own_nodes(scope) for each in ast.walk(node) if isinstance(each, ast.Name))
    given_anew = any(each.id == given[1] and not isinstance(each.ctx, ast.Load) for each in names)
    if given_anew or not _others_stay(tree, scope, value, read - {given[1]}):
        return None
    return SameInputs((given[1],), samples.samples, samples.samples, samples.read, often=False, counted=True)


def _owner(tree: ast.Module, method: Function) -> ast.ClassDef | None:
    classes = (each for each in ast.walk(tree) if isinstance(each, ast.ClassDef))
    return next((each for each in classes if method in each.body), None)


def _statement(scope: Function, maker: ValueMaker) -> ast.expr | None:
    """The value of the assignment, where each call of the function comes to it."""
    for each in scope.body:
        for node in _always(each):
            if isinstance(node, ast.Assign) and node.lineno == maker.first and isinstance(node.value, ast.Call):
                before = (other for other in own_nodes(scope) if isinstance(other, _LEAVES))
                return None if any(other.lineno < node.lineno for other in before) else node.value
    return None


def _always(node: ast.stmt) -> Iterator[ast.stmt]:
    """Itself and what it has in it, but for what runs under a condition or in a loop."""
    yield node
    if isinstance(node, ast.With):
        for each in node.body:
            yield from _always(each)


def _read(value: ast.expr) -> set[str]:
    """The names that it reads; an attribute of the first argument by its whole name."""
    nodes = list(ast.walk(value))
    attributes = {
        f"self.{each.attr}"
        for each in nodes
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id == "self"
    }
    made = {each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    names = {each.id for each in nodes if isinstance(each, ast.Name)} - made - {"self"}
    return names | attributes


def _others_stay(tree: ast.Module, scope: Function, value: ast.expr, names: set[str]) -> bool:
    """Whether what it reads besides is given once: an attribute as its object is made, a name of the notebook."""
    if any(isinstance(each, _CONDITIONS) for each in ast.walk(value)):
        return False
    given = {each.arg for each in ast.walk(scope.args) if isinstance(each, ast.arg)} - {"self"}
    stored = {
        each.id
        for node in own_nodes(scope)
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)
    }
    for name in names - _BUILTINS:
        if name.startswith("self."):
            if not _is_kept(tree, name.partition(".")[2]):
                return False
        elif name in given | stored or _times_given(tree, name) > 1 or _is_filled(tree, name):
            return False
    return True


def _objects(trees: Sequence[ast.Module], method: Function) -> int:
    """How many objects have this method: as often as the texts make one of its class; 0 where a loop or a function
    does, or it is a model."""
    owner = _owner(trees[0], method)
    if owner is None or any("Module" in ast.unparse(each) for each in owner.bases):
        return 0  # the weights of a module change as it trains
    name, made = owner.name, 0
    for tree in trees[1:]:
        calls = [each for each in ast.walk(tree) if _makes(each, name)]
        once = [each for node in tree.body if isinstance(node, _ONCE) for each in ast.walk(node) if _makes(each, name)]
        in_comprehension = (each for node in ast.walk(tree) if isinstance(node, _TURNS) for each in ast.walk(node))
        if len(once) < len(calls) or any(_makes(each, name) for each in in_comprehension):
            return 0
        made += len(calls)
    return made


def _makes(node: ast.AST, name: str | None) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _is_kept(tree: ast.Module, attribute: str) -> bool:
    """Whether only the beginning of an object gives it a value, and nobody changes it in place."""
    functions = (each for each in ast.walk(tree) if isinstance(each, Function) and each.name not in _BEGINNINGS)
    return not any(_changes(node, attribute) for each in functions for node in ast.walk(each))


def _changes(node: ast.AST, attribute: str) -> bool:
    if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return _attribute(node) == attribute
    if not isinstance(node, ast.Call):
        return False
    if ast.unparse(node.func).rpartition(".")[2] == "shuffle":
        return any(_attribute(each) == attribute for each in node.args)
    return (
        isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGES and _attribute(node.func.value) == attribute
    )


def _is_filled(tree: ast.Module, name: str) -> bool:
    """Whether the text changes what that name stands for in place, or in a function by `global`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Global) and name in node.names:
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGES:
            changed: ast.AST = node.func.value
        elif isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            changed = node
        else:
            continue
        while isinstance(changed, ast.Attribute | ast.Subscript):
            changed = changed.value
        if isinstance(changed, ast.Name) and changed.id == name:
            return True
    return False


def _attribute(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else ""


def _times_given(tree: ast.Module, name: str) -> int:
    """How often the text outside of functions gives it a value, as a loop does many times."""
    times = 0
    for node in own_nodes(tree):
        in_loop = isinstance(node, ast.For | ast.While | ast.AugAssign)
        inside = ast.walk(node) if in_loop else iter([node])
        for each in inside:
            if isinstance(each, ast.Name) and each.id == name and not isinstance(each.ctx, ast.Load):
                times += 2 if in_loop else 1
    return times


def _likely(contents: int, calls: int) -> int:
    """How many contents there are, where so many were seen in calls that had any of them: `n` of which `calls` draws
    show `contents` different ones on average."""
    likely = contents
    while likely < calls * calls and likely * (1 - (1 - 1 / likely) ** calls) < contents - 0.5:
        likely += 1
    return likely
