"""What the statements of a cell read from before them and what they change, with the functions of the text that they
call: whether the work of a later loop can be done in an earlier one."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gpuprof.analyses.memory.kept_graphs import filled_in

_DEFINED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
_TRAINS = {"backward", "step", "load_state_dict", "fit", "partial_fit", "learn", "optimize", "train_on_batch"}
# what changes the object that it is called of
_CHANGES = _TRAINS | {
    "add", "append", "appendleft", "clear", "discard", "eval", "extend", "insert", "manual_seed", "pop", "popitem",
    "popleft", "push", "put", "remove", "reset", "reverse", "seed", "setdefault", "sort", "train", "update", "write",
    "zero_grad",
}  # fmt: skip
# what gives out weights, or runs a model, beside a call of it
_RUNS = _CHANGES | {"forward", "modules", "named_parameters", "parameters", "state_dict"}
_BUILTINS = set(dir(builtins))
_DEPTH = 4


@dataclass
class Effects:
    """Of some statements: the names that they read before they bind them (`reads`), bind or change (`writes`), and of
    which they call something (`called`). `run` are called themselves, `changed` are changed in place, also by a
    function that they are given to. `trains`: they change weights."""

    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    called: set[str] = field(default_factory=set)
    run: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    trains: bool = False


def functions_of(tree: ast.AST) -> dict[str, ast.FunctionDef]:
    """The functions that a text defines once, by name."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    names = [each.name for each in found]
    return {each.name: each for each in found if names.count(each.name) == 1}


def effects_of(
    nodes: Sequence[ast.AST], functions: dict[str, ast.FunctionDef], bound: set[str] | None = None
) -> Effects:
    """Of these statements in order; `bound`: names that are theirs from the beginning."""
    return _EffectsReader(functions).of(nodes, bound or set(), _DEPTH)


class _EffectsReader:
    def __init__(self, functions: dict[str, ast.FunctionDef]):
        self._functions = functions
        self._within: list[str] = []

    def of(self, nodes: Sequence[ast.AST], bound: set[str], depth: int) -> Effects:
        found, own = Effects(), set(bound)
        replaced, items = set[ast.AST](), dict[str, set[str]]()
        for node in (each for statement in nodes for each in _in_order(statement)):
            if isinstance(node, ast.Name):
                if isinstance(node.ctx, ast.Load):
                    if node.id not in own and node.id not in _BUILTINS and node not in replaced:
                        found.reads.add(node.id)
                else:
                    own.add(node.id)
                    found.writes.add(node.id)
            else:
                if isinstance(node, ast.Call) and _called(node) == "functional_call":
                    # it runs with the weights that it is given
                    replaced |= set(node.args[:1])
                if isinstance(node, ast.For):
                    items |= dict.fromkeys(_names(node.target), _names(node.iter) - _BUILTINS)
                self._note(node, found, depth)
        for name in found.changed & set(items):
            found.changed |= items[name]
            found.writes |= items[name]
        return found

    def _note(self, node: ast.AST, found: Effects, depth: int) -> None:
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found.reads.add(node.target.id)
        if isinstance(node, ast.Assign):
            _change(found, *(each for each in node.targets if isinstance(each, ast.Subscript | ast.Attribute)))
        target = filled_in(node)
        if target is not None:
            _change(found, target)
        if not isinstance(node, ast.Call):
            if isinstance(node, ast.Expr) and _is_method(node.value):
                # its result is not used: it is called for what it does
                _change(found, node.value.func)  # type: ignore[attr-defined]
            return
        found.called |= {_base(node.func)} - _BUILTINS - {""}
        if isinstance(node.func, ast.Name):
            found.run |= {node.func.id} - _BUILTINS
        if isinstance(node.func, ast.Attribute):
            name = node.func.attr
            found.trains |= name in _TRAINS
            if name in _RUNS:
                found.run |= {_base(node.func)} - {""}
            if name in _CHANGES or (name.endswith("_") and not name.endswith("__")):
                _change(found, node.func)
        self._call(node, found, depth)

    def _call(self, call: ast.Call, found: Effects, depth: int) -> None:
        """The effects of a function of the text, but those on its own variables."""
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        function = self._functions.get(name)
        if function is None or not depth or name in self._within:
            return
        self._within.append(name)
        arguments = function.args
        own = {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
        own |= {each.arg for each in (arguments.vararg, arguments.kwarg) if each}
        inside = list(ast.walk(function))
        outer = {each for node in inside if isinstance(node, ast.Global | ast.Nonlocal) for each in node.names}
        inner = self.of(function.body, own, depth - 1)
        given = given_to(call, function)
        run = {_base(value) for parameter, value in given.items() if parameter in inner.run} - {""}
        changed = [value for parameter, value in given.items() if parameter in inner.changed]
        own |= {each.id for each in inside if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        own -= outer
        found.reads |= inner.reads - own
        found.writes |= inner.writes - own
        found.called |= (inner.called - own) | run
        found.run |= (inner.run - own) | run
        found.changed |= inner.changed - own
        _change(found, *changed)
        found.trains |= inner.trains
        self._within.pop()


def given_to(call: ast.Call, function: ast.FunctionDef) -> dict[str, ast.expr]:
    """What the call gives for each parameter of the function, where that is written singly."""
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    given = dict[str, ast.expr]()
    for name, value in zip(names, call.args, strict=False):
        if isinstance(value, ast.Starred):
            break
        given[name] = value
    return given | {each.arg: each.value for each in call.keywords if each.arg}


def _change(found: Effects, *targets: ast.AST) -> None:
    """They are changed in place."""
    names = {_base(each) for each in targets} - {""}
    found.writes |= names
    found.changed |= names


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    """The node and what is inside it, values before the names they are bound to; definitions are left out."""
    if isinstance(node, _DEFINED):
        return
    yield node
    children = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.For | _COMPREHENSIONS):
        value = getattr(node, "value", None) or getattr(node, "iter", None)
        children.sort(key=lambda each: not (each is value or isinstance(each, ast.comprehension)))
    elif isinstance(node, ast.comprehension):
        children = [node.iter, node.target, *node.ifs]
    for inner in children:
        yield from _in_order(inner)


def _is_method(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)


def _base(node: ast.AST) -> str:
    """`outputs` of `outputs[3].x`."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
