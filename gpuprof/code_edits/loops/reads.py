"""Reads of a value in every step (`total += loss.item()`), put off until after the loop."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import libcst as cst

from gpuprof.code_edits.syntax import matching as m
from gpuprof.code_edits.syntax.accumulators import Accumulator, is_rare
from gpuprof.code_edits.syntax.origin import values_of
from gpuprof.code_edits.syntax.statements import after
from gpuprof.code_edits.syntax.tree import CellTree, Changes

_ITEM = m.Call(m.Attribute(attr=m.Name("item")), args=[])
_READS = m.Call(m.Attribute(attr=m.OneOf(*(m.Name(each) for each in ("item", "tolist", "cpu", "numpy")))))
_CONVERTS = m.Call(m.Name("float") | m.Name("int") | m.Name("bool"))
_LOSS_OF_TORCH = re.compile(r"(?:^|\.)(?:F|functional|torch|nn)\.|criterion|loss", re.IGNORECASE)
# float64, in which Python adds up, is not to be had on a Mac's GPU; such a cell is written for more than this machine
_NO_FLOAT64 = re.compile(r"\bmps\b|torch\.accelerator")
_EMPTY = m.List(elements=[]) | m.Call(m.Name("list"), args=[])
_EQUAL = m.Comparison() | m.Call(m.Attribute(attr=m.Name("eq")))


@dataclass(frozen=True)
class _Deferral:
    """One read, the text that stands instead, and how the sum or list is read once after the loop."""

    read: cst.Call
    instead: str
    into: Accumulator
    number: str

    @property
    def changes(self) -> Changes:
        """But for the statement after the loop."""
        shown: Changes = {each: self._puts(f"{self.number}({each.value})") for each in self.into.shown}
        return {self.read: self._puts(self.instead), **shown}

    @property
    def then(self) -> str:
        name = self.into.name
        of = f"[value.item() for value in {name}]" if self.number == "list" else f"{self.number}({name})"
        return f"{name} = {of}"

    @staticmethod
    def _puts(code: str) -> Callable[[Any], Any]:
        return lambda _: cst.parse_expression(code)


def defer_reads(source: str, reads_per_step: float) -> str | None:
    """Sums and lists of `.item()` kept on the device during the loop, and read once after it. Every number stays
    the same: sums of floats go on in float64, as Python's own do. So they stay where the cell may run on a device
    that has none (`mps`): in float32 the sum over an epoch would be another.

    None unless each read of the cell's loops (but for those under `if step % n`) can be put off, and these are as
    many as the run showed in a step: others would empty the queue as well.
    """
    tree = CellTree.of(source)
    if tree is None:
        return None
    deferrals, changes = list[_Deferral](), Changes()
    for read in tree.all(_READS | _CONVERTS):
        if not tree.loops(read) or is_rare(tree, read):
            continue
        found = _sum(tree, read) or _list(tree, read) if m.matches(read, _ITEM) else None
        if found is None:
            return None
        deferrals.append(found)
    if reads_per_step > len(deferrals) + 0.1:
        return None
    for loop in {each.into.loop for each in deferrals}:
        changes |= after(loop, *dict.fromkeys(each.then for each in deferrals if each.into.loop is loop))
    for each in deferrals:
        changes |= each.changes
    return tree.changed(changes)


def _sum(tree: CellTree, read: cst.Call) -> _Deferral | None:
    """`total += loss.item()`, `total += loss.item() * len(x)`, `correct += (a == b).sum().item()`."""
    added = tree.nearest(read, cst.AugAssign)
    if added is None or not isinstance(added.target, cst.Name) or not isinstance(added.operator, cst.AddAssign):
        return None
    value, into = _read_of(read), Accumulator.of(tree, added.target, added)
    if into is None or not m.matches(into.begin, m.Integer() | m.Float()):
        return None
    integer = m.matches(value, m.Call(m.Attribute(attr=m.Name("sum")))) and bool(tree.all(_EQUAL, value))
    if integer and added.value is read and not any(m.findall(each, m.Float()) for each in (into.begin, *into.resets)):
        return _Deferral(read, tree.code(value), into, "int")
    elsewhere = bool(_NO_FLOAT64.search(tree.code(tree.module)))
    if elsewhere or not (_is_loss(tree, value) and _is_scaled(tree, added.value, read)):
        return None
    return _Deferral(read, f"{tree.code(value)}.detach().double()", into, "float")


def _list(tree: CellTree, read: cst.Call) -> _Deferral | None:
    """`losses.append(loss.item())`, where nothing else is done with the list in the loop, shown or not."""
    outer = tree.parent(tree.parent(read) or read)
    append = m.Call(
        m.Attribute(value=m.Name(), attr=m.Name("append")), args=[m.Arg(m.MatchIfTrue(lambda v: v is read))]
    )
    value = _read_of(read)
    if not isinstance(outer, cst.Call) or not m.matches(outer, append) or not _is_loss(tree, value, own=True):
        return None
    name = cst.ensure_type(_read_of(outer), cst.Name)
    line = tree.nearest(outer, cst.SimpleStatementLine)
    into = Accumulator.of(tree, name, line) if line is not None else None
    if into is None or into.shown or into.resets or not m.matches(into.begin, _EMPTY):
        return None
    return _Deferral(read, f"{tree.code(value)}.detach()", into, "list")


def _read_of(call: cst.Call) -> cst.BaseExpression:
    """`x` of `x.method()`."""
    return cst.ensure_type(call.func, cst.Attribute).value


def _is_loss(tree: CellTree, value: cst.CSTNode, *, own: bool = False) -> bool:
    """Whether it is surely a floating tensor of torch, not a number of numpy. `own`: and no view of a larger one."""
    if isinstance(value, cst.Name):
        backward = m.Call(m.Attribute(value=m.Name(value.value), attr=m.Name("backward")))
        values = values_of(tree, value)
        if own and not all(isinstance(each, cst.Call | cst.BinaryOperation) for each in values or [value]):
            return False
        return bool(tree.all(backward)) or any(_is_loss(tree, each) for each in values if isinstance(each, cst.Call))
    return isinstance(value, cst.Call) and bool(_LOSS_OF_TORCH.search(tree.code(value.func)))


def _is_scaled(tree: CellTree, value: cst.BaseExpression, read: cst.Call) -> bool:
    """The read alone, or times or by a count."""
    if value is read:
        return True
    if not isinstance(value, cst.BinaryOperation) or not isinstance(value.operator, cst.Multiply | cst.Divide):
        return False
    if value.right is read:
        return isinstance(value.operator, cst.Multiply) and _is_count(tree, value.left)
    return value.left is read and _is_count(tree, value.right)


def _is_count(tree: CellTree, value: cst.CSTNode) -> bool:
    counts = m.Integer() | m.Float() | m.Call(m.Name("len")) | m.Subscript(m.Attribute(attr=m.Name("shape")))
    counts = counts | m.Call(m.Attribute(attr=m.Name("size")), args=[m.Arg(m.Integer())])
    if isinstance(value, cst.Name):
        values = values_of(tree, value)
        return bool(values) and all(m.matches(each, counts) for each in values)
    return m.matches(value, counts)
