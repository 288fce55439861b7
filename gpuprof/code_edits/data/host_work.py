"""Work that a loop does on the host before it copies the result, done on the device instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Any

import libcst as cst

from gpuprof.code_edits.syntax import matching as m
from gpuprof.code_edits.syntax.batches import root_name
from gpuprof.code_edits.syntax.keywords import is_open, keyword_of, positional, with_keyword
from gpuprof.code_edits.syntax.origin import values_of
from gpuprof.code_edits.syntax.tree import CellTree, Changes

_COPIES = m.Call(m.Attribute(attr=m.Name("to") | m.Name("cuda")))
_DEVICE = re.compile(r"(?:^|[._])(?:dev|device|cuda|gpu)$", re.IGNORECASE)
_NUMBER = m.Integer() | m.Float()
_ARITHMETIC = ("add", "div", "mul", "sub", "add_", "div_", "mul_", "sub_")
_WIDENS = {"float32": "float", "float64": "double"}


def make_on_device(source: str, name: str) -> str | None:
    """`torch.<name>(...).to(device)` in a loop as `torch.<name>(..., device=device)`.

    Random numbers then come from the device's generator. None where the copy does anything else, or where the tensor
    has a name of its own before it is copied.
    """
    tree = CellTree.of(source)
    changes: Changes = {}
    for copy in tree.all(_COPIES) if tree else []:
        made = copy.func.value
        device = _device_of(tree, copy) if tree else None
        if device is None or not isinstance(made, cst.Call) or not tree or not tree.loops(copy):
            continue
        fills = (tree.imported_as(made.func) or tree.code(made.func)) == f"torch.{name}"
        given = any(keyword_of(made, each) for each in ("device", "out", "pin_memory", "generator"))
        if fills and not given and not is_open(made):
            changes[copy] = _made_on(device)
    return tree.changed(changes) if tree else None


def widen_on_device(source: str, to: str, lines: Collection[int] = ()) -> str | None:
    """`x.float().to(device)` in a loop as `x.to(device).float()`; `to` is `float32` or `float64`.

    Arithmetic with numbers in between, `(x.float() / 255).to(device)`, is then done on the device too. None unless
    there is exactly one such copy, on one of `lines` where these are known; or where it does not block and is of
    something other than the loader's batch: the host may change that meanwhile.
    """
    tree, method = CellTree.of(source), _WIDENS.get(to)
    if tree is None or method is None:
        return None
    copies = [each for each in tree.all(_COPIES) if tree.loops(each) and _device_of(tree, each) is not None]
    found = [(copy, widening) for copy in copies if (widening := _widening(copy.func.value, method)) is not None]
    if len(found) != 1 or (lines and not set(lines) & set(tree.lines(found[0][0]))):
        return None
    copy, widening = found[0]
    if keyword_of(copy, "non_blocking") and not _is_of_batch(tree, copy, widening):
        return None
    return tree.changed({copy: lambda made: made.func.value, widening: _after_copy(copy)})


def _made_on(device: str) -> Callable[[Any], Any]:
    return lambda copy: with_keyword(copy.func.value, "device", device)


def _after_copy(copy: cst.Call) -> Callable[[Any], Any]:
    def change(made: Any) -> Any:
        source = copy.func.with_changes(value=made.func.value)
        copied = copy.with_changes(func=source, lpar=[], rpar=[])
        return made.with_changes(func=made.func.with_changes(value=copied))

    return change


def _device_of(tree: CellTree, copy: cst.Call) -> str | None:
    """The text of the device, of a copy that does nothing else."""
    others = [arg for arg in copy.args if arg.keyword is not None and arg.keyword.value != "non_blocking"]
    if others or is_open(copy) or not isinstance(copy.func, cst.Attribute) or positional(copy) > 1:
        return None
    if copy.func.attr.value == "cuda":
        return None if positional(copy) else '"cuda"'
    return tree.code(copy.args[0].value) if positional(copy) == 1 and _is_device(tree, copy.args[0].value) else None


def _is_device(tree: CellTree, value: cst.BaseExpression) -> bool:
    """Not a number format, and not a tensor whose device is meant."""
    if m.matches(value, m.SimpleString() | m.Integer() | m.Call(m.Attribute(attr=m.Name("device")))):
        return True
    given = values_of(tree, value)
    named = bool(_DEVICE.search(tree.code(value))) and isinstance(value, cst.Name | cst.Attribute)
    return named if not given else all(_is_device(tree, each) or isinstance(each, cst.IfExp) for each in given)


def _widening(node: cst.BaseExpression, method: str | None) -> cst.Call | None:
    """`x.float()` at the bottom of arithmetic with numbers."""
    if isinstance(node, cst.BinaryOperation):
        return _widening(node.left, method) if m.matches(node.right, _NUMBER) else None
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
        return None
    if m.matches(node, m.Call(m.Attribute(attr=m.Name(method or "")), args=[])):
        return node
    plain = node.func.attr.value in _ARITHMETIC and m.matches(node, m.Call(args=[m.Arg(_NUMBER, keyword=None)]))
    return _widening(node.func.value, method) if plain else None


def _is_of_batch(tree: CellTree, copy: cst.Call, widening: cst.Call) -> bool:
    """Whether it is a part of what the loader gave, not bound to anything else before."""
    loop = tree.nearest(copy, cst.For)
    name = root_name(widening)
    if loop is None or all(each.value != name for each in tree.names(loop.target)):
        return False
    bound = [each for each in tree.all(m.AssignTarget(), loop.body) if tree.place(each) < tree.place(copy)]
    own = tree.nearest(copy, cst.Assign)
    others = [each for each in bound if tree.parent(each) is not own]
    return all(each.value != name for target in others for each in tree.names(target))
