"""Edits of loops that only evaluate."""

from __future__ import annotations

import builtins

import libcst as cst
import libcst.matchers as m

from gpuprof.edits.modules import names_of_models
from gpuprof.edits.origin import values_of
from gpuprof.edits.statements import binds_torch, block_of, in_with
from gpuprof.edits.tree import CellTree

_TRAINS = ("backward", "step", "requires_grad_", "requires_grad", "grad", "train")
_PLAIN = ("item", "tolist", "numpy")
_MODES = ("no_grad", "inference_mode", "set_grad_enabled", "enable_grad")


def add_inference_mode(source: str, line: int) -> str | None:
    """The loop over batches at `line` in `with torch.inference_mode():`.

    None where the loop trains, has such a mode already, or where tensors it makes can leave it other than by
    `.item()`, `.tolist()` or `.numpy()`: autograd refuses inference tensors later on.
    """
    tree = CellTree.of(source)
    loops = [each for each in tree.all(m.For()) if line in tree.lines(each.iter)] if tree else []
    if tree is None or not loops or not binds_torch(tree):
        return None
    loop = loops[-1]
    block = block_of(tree, loop)
    if block is None or _has_mode(tree, loop) or _may_train(tree, loop) or _leaks(tree, loop):
        return None
    return tree.changed(in_with(block, loop, loop, "torch.inference_mode()"))


def _may_train(tree: CellTree, loop: cst.For) -> bool:
    """By a word of training, or by calling a function that could: only models, losses and built-ins cannot."""
    if any(attribute.attr.value in _TRAINS for attribute in tree.all(m.Attribute(), loop)):
        return True
    known = names_of_models(tree) | set(dir(builtins))
    called = [call.func for call in tree.all(m.Call(m.Name()), loop.body)]
    return any(name.value not in known and not _is_made_by_torch(tree, name) for name in called)


def _is_made_by_torch(tree: CellTree, name: cst.Name) -> bool:
    values = values_of(tree, name)
    return bool(values) and all(
        isinstance(each, cst.Call) and tree.code(each.func).startswith(("nn.", "torch.nn.")) for each in values
    )


def _has_mode(tree: CellTree, loop: cst.For) -> bool:
    """On the loop, in it, or around it; a decorator counts."""
    managers = [item for each in tree.around(loop) if isinstance(each, cst.With) for item in each.items]
    decorators = [one for each in tree.around(loop) if isinstance(each, cst.FunctionDef) for one in each.decorators]
    return any(each.value in _MODES for node in (loop, *managers, *decorators) for each in tree.all(m.Name(), node))


def _leaks(tree: CellTree, loop: cst.For) -> bool:
    """Whether something outlives the loop that may be a tensor."""
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
    if not all(_is_plain(tree, value) for value in kept):
        return True
    inside, home = set(tree.names(loop)), tree.function(loop)
    later = [name for name in tree.names(home) if name not in inside and tree.place(name) > tree.place(loop)]
    return any(name.value in bound and not _is_bound_again(tree, name) for name in later)


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
