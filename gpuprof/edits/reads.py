"""Reads of a value in every step (`total += loss.item()`), put off until after the loop."""

from __future__ import annotations

import re
from dataclasses import dataclass

import libcst as cst
import libcst.matchers as m

from gpuprof.edits.origin import assigned, values_of
from gpuprof.edits.statements import after, block_of
from gpuprof.edits.tree import CellTree, Changes, Loop

_ITEM = m.Call(m.Attribute(attr=m.Name("item")), args=[])
_READS = m.Call(m.Attribute(attr=m.OneOf(*(m.Name(each) for each in ("item", "tolist", "cpu", "numpy")))))
_CONVERTS = m.Call(m.Name("float") | m.Name("int") | m.Name("bool"))
_LOSS_OF_TORCH = re.compile(r"(?:^|\.)(?:F|functional|torch|nn)\.|criterion|loss", re.IGNORECASE)
_EQUAL = m.Comparison() | m.Call(m.Attribute(attr=m.Name("eq")))


@dataclass(frozen=True)
class _Deferral:
    """One read, what it becomes, and the statement to put after the outermost loop between it and its beginning."""

    read: cst.Call
    instead: cst.BaseExpression
    loop: Loop
    then: str

    def becomes(self, _: cst.Call) -> cst.BaseExpression:
        return self.instead


def defer_reads(source: str, reads_per_step: float) -> str | None:
    """Sums and lists of `.item()` kept on the device during the loop, and read once after it. Every number stays
    the same: sums of floats go on in float64, as Python's own do.

    None unless each read of the cell's loops (but for those under `if step % n`) can be put off, and these are as
    many as the run showed in a step: others would empty the queue as well.
    """
    tree = CellTree.of(source)
    if tree is None:
        return None
    deferrals, changes = list[_Deferral](), Changes()
    for read in tree.all(_READS | _CONVERTS):
        if not tree.loops(read) or _is_rare(tree, read):
            continue
        found = _sum(tree, read) or _list(tree, read) if m.matches(read, _ITEM) else None
        if found is None:
            return None
        deferrals.append(found)
    if reads_per_step > len(deferrals) + 0.1:
        return None
    for loop in {each.loop for each in deferrals}:
        changes |= after(loop, *dict.fromkeys(each.then for each in deferrals if each.loop is loop))
    changes |= {each.read: each.becomes for each in deferrals}
    return tree.changed(changes)


def _is_rare(tree: CellTree, read: cst.Call) -> bool:
    """Under `if step % n`: read every so often only."""
    inner = [node for node in tree.around(read) if isinstance(node, cst.If)]
    return any(tree.all(m.BinaryOperation(operator=m.Modulo()), each.test) for each in inner)


def _sum(tree: CellTree, read: cst.Call) -> _Deferral | None:
    """`total += loss.item()`, `total += loss.item() * len(x)`, `correct += (a == b).sum().item()`."""
    added = tree.nearest(read, cst.AugAssign)
    if added is None or not isinstance(added.target, cst.Name) or not isinstance(added.operator, cst.AddAssign):
        return None
    name, value = added.target, _read_of(read)
    begin = _beginning(tree, name, added)
    loop = _outermost(tree, added, begin) if begin is not None else None
    if begin is None or loop is None:
        return None
    integer = m.matches(value, m.Call(m.Attribute(attr=m.Name("sum"))))
    integer = integer and bool(tree.all(_EQUAL, value)) and m.matches(begin, m.Integer())
    if integer and added.value is read:
        return _Deferral(read, value, loop, f"{name.value} = int({name.value})")
    if not (_is_loss(tree, value) and _is_scaled(tree, added.value, read)):
        return None
    kept = cst.parse_expression(f"{tree.code(value)}.detach().double()")
    return _Deferral(read, kept, loop, f"{name.value} = float({name.value})")


def _list(tree: CellTree, read: cst.Call) -> _Deferral | None:
    """`losses.append(loss.item())`, where nothing else is done with the list in the loop."""
    outer = tree.parent(tree.parent(read) or read)
    append = m.Call(
        m.Attribute(value=m.Name(), attr=m.Name("append")), args=[m.Arg(m.MatchIfTrue(lambda v: v is read))]
    )
    value = _read_of(read)
    if not isinstance(outer, cst.Call) or not m.matches(outer, append) or not _is_loss(tree, value, own=True):
        return None
    name = cst.ensure_type(_read_of(outer), cst.Name)
    line = tree.nearest(outer, cst.SimpleStatementLine)
    begin = _beginning(tree, name, line) if line is not None else None
    loop = _outermost(tree, line, begin) if line is not None and begin is not None else None
    if begin is None or loop is None or not m.matches(begin, m.List(elements=[]) | m.Call(m.Name("list"), args=[])):
        return None
    kept = cst.parse_expression(f"{tree.code(value)}.detach()")
    return _Deferral(read, kept, loop, f"{name.value} = [value.item() for value in {name.value}]")


def _read_of(call: cst.Call) -> cst.BaseExpression:
    """`x` of `x.method()`."""
    return cst.ensure_type(call.func, cst.Attribute).value


def _beginning(tree: CellTree, name: cst.Name, use: cst.CSTNode) -> cst.BaseExpression | None:
    """What the name is before the loop: bound once in the same function, otherwise only changed at `use`."""
    scope = tree.scope(name)
    assignments = [getattr(each, "node", None) for each in scope[name.value]] if scope is not None else []
    bound = [node for node in assignments if isinstance(node, cst.Name) and not _is_within(tree, node, use)]
    if len(bound) != 1 or len(bound) + sum(_is_within(tree, node, use) for node in assignments) != len(assignments):
        return None
    values = assigned(tree, bound[0])
    if len(values) != 1 or tree.function(bound[0]) is not tree.function(use):
        return None
    loop = _outermost(tree, use, values[0])
    if loop is None or not isinstance(block_of(tree, loop), cst.Module | cst.IndentedBlock):
        return None
    mentions = [each for each in tree.names() if each.value == name.value and each is not bound[0]]
    others = [each for each in mentions if not _is_within(tree, each, use)]
    misused = any(_is_within(tree, each, loop) or tree.function(each) is not tree.function(use) for each in others)
    return None if misused or tree.all(m.Global() | m.Nonlocal()) else values[0]


def _outermost(tree: CellTree, use: cst.CSTNode, begin: cst.CSTNode) -> Loop | None:
    """The outermost loop around `use` that is not around `begin`."""
    outside = tree.loops(begin)
    return next((loop for loop in reversed(tree.loops(use)) if loop not in outside), None)


def _is_within(tree: CellTree, node: cst.CSTNode | None, outer: cst.CSTNode) -> bool:
    return node is not None and (node is outer or outer in tree.around(node))


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
