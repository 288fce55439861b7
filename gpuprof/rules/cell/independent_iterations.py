"""Whether the turns of a loop in a cell depend on one another, by its text.

A turn may keep what it adds to a sum or a product, the largest or smallest so far, what it appends to a list, and what
it writes to a place of its own. Whatever else one turn leaves to the next makes it a recurrence, and so does anything
that is not understood here.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TypeGuard

from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.cell.pure_calls import PureCalls, is_map

Repeated = ast.For | ast.While | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.Call

_SUM, _PRODUCT, _LIST, _PLACE = "sum", "product", "list", "place"
_KINDS: dict[type[ast.operator], str] = {ast.Add: _SUM, ast.Sub: _SUM, ast.Mult: _PRODUCT, ast.Div: _PRODUCT}
_EXTREMES = {"max": "max", "maximum": "max", "min": "min", "minimum": "min"}
_ROOTS, _MAKERS = ("torch", "np", "numpy"), ("zeros", "ones", "empty", "full", "rand", "arange", "stack", "cat", "eye")
_UNCLEAR = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda)


def is_repeated(node: ast.AST) -> TypeGuard[Repeated]:
    """Whether it is a loop, `map` included."""
    return is_map(node) if isinstance(node, ast.Call) else isinstance(node, Repeated)


def is_independent(loop: Repeated, calls: PureCalls) -> bool:
    """Whether its turns could be made in any order, or at once.

    Not those of a loop over modules: each turn is another function.
    """
    if isinstance(loop, ast.Call):
        return is_map(loop) and calls.knows_given(loop.args[0])
    if isinstance(loop, ast.While) or _is_over_functions(loop, calls):
        return False
    if isinstance(loop, ast.For):
        return not loop.orelse and _Turn(loop, calls).block(loop.body)
    inside = list(ast.walk(loop))
    return not any(isinstance(each, _UNCLEAR) for each in inside) and all(
        calls.knows(each) for each in inside if isinstance(each, ast.Call)
    )


def _is_over_functions(
    loop: ast.For | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, calls: PureCalls
) -> bool:
    """Whether it goes over modules, or calls what it goes over (`for layer in layers`)."""
    targets = [loop.target] if isinstance(loop, ast.For) else [each.target for each in loop.generators]
    variables = {name for each in targets for name in names_in(each)}
    if any(isinstance(each, ast.Call) and dotted(each.func) in variables for each in ast.walk(loop)):
        return True
    return any(isinstance(made, ast.Call) for each in variables for made in calls.names.made_of(each))


def names_in(node: ast.AST) -> set[str]:
    """Every name that is mentioned."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


