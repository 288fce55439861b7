"""Sums over all items that come before or after each one, by a comparison of all pairs: `t[None] >= t[:, None]`.

Sorted once, they are running sums.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache

from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.rules.cell.repeatable import root

# each item counts for itself, as in a running sum
_ORDERS = (ast.LtE, ast.GtE)
_REDUCE = {"sum": "cumsum", "logsumexp": "logcumsumexp", "matmul": "cumsum", "mv": "cumsum", "mm": "cumsum"}
_MASKS, _CONVERSIONS = frozenset({"masked_fill", "where", "mul"}), frozenset({"float", "double", "to"})


@dataclass(frozen=True)
class OrderMask:
    """The comparison in line `line` of `key` with itself, all pairs; `lines` (1-based) compare, mask and reduce.
    `running`: torch's function for running sums of that kind."""

    line: int
    key: str
    lines: tuple[int, ...]
    running: str


@lru_cache(maxsize=16)
def order_masks(source: str) -> tuple[OrderMask, ...]:
    """Of a text; empty where it is not Python."""
    tree = parsed(source)
    if tree is None:
        return ()
    functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
    found = dict[int, OrderMask]()
    for scope in (*functions, tree):
        given = [each for each in ast.walk(scope) if isinstance(each, ast.Assign) and len(each.targets) == 1]
        for each in given:
            key, name = _compared(each.value), each.targets[0]
            if key and isinstance(name, ast.Name) and each.lineno not in found:
                read, running = _followed(scope, given, name.id)
                if running:
                    lines = tuple(sorted({each.lineno, *read}))
                    found[each.lineno] = OrderMask(each.lineno, key, lines, running)
    return tuple(found.values())


def _compared(node: ast.expr) -> str:
    """What is compared with itself along two axes; empty for anything else."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], _ORDERS):
        return ""
    (left, one), (right, other) = _laid_out(node.left), _laid_out(node.comparators[0])
    return left if left and left == right and {one, other} == {0, 1} else ""


def _laid_out(node: ast.expr) -> tuple[str, int]:
    """`t` and 0 of `t[None, :]`, `t[None]`, `t.unsqueeze(0)`; `t` and 1 of `t[:, None]`, `t.unsqueeze(1)`."""
    if isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        new = [at for at, each in enumerate(parts) if isinstance(each, ast.Constant) and each.value is None]
        plain = all(isinstance(each, ast.Slice) for at, each in enumerate(parts) if at not in new)
        return (ast.unparse(node.value), new[0]) if len(new) == 1 and plain and new[0] in (0, 1) else ("", -1)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "unsqueeze":
        axis = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
        if isinstance(axis, int) and axis in (0, 1):
            return ast.unparse(node.func.value), axis
    return "", -1


def _followed(scope: ast.AST, given: list[ast.Assign], mask: str) -> tuple[set[int], str]:
    """Where the mask is applied and what it leaves is reduced, and by which running function that can be done; empty
    where it is not reduced along one axis."""
    masked, lines, running = {mask}, set[int](), ""
    for _ in range(2):
        for each in given:
            target = each.targets[0]
            if isinstance(target, ast.Name) and _masks(each.value, masked):
                masked.add(target.id)
    for node in ast.walk(scope):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult) and root(_plain(node.left)) in masked:
            lines, running = lines | {node.lineno}, running or "cumsum"
        name = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
        if isinstance(node, ast.Call) and name in _REDUCE and _along_one_axis(node) and _is_masked(node, masked):
            lines, running = lines | {node.lineno}, _REDUCE[name]
    lines |= {each.lineno for each in given if isinstance(each.targets[0], ast.Name) and each.targets[0].id in masked}
    return lines, running


def _masks(value: ast.expr, masked: set[str]) -> bool:
    """`x[None].masked_fill(~mask, -inf)`, `torch.where(mask, x[None], 0)`, `mask * x[None]`, `mask.float()`: what is
    masked is a vector. Numbers of pairs, such as scores of attention, have no running sums."""
    node = _plain(value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        parts = [node.left, node.right]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _CONVERSIONS:
            return root(node.func) in masked
        parts = [node.func.value, *node.args] if node.func.attr in _MASKS else []
    else:
        return False
    return any(_reads(each, masked) for each in parts) and any(_laid_out(each)[0] for each in parts)


def _along_one_axis(call: ast.Call) -> bool:
    """`scores.sum(1)`, `torch.logsumexp(scores, dim=1)`: not one number of all pairs."""
    of_torch = isinstance(call.func, ast.Attribute) and root(call.func) == "torch"
    return len(call.args) > of_torch or any(each.arg in ("dim", "axis") for each in call.keywords)


def _is_masked(call: ast.Call, masked: set[str]) -> bool:
    """Whether it reduces a masked name, or what is masked where it stands."""
    assert isinstance(call.func, ast.Attribute)
    reduced = call.args[0] if root(call.func) == "torch" else call.func.value
    return (isinstance(reduced, ast.Name) and reduced.id in masked) or _masks(reduced, masked)


def _plain(node: ast.expr) -> ast.expr:
    return node.operand if isinstance(node, ast.UnaryOp) else node


def _reads(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(each, ast.Name) and each.id in names for each in ast.walk(node))
