"""Which statements of a method compute, for each call of it in a loop, an attribute that is read only after the loop.

`self.auc = roc_auc_score(...)` in `add`, which runs for each batch, and `self.auc` in `summary`, which runs for each
epoch or every hundred batches: the value can be computed where it is read. So can entries of an attribute
(`self.norms[name] = norm(p)`) whose keys are the same in each call: constants, or those of a loop over what the object
has.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeGuard

from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.cell.effects import has_effects
from gpuprof.rules.cell.known_calls import imported, only_known
from gpuprof.rules.reads.last_results import LastResult
from gpuprof.rules.reads.seldom_read import seldom_conditions

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_WITHOUT_GRADIENTS = frozenset({"no_grad", "inference_mode"})
_Loop = ast.For | ast.AsyncFor | ast.While
# what may read attributes without naming them
_BY_NAME = frozenset({"getattr", "vars", "asdict", "attrgetter", "setattr"})


@lru_cache(maxsize=16)
def last_attributes(source: str) -> tuple[LastResult, ...]:
    """Of the classes without a base in a text, as far as it makes all of their objects under names of its own."""
    tree = parsed(source)
    try:
        return tuple(_MethodText(tree).found()) if tree is not None else ()
    except RecursionError:  # an expression of a thousand terms
        return ()


@dataclass(frozen=True)
class _Method:
    """Of the class `owner`."""

    owner: ast.ClassDef
    node: _Function

    @property
    def itself(self) -> str:
        """`self`."""
        given = [*self.node.args.posonlyargs, *self.node.args.args]
        return given[0].arg if given else ""


class _MethodText:
    """Loops and calls by where they stand in a text."""

    def __init__(self, tree: ast.Module):
        self._tree = tree
        self._nodes = list(ast.walk(tree))
        self._parent = {inner: node for node in self._nodes for inner in ast.iter_child_nodes(node)}
        self._calls = [each for each in self._nodes if isinstance(each, ast.Call)]
        self._functions = {each.name: each for each in self._nodes if isinstance(each, _Function)}
        self._modules = imported(tree)

    def found(self) -> Iterator[LastResult]:
        named = {dotted(each.func) for each in self._calls}
        if not named.isdisjoint(_BY_NAME) or any(_reads(each, "__dict__") for each in self._nodes):
            return
        for owner in self._nodes:
            if isinstance(owner, ast.ClassDef) and not (owner.bases or owner.keywords or owner.decorator_list):
                methods = [_Method(owner, each) for each in owner.body if isinstance(each, _Function)]
                for method in methods:
                    yield from self._of_method(method, methods)

    def _of_method(self, method: _Method, methods: Sequence[_Method]) -> Iterator[LastResult]:
        name, objects = method.node.name, self._objects(method.owner)
        writes = [each for each in self._calls if _method_of(each, objects) == name]
        loops = [loop for loop in map(self._loop, writes) if loop is not None]
        decorated = any(_bare_name(each) not in _WITHOUT_GRADIENTS for each in method.node.decorator_list)
        if name.startswith("__") or decorated or not writes or len(loops) < len(writes):
            return
        for statement in ast.walk(method.node):
            given = statement.targets[0] if isinstance(statement, ast.Assign) else None
            target = self._attribute(given, method)
            if target is None or dotted(target.value) != method.itself:
                continue
            assert isinstance(statement, ast.Assign)
            calls = [each for each in ast.walk(statement.value) if isinstance(each, ast.Call)]
            reads = self._reads(target.attr, method, methods) if calls and len(statement.targets) == 1 else []
            inside = [each for each in reads if not self._is_outside(each, loops)]
            every = min((self._seldom(each, writes) for each in inside), default=None)
            if not reads or every == 0:
                continue
            if self._depends(statement, method) or has_effects(statement.value, self._functions):
                continue
            last, names = statement.end_lineno or statement.lineno, (dotted(target),)
            loop, read = (min(each.lineno for each in found) for found in (loops, inside or reads))
            known = only_known(statement.value, self._functions, self._modules)
            call = next((dotted(each.func) for each in calls if dotted(each.func)), "")
            yield LastResult(statement.lineno, last, names, loop, call, known, read, every)

    def _attribute(self, target: ast.expr | None, method: _Method) -> ast.Attribute | None:
        """What is given a value, as a whole or all of its entries."""
        if isinstance(target, ast.Attribute):
            return target
        if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Attribute):
            return None
        around = self._around(target)
        loops = [each for each in around[: around.index(method.node)] if isinstance(each, ast.For)]
        counters = {each.id for loop in loops for each in ast.walk(loop.target) if isinstance(each, ast.Name)}
        arguments = {each.arg for each in (*method.node.args.posonlyargs, *method.node.args.args)} - {method.itself}
        taken = {each.id for loop in loops for each in ast.walk(loop.iter) if isinstance(each, ast.Name)}
        keys = {each.id for each in ast.walk(target.slice) if isinstance(each, ast.Name)}
        same = keys <= counters and not taken & arguments and not _calls_or_reads(target.slice)
        return target.value if same else None

    def _objects(self, owner: ast.ClassDef) -> set[str]:
        """The names that stand for nothing but objects of that class."""
        made, other = set[str](), set[str]()
        for each in self._nodes:
            if isinstance(each, ast.Assign):
                is_made = isinstance(each.value, ast.Call) and dotted(each.value.func) == owner.name
                for target in each.targets:
                    (made if is_made else other).add(dotted(target))
            elif isinstance(each, ast.For | ast.AsyncFor | ast.comprehension):
                other.add(dotted(each.target))
            elif isinstance(each, ast.arg):
                other.add(each.arg)
        return made - other - {""}

    def _reads(self, name: str, writer: _Method, methods: Sequence[_Method]) -> list[ast.expr]:
        """Where the value is asked for: attributes of that name, and of methods that read it the calls. Empty where the
        writer reads it, or a method that the text does not call."""
        found = list[ast.expr]()
        filled = {id(each.value) for each in self._nodes if isinstance(each, ast.Subscript) and _is_stored(each)}
        waiting = [each for each in self._nodes if _reads(each, name) and id(each) not in filled]
        seen = set[str]()
        while waiting:
            node = waiting.pop()
            within = next((each for each in methods if each.node in self._around(node)), None)
            if within is None:
                found.append(node)
                continue
            called = within.node.name
            if within.node is writer.node or called.startswith("__"):
                return []
            if called in seen:
                continue
            seen.add(called)
            uses = [each for each in self._nodes if _reads(each, called)]
            if not uses:
                return []
            waiting += uses
        return found

    def _is_outside(self, read: ast.expr, loops: Sequence[_Loop]) -> bool:
        """Whether no turn of these loops reads it, not by a function of the text either."""
        around = self._around(read)
        if any(loop in around for loop in loops):
            return False
        within = next((each for each in around if isinstance(each, _Function)), None)
        return (
            within is None
            or any(within in self._around(loop) for loop in loops)
            or (within.name not in self._called_in(loops))
        )

    def _seldom(self, read: ast.expr, writes: Sequence[ast.Call]) -> int:
        """One of how many iterations reads it, by a condition of the one loop that calls the method; 0 where more may,
        or where the condition lets the method run, too."""
        loops = {loop for loop in map(self._loop, writes) if loop is not None}
        around = self._around(read)
        if len(loops) != 1 or not loops <= set(around):
            return 0
        conditions = seldom_conditions(self._tree, loops.pop())
        own = {each for call in writes for each in self._around(call)}
        tests = (each for each in around if isinstance(each, ast.If) and each not in own)
        return max((conditions.get(each, 0) for each in tests), default=0)

    def _called_in(self, loops: Sequence[_Loop]) -> set[str]:
        """The bare names of what runs in these loops, as far as the text has it."""
        found, waiting = set[str](), list[ast.AST](loops)
        while waiting:
            names = {_bare(each) for each in ast.walk(waiting.pop()) if isinstance(each, ast.Call)} - found
            found |= names
            waiting += [self._functions[each] for each in names if each in self._functions]
        return found

    def _depends(self, statement: ast.Assign, method: _Method) -> bool:
        """Whether a condition decides which call gives the value: `if score > self.best`. One on what the value is
        computed of, such as `if len(y) > 1`, does not."""
        around = self._around(statement)
        inner = around[: around.index(method.node)]
        whole = isinstance(statement.targets[0], ast.Attribute)
        ends = any(isinstance(each, ast.Break | ast.Return) for one in inner for each in ast.walk(one))
        loops = _Loop if whole else ast.While | ast.AsyncFor
        if any(isinstance(each, ast.Try | loops | ast.Match | _Function) for each in inner) or (ends and not whole):
            return True
        tests = [each.test for each in inner if isinstance(each, ast.If)]
        computed_of = _variables(statement.value, method.itself)
        return not all(_variables(each, method.itself) <= computed_of for each in tests)

    def _loop(self, node: ast.AST) -> _Loop | None:
        """The innermost around it, in its function."""
        for each in self._around(node):
            if isinstance(each, _Loop):
                return each
            if isinstance(each, _Function | ast.Lambda | ast.ClassDef):
                return None
        return None

    def _around(self, node: ast.AST) -> list[ast.AST]:
        """What it is in, the innermost first."""
        found, here = list[ast.AST](), self._parent.get(node)
        while here is not None:
            found.append(here)
            here = self._parent.get(here)
        return found


def _reads(node: ast.AST, name: str) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and node.attr == name


def _is_stored(node: ast.Subscript) -> bool:
    return isinstance(node.ctx, ast.Store)


def _calls_or_reads(key: ast.expr) -> bool:
    """Whether a key is more than names and constants: `self.step` is another one in each call."""
    return any(isinstance(each, ast.Call | ast.Attribute | ast.Subscript) for each in ast.walk(key))


def _bare_name(node: ast.expr) -> str:
    """`no_grad` of `@torch.no_grad()`."""
    return dotted(node.func if isinstance(node, ast.Call) else node).rpartition(".")[2]


def _bare(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else dotted(call.func)


def _variables(node: ast.AST, itself: str) -> set[str]:
    """The names that it reads, and the attributes of `self` (`self.seen`)."""
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} - {itself, *dir(builtins)}
    owned = (each for each in ast.walk(node) if isinstance(each, ast.Attribute) and dotted(each.value) == itself)
    return names | {dotted(each) for each in owned}


def _method_of(call: ast.Call, objects: set[str]) -> str:
    """`add` of `stats.add(x)`; empty for a call of anything else."""
    if not isinstance(call.func, ast.Attribute) or dotted(call.func.value) not in objects:
        return ""
    return call.func.attr