class _Turn:
    """One turn, statement by statement. `_own` are the names that this turn has given a value, `_new` those of them
    whose value shares no memory, `_kept` those that it adds to, and how; `_changed` all that any turn changes."""

    def __init__(self, loop: ast.For, calls: PureCalls):
        self._calls = calls
        self._variables = names_in(loop.target)
        self._own = set(self._variables)
        self._new: set[str] = set()
        self._kept: dict[str, str] = {}
        self._changed = {name for each in loop.body for node in ast.walk(each) for name in _changed_by(node)}

    def block(self, body: Sequence[ast.stmt]) -> bool:
        """Whether all of these statements, in order, leave nothing to the next turn but what may be kept."""
        return all(self._statement(each) for each in body)

    def _statement(self, node: ast.stmt) -> bool:
        match node:
            case ast.Pass() | ast.Continue():
                return True
            case ast.Assert():
                return self._reads(node.test)
            case ast.Expr():
                return self._call(node.value)
            case ast.Assign():
                return self._assign(node.targets, node.value)
            case ast.AnnAssign():
                return node.value is None or self._assign([node.target], node.value)
            case ast.AugAssign():
                return self._augment(node)
            case ast.If():
                return self._branch(node)
            case ast.For():
                return not node.orelse and self._reads(node.iter) and self._bind(node.target) and self.block(node.body)
            case ast.With():
                return all(each.optional_vars is None and self._reads(each.context_expr) for each in node.items) and (
                    self.block(node.body)
                )
        return False

    def _reads(self, node: ast.AST) -> bool:
        """Whether it reads nothing that another turn has changed, and calls only what keeps nothing."""
        inside = list(ast.walk(node))
        if any(isinstance(each, _UNCLEAR) for each in inside):
            return False
        if not all(self._calls.knows(each) for each in inside if isinstance(each, ast.Call)):
            return False
        loops = [each for each in inside if isinstance(each, ast.comprehension)]
        local = {name for each in loops for name in names_in(each.target)}
        outside = self._calls.reads_in(node)
        return not (names_in(node) - local - self._own | outside) & self._changed

    def _bind(self, target: ast.expr) -> bool:
        if isinstance(target, ast.Name):
            self._own.add(target.id)
            return target.id not in self._kept
        if isinstance(target, ast.Tuple | ast.List):
            return all(self._bind(each) for each in target.elts)
        return isinstance(target, ast.Subscript) and self._place(target)

    def _place(self, target: ast.Subscript) -> bool:
        """`out[:, k] = …`: a place of this turn's own, or in a tensor that it has made."""
        if not isinstance(target.value, ast.Name) or not self._reads(target.slice):
            return False
        name = target.value.id
        if name in self._own:
            return name in self._new
        return bool(_plain_indices(target.slice) & self._variables) and self._keeps(name, _PLACE)

    def _keeps(self, name: str, kind: str) -> bool:
        """A name is kept one way: what is multiplied and added to is a recurrence."""
        return self._kept.setdefault(name, kind) == kind

    def _assign(self, targets: list[ast.expr], value: ast.expr) -> bool:
        if len(targets) == 1 and isinstance(targets[0], ast.Name) and targets[0].id not in self._own:
            name = targets[0].id
            for kind, rest in (*_accumulated(value, name), *_extreme(value, name)):
                return self._keeps(name, kind) and all(self._reads(each) for each in rest)
        if not (self._reads(value) and all(self._bind(each) for each in targets)):
            return False
        names = {name for each in targets for name in names_in(each)}
        self._new = self._new | names if _is_new(value) else self._new - names
        return True

    def _augment(self, node: ast.AugAssign) -> bool:
        if not self._reads(node.value):
            return False
        if isinstance(node.target, ast.Subscript):
            return self._place(node.target)
        if not isinstance(node.target, ast.Name):
            return False
        kind, name = _KINDS.get(type(node.op)), node.target.id
        if name in self._own:
            return name in self._new
        return kind is not None and self._keeps(name, kind)

    def _call(self, value: ast.expr) -> bool:
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "append":
            receiver = value.func.value
            if not isinstance(receiver, ast.Name):
                return False
            own = receiver.id in self._new if receiver.id in self._own else self._keeps(receiver.id, _LIST)
            return own and all(self._reads(each) for each in value.args)
        return self._reads(value)

    def _branch(self, node: ast.If) -> bool:
        """A condition on the turn's number alone: what depends on values may be what stops or steers the loop."""
        made = self._own - self._variables
        if (
            any(isinstance(each, ast.Call | ast.Subscript) for each in ast.walk(node.test))
            or names_in(node.test) & made
        ):
            return False
        if not self._reads(node.test):
            return False
        before = set(self._own)
        if not self.block(node.body):
            return False
        after, self._own = self._own, before
        if not self.block(node.orelse):
            return False
        self._own &= after
        return True


def _changed_by(node: ast.AST) -> set[str]:
    """The names that this node itself binds or changes in place; comprehensions keep theirs to themselves."""
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.For):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return {name for each in targets for name in _roots(each)}
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
        return {dotted(node.func.value)}
    return set()


def _roots(target: ast.expr) -> set[str]:
    """The names that an assignment to this target changes."""
    if isinstance(target, ast.Tuple | ast.List):
        return {name for each in target.elts for name in _roots(each)}
    inner: ast.expr = target
    while isinstance(inner, ast.Subscript | ast.Attribute | ast.Starred):
        inner = inner.value
    return names_in(inner)


def _is_new(value: ast.expr) -> bool:
    """Whether this value shares no memory with another: `out[k]` and `out.view(3)` do."""
    if isinstance(value, ast.Call):
        return dotted(value.func).startswith(tuple(f"{root}.{name}" for root in _ROOTS for name in _MAKERS))
    return isinstance(value, ast.Constant | ast.BinOp | ast.Compare | ast.UnaryOp | ast.List | ast.Dict)


def _plain_indices(index: ast.expr) -> set[str]:
    """The names that stand alone in an index: of `out[:, k]` `k`, of `out[k + 1]` none."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return {each.id for each in parts if isinstance(each, ast.Name)}


def _accumulated(value: ast.expr, name: str) -> list[tuple[str, list[ast.expr]]]:
    """`v + a - b` as a sum and `v * a` as a product, with what is added or multiplied; empty for anything else."""
    for kind in (_SUM, _PRODUCT):
        rest: list[ast.expr] = []
        left = value
        while isinstance(left, ast.BinOp) and _KINDS.get(type(left.op)) == kind:
            if isinstance(left.op, ast.Add | ast.Mult) and dotted(left.right) == name:
                return [(kind, [*rest, left.left])]
            rest.append(left.right)
            left = left.left
        if rest and dotted(left) == name:
            return [(kind, rest)]
    return []


def _extreme(value: ast.expr, name: str) -> list[tuple[str, list[ast.expr]]]:
    """`torch.maximum(v, a)`, `min(v, a)`."""
    kind = _EXTREMES.get(dotted(value.func).rpartition(".")[2]) if isinstance(value, ast.Call) else None
    if kind is None or not isinstance(value, ast.Call) or value.keywords:
        return []
    rest = [each for each in value.args if dotted(each) != name]
    return [(kind, rest)] if len(rest) == len(value.args) - 1 == 1 else []
