"""How a line of the text makes a tensor longer: by which function, at which end, and what it began with."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from gpuprof.analyses.loops.written_loops import parsed

_MADE = ("empty", "zeros", "ones", "tensor", "Tensor", "FloatTensor", "DoubleTensor", "LongTensor")


@dataclass(frozen=True)
class JoinedText:
    """`v = torch.cat([v, x], dim=1)`: `name` is `v`, `function` is `torch.cat`, `rest` is `, dim=1`. `before`: what is
    new comes before `v`. `empty`: `v` begins without elements, or as None."""

    name: str
    function: str
    rest: str
    before: bool
    empty: bool


def joined_text(source: str, lines: Sequence[int]) -> JoinedText | None:
    """Of these lines (1-based); None where they differ in more than names, or one of them is written in another way."""
    tree = parsed(source)
    found = [_joined(tree, line) for line in lines] if tree is not None else []
    first = found[0] if found else None
    if first is None or any(each is None or _kind(each) != _kind(first) for each in found):
        return None
    return JoinedText(first.name, first.function, first.rest, first.before, all(each.empty for each in found if each))


def _kind(text: JoinedText) -> tuple[str, str, bool]:
    return text.function, text.rest, text.before


def _joined(tree: ast.Module, line: int) -> JoinedText | None:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign) or node.lineno != line or len(node.targets) != 1:
            continue
        name = ast.unparse(node.targets[0])
        values = [node.value.body, node.value.orelse] if isinstance(node.value, ast.IfExp) else [node.value]
        for call in values:
            place = _place(call, name)
            if isinstance(call, ast.Call) and place is not None:
                rest = [*call.args[1:], *call.keywords]
                text = "".join(f", {ast.unparse(each)}" for each in rest if getattr(each, "arg", "") != "tensors")
                return JoinedText(name, ast.unparse(call.func), text, place > 0, _begins_empty(tree, node, name))
    return None


def _place(call: ast.expr, name: str) -> int | None:
    """0 where the tensor is the first of what the call joins, 1 where it is the last."""
    if not isinstance(call, ast.Call):
        return None
    given = call.args[0] if call.args else next((each.value for each in call.keywords if each.arg == "tensors"), None)
    parts = [ast.unparse(each) for each in given.elts] if isinstance(given, ast.List | ast.Tuple) else []
    if parts.count(name) != 1 or name not in (parts[0], parts[-1]) or len(parts) < 2:
        return None
    # of several new parts the order would have to stay within a turn
    return 0 if parts[0] == name else 1 if len(parts) == 2 else None


def _begins_empty(tree: ast.Module, joined: ast.Assign, name: str) -> bool:
    given = [value for node in ast.walk(tree) if isinstance(node, ast.Assign) and node is not joined
             for value in _given(node, name)]  # fmt: skip
    none = any(isinstance(each, ast.Constant) and each.value is None for each in given)
    return none or (bool(given) and all(_is_empty(each) for each in given))


def _given(node: ast.Assign, name: str) -> list[ast.expr]:
    """What a statement gives that name."""
    found = []
    for target in node.targets:
        pairs = [(target, node.value)]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=False))
        found += [value for each, value in pairs if ast.unparse(each) == name]
    return found


def _is_empty(value: ast.expr) -> bool:
    """`torch.empty(0, 10)`, `torch.tensor([])`, `x[:0]`."""
    if not isinstance(value, ast.Call):
        return isinstance(value, ast.Subscript) and ast.unparse(value.slice) in (":0", "0:0")
    method = value.func.attr if isinstance(value.func, ast.Attribute) else ast.unparse(value.func)
    if method.removeprefix("new_") not in _MADE:
        return isinstance(value.func, ast.Attribute) and _is_empty(value.func.value)
    sizes = [part for each in value.args
             for part in (each.elts if isinstance(each, ast.Tuple | ast.List) else [each])]  # fmt: skip
    if method == "tensor":
        return bool(value.args) and not sizes
    return not sizes or any(isinstance(each, ast.Constant) and each.value == 0 for each in sizes)
