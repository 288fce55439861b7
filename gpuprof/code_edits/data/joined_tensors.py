"""Tensors that grow by `torch.cat` in a loop, joined once after it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from gpuprof.code_edits.syntax import matching as m
from gpuprof.code_edits.syntax.accumulators import Accumulator, is_within
from gpuprof.code_edits.syntax.keywords import is_open
from gpuprof.code_edits.syntax.origin import assigned
from gpuprof.code_edits.syntax.statements import after, binds_torch
from gpuprof.code_edits.syntax.tree import CellTree, Changes, Loop

_JOINS = ("cat", "concat", "concatenate", "vstack", "hstack")
_NUMBER = m.Integer() | m.UnaryOperation(operator=m.Minus(), expression=m.Integer())
# they may give what they are called on, with the same memory
_SAME_MEMORY = (
    *("detach", "cpu", "cuda", "to", "float", "contiguous", "flatten", "ravel", "view", "view_as", "reshape"),
    *("squeeze", "unsqueeze", "t", "transpose", "permute", "movedim"),
)
# these give a part of something larger, or the memory of something that is not torch's
_BORROWED = (
    *("select", "narrow", "chunk", "split", "unbind", "unfold", "diagonal", "expand", "expand_as", "broadcast_to"),
    *("from_numpy", "as_tensor", "asarray", "frombuffer", "from_dlpack", "get", "pop", "item", "values", "indices"),
)


@dataclass(frozen=True)
class _Growth:
    """`v = torch.cat([v, piece], dim)`: what begins it, the loop after which it is joined, and how."""

    assign: cst.Assign
    begin: cst.BaseExpression
    loop: Loop
    append: str
    join: str

    @property
    def changes(self) -> Changes:
        """But for the statement after the loop."""
        return {
            self.begin: lambda made: cst.List([cst.Element(made)]),
            self.assign: lambda _: cst.Expr(cst.parse_expression(self.append)),
        }


def join_after_loop(source: str, lines: Sequence[int]) -> str | None:
    """`v = torch.cat([v, x])` at these lines as `v.append(x)`, with `v = [...]` before the loop and one cat after it.

    The list begins with what the tensor began with, so that type and empty loops stay the same. None unless all lines
    can be changed: the tensor is begun in the same function with a call of torch, nothing else mentions it up to the
    end of the loop, and what is appended is made anew in each turn and not changed in place.
    """
    tree, changes = CellTree.of(source), Changes()
    if tree is None or not binds_torch(tree):
        return None
    growths = [_growth(tree, line) for line in lines]
    found = [growth for growth in growths if growth is not None]
    if len(found) < len(growths):
        return None
    for loop in {growth.loop for growth in found}:
        changes |= after(loop, *(growth.join for growth in found if growth.loop is loop))
    for growth in found:
        changes |= growth.changes
    return tree.changed(changes)


def _growth(tree: CellTree, line: int) -> _Growth | None:
    joined = m.Assign(targets=[m.AssignTarget(m.Name())], value=m.Call())
    for assign in (each for each in tree.all(joined) if tree.place(each)[0] == line):
        name, call = assign.targets[0].target, assign.value
        piece = _piece(tree, call, name.value)
        into = Accumulator.of(tree, name, assign) if piece is not None else None
        if piece is None or into is None or into.shown or into.resets or not _is_torchs(tree, into.begin):
            return None
        if _mentioned_before(tree, into, assign) or not _is_made_anew(tree, piece, into.loop):
            return None
        rest = "".join(f", {tree.code(arg).rstrip(', ')}" for arg in call.args[1:])
        return _Growth(
            assign=assign,
            begin=into.begin,
            loop=into.loop,
            append=f"{name.value}.append({tree.code(piece)})",
            join=f"{name.value} = {tree.code(call.func)}({name.value}{rest})",
        )
    return None


def _piece(tree: CellTree, call: cst.Call, name: str) -> cst.BaseExpression | None:
    """`x`, which is not made of `v`, in `torch.cat([v, x], dim=1)`, where nothing else is given."""
    function = tree.imported_as(call.func) or tree.code(call.func)
    if function not in {f"torch.{join}" for join in _JOINS} or is_open(call) or not 1 <= len(call.args) <= 2:
        return None
    tensors, dim = call.args[0], call.args[1] if len(call.args) > 1 else None
    named = dim.keyword.value if dim is not None and dim.keyword is not None else "dim"
    if tensors.keyword is not None or named not in ("dim", "axis") or (dim and not m.matches(dim.value, _NUMBER)):
        return None
    listed = tensors.value
    elements = listed.elements if isinstance(listed, cst.List | cst.Tuple) else ()
    if (
        len(elements) != 2
        or not m.matches(elements[0], m.Element(m.Name(name)))
        or isinstance(elements[1], cst.StarredElement)
    ):
        return None
    piece = elements[1].value
    return None if any(each.value == name for each in tree.names(piece)) else piece


def _is_torchs(tree: CellTree, value: cst.BaseExpression) -> bool:
    """A call such as `torch.empty(0, 10)`."""
    return isinstance(value, cst.Call) and (tree.imported_as(value.func) or tree.code(value.func)).startswith("torch.")


def _mentioned_before(tree: CellTree, into: Accumulator, assign: cst.Assign) -> bool:
    """Whether it is mentioned between its beginning and the loop."""
    begin, end = tree.place(into.begin), tree.place(into.loop)
    home = tree.function(assign)
    return any(name.value == into.name and begin < tree.place(name) < end for name in tree.names(home))


def _is_made_anew(tree: CellTree, value: cst.BaseExpression, loop: Loop, hops: int = 3) -> bool:
    """Whether each turn makes it, and nothing in the loop changes it in place."""
    core = value
    while isinstance(core, cst.Call) and isinstance(core.func, cst.Attribute) and core.func.attr.value in _SAME_MEMORY:
        core = core.func.value
    if isinstance(core, cst.Call):
        last = core.func.attr if isinstance(core.func, cst.Attribute) else core.func
        return isinstance(last, cst.Name) and last.value not in _BORROWED and not last.value.endswith("_")
    if not isinstance(core, cst.Name):
        return isinstance(core, cst.BinaryOperation | cst.Comparison)
    if not hops or core.value in _changed_in_place(tree, loop) or tree.scope(core) is None:
        return False
    bindings = [getattr(each, "node", None) for each in tree.scope(core)[core.value]]
    return bool(bindings) and all(_binds_anew(tree, each, loop, hops - 1) for each in bindings)


def _binds_anew(tree: CellTree, name: cst.CSTNode | None, loop: Loop, hops: int) -> bool:
    """Whether a name is bound inside the loop to something made anew, or by a loop to what it goes over."""
    if not isinstance(name, cst.Name) or not is_within(tree, name, loop):
        return False
    values = assigned(tree, name)
    return all(_is_made_anew(tree, each, loop, hops) for each in values) if values else _is_target(tree, name)


def _is_target(tree: CellTree, name: cst.Name) -> bool:
    """Whether a loop gives it its values."""
    return any(isinstance(each, cst.For) and is_within(tree, name, each.target) for each in tree.around(name))


def _changed_in_place(tree: CellTree, loop: Loop) -> Iterator[str]:
    """Names of `x += 1`, `x[0] = 1`, `x.add_()`, and those given as `out=` or beside `inplace=True`."""
    changed = [each.target for each in tree.all(m.AugAssign(), loop.body)]
    changed += [each.target for each in tree.all(m.AssignTarget(m.Subscript() | m.Attribute()), loop.body)]
    changed += [each.value for each in tree.all(m.Arg(keyword=m.Name("out")), loop.body)]
    inplace = m.Call(args=[m.ZeroOrMore(), m.Arg(keyword=m.Name("inplace")), m.ZeroOrMore()])
    changed += [arg.value for call in tree.all(inplace, loop.body) for arg in call.args]
    for call in tree.all(m.Call(m.Attribute(attr=m.Name(m.MatchRegex(r".*[^_]_$")))), loop.body):
        changed.append(call.func.value)
    for each in changed:
        yield from (name.value for name in tree.names(each))
