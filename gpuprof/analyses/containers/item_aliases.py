"""Which expressions of a loop may still be an item that it reads, or a view of one, and whether the loop keeps any."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gpuprof.analyses.memory.kept_graphs import filled_in

_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
# what may hand out the storage of what it gets
_VIEWS = {
    "array", "as_strided", "as_tensor", "asarray", "ascontiguousarray", "astype", "atleast_1d", "atleast_2d", "chunk",
    "contiguous", "cpu", "cuda", "deque", "detach", "dict", "diagonal", "double", "enumerate", "expand", "expand_as",
    "flatten", "float", "from_numpy", "get", "half", "items", "iter", "list", "movedim", "narrow", "next", "numpy",
    "partial", "permute", "ravel", "reshape", "select", "set", "split", "squeeze", "swapaxes", "t", "to", "transpose",
    "tuple", "type", "unbind", "unflatten", "unfold", "unsqueeze", "values", "view", "view_as", "zip",
}  # fmt: skip
_FACTS = {"shape", "dtype", "device", "ndim", "size", "requires_grad", "is_cuda", "nbytes", "itemsize"}
_NUMBERS = {"float", "int", "len", "str", "bool", "round", "repr", "format"}
_DEPTH = 3


class ItemAliases:
    """Follows `items`, names of one loop's items, through the statements of its body in order. `functions`: those of
    the text, by name."""

    def __init__(self, items: set[str], functions: dict[str, ast.FunctionDef], depth: int = _DEPTH):
        self._items = set(items)
        self._functions = functions
        self._depth = depth

    def keeps(self, body: Sequence[ast.AST]) -> bool:
        """Whether a statement may put an item, or a part of one, where it outlives its turn, or hand it out."""
        return any(self._keeps(node) for statement in body for node in _in_order(statement))

    def may_be_item(self, node: ast.AST | None) -> bool:
        """Whether the value may share the storage of an item."""
        if isinstance(node, ast.Name):
            return node.id in self._items
        if isinstance(node, ast.Attribute):
            return node.attr not in _FACTS and self.may_be_item(node.value)
        if isinstance(node, ast.Subscript | ast.Starred | ast.NamedExpr | ast.Await):
            return self.may_be_item(node.value)
        if isinstance(node, ast.Call):
            return self._made_by(node)
        if isinstance(node, ast.IfExp):
            return self.may_be_item(node.body) or self.may_be_item(node.orelse)
        if isinstance(node, ast.BoolOp):
            return any(map(self.may_be_item, node.values))
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return any(map(self.may_be_item, node.elts))
        if isinstance(node, ast.Dict):
            return any(map(self.may_be_item, node.values))
        if isinstance(node, _COMPREHENSIONS):
            return self._made_in_turns(node)
        return False

    def _keeps(self, node: ast.AST) -> bool:
        self._learn(node)
        if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom | ast.Break):
            return True
        target = filled_in(node)
        if target is not None and any(map(self.may_be_item, put_in(node))):
            return True
        return isinstance(node, ast.Call) and self._kept_by(node)

    def _learn(self, node: ast.AST) -> None:
        """Names that stand for an item, or a view of one, from here on."""
        if isinstance(node, ast.Assign) and self.may_be_item(node.value):
            self._items |= {each.id for target in node.targets for each in _stored(target)}
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr | ast.For | ast.comprehension):
            value = node.iter if isinstance(node, ast.For | ast.comprehension) else node.value
            if self.may_be_item(value):
                self._items |= {each.id for each in _stored(node.target)}

    def _made_by(self, call: ast.Call) -> bool:
        function = call.func
        given = [*call.args, *(each.value for each in call.keywords)]
        if isinstance(function, ast.Attribute):
            viewing = function.attr in _VIEWS or function.attr.endswith("_") or function.attr[:1].isupper()
            return viewing and (self.may_be_item(function.value) or any(map(self.may_be_item, given)))
        name = function.id if isinstance(function, ast.Name) else ""
        if name in _NUMBERS or not any(map(self.may_be_item, given)):
            return False
        known = self._inside(call)
        if known is None:
            # an object may keep what it is made of
            return name in _VIEWS or name[:1].isupper()
        inner, function_text = known
        returned = [each for each in ast.walk(function_text) if isinstance(each, ast.Return)]
        inner.keeps([each for each in function_text.body if not isinstance(each, ast.Return)])
        return any(inner.may_be_item(each.value) for each in returned)

    def _made_in_turns(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> bool:
        for each in node.generators:
            self._learn(each)
        parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        return any(map(self.may_be_item, parts))

    def _kept_by(self, call: ast.Call) -> bool:
        """Whether a function of the text keeps what it is given."""
        known = self._inside(call)
        if known is None:
            return False
        inner, function = known
        own = {each.id for each in ast.walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        for node in (each for statement in function.body for each in _in_order(statement)):
            inner._learn(node)
            target = filled_in(node)
            kept = target is not None and any(map(inner.may_be_item, put_in(node)))
            if kept and not (isinstance(target, ast.Name) and target.id in own):
                return True
            if isinstance(node, ast.Call) and inner._kept_by(node):
                return True
        return False

    def _inside(self, call: ast.Call) -> tuple[ItemAliases, ast.FunctionDef] | None:
        """What it is followed by in the function of the text that the call runs."""
        function = self._functions.get(call.func.id) if isinstance(call.func, ast.Name) else None
        if function is None or not self._depth:
            return None
        parameters = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
        items = {name for name, given in zip(parameters, call.args, strict=False) if self.may_be_item(given)}
        items |= {each.arg for each in call.keywords if each.arg and self.may_be_item(each.value)}
        if any(isinstance(each, ast.Starred) and self.may_be_item(each) for each in call.args):
            items |= set(parameters)
        return ItemAliases(items, self._functions, self._depth - 1), function


def put_in(node: ast.AST) -> list[ast.expr]:
    """What a statement that fills something puts into it; a metric's `update` takes what it needs of it."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr == "update" and not _is_mapping(node):
            return []
        return [*node.args, *(each.value for each in node.keywords)]
    if isinstance(node, ast.AugAssign):
        # `total += x` makes a sum, `kept += [x]` keeps
        return [node.value] if isinstance(node.value, ast.List | ast.Tuple | ast.ListComp) else []
    return [node.value] if isinstance(node, ast.Assign) else []


def _is_mapping(call: ast.Call) -> bool:
    return bool(call.args) and isinstance(call.args[0], ast.Dict | ast.DictComp | ast.Set)


def _stored(target: ast.AST) -> Iterator[ast.Name]:
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all inside it, as they are written; functions that it defines are left out."""
    yield node
    for inner in ast.iter_child_nodes(node):
        if not isinstance(inner, _FUNCTIONS | ast.Lambda):
            yield from _in_order(inner)
