"""Tensors that outlive the loop that makes them."""

from __future__ import annotations

import libcst as cst

from gpuprof.code_edits.syntax import matching as m
from gpuprof.code_edits.syntax.tree import CellTree

_EQUAL = m.Call(m.Attribute(attr=m.Name("eq")))
_PLAIN = ("item", "tolist", "numpy")


def leaks(tree: CellTree, loop: cst.For, *, with_graph: bool = False) -> bool:
    """Whether something outlives the loop that may be a tensor; `with_graph`: one that may carry autograd's graph."""
    if tree.all(m.Yield() | m.Return() | m.Global() | m.Nonlocal() | m.NamedExpr(), loop.body):
        return True
    bound = {name.value for name in tree.names(loop.target)}
    for assign in tree.all(m.AssignTarget(), loop.body):
        if not isinstance(assign.target, cst.Name | cst.Tuple):
            return True
        bound |= {name.value for name in tree.names(assign.target)}
    kept = [each.value for each in tree.all(m.AugAssign(), loop.body)]
    storing = m.Call(m.Attribute(attr=m.OneOf(*(m.Name(n) for n in ("append", "extend", "update", "add", "insert")))))
    kept += [arg.value for call in tree.all(storing, loop.body) for arg in call.args]
    if not all(_is_plain(tree, value) or (with_graph and _is_detached(tree, value)) for value in kept):
        return True
    inside, home = set(tree.names(loop)), tree.function(loop)
    later = [name for name in tree.names(home) if name not in inside and tree.place(name) > tree.place(loop)]
    return any(name.value in bound and not _is_bound_again(tree, name) for name in later)


def _is_detached(tree: CellTree, value: cst.CSTNode) -> bool:
    """`loss.detach()`, `(scores.argmax(1) == y).sum()`: a comparison has no gradient."""
    if not isinstance(value, cst.Call) or not isinstance(value.func, cst.Attribute):
        return False
    compared = isinstance(value.func.value, cst.Comparison) or m.matches(value.func.value, _EQUAL)
    return value.func.attr.value == "detach" or (compared and value.func.attr.value in ("sum", "mean", "float"))


def _is_bound_again(tree: CellTree, name: cst.Name) -> bool:
    """Whether it is given a new value there, or stands in another loop over it."""
    loops = [each for each in tree.around(name) if isinstance(each, cst.For)]
    again = any(name.value == each.value for loop in loops for each in tree.names(loop.target))
    return again or isinstance(tree.parent(name), cst.AssignTarget)


def _is_plain(tree: CellTree, value: cst.CSTNode) -> bool:
    """A Python number, made of `.item()`, `.size()`, `len()` and literals."""
    if isinstance(value, cst.BinaryOperation):
        return _is_plain(tree, value.left) and _is_plain(tree, value.right)
    reads = m.Call(m.Attribute(attr=m.OneOf(*(m.Name(each) for each in (*_PLAIN, "size")))))
    counts = m.Call(m.Name("len") | m.Name("float") | m.Name("int"))
    return m.matches(value, reads | counts | m.Integer() | m.Float())
