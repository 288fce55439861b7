"""Results that a loop without a backward pass keeps, without their graphs."""

from __future__ import annotations

import builtins
from collections.abc import Collection
from typing import Any

import libcst as cst

from gpuprof.code_edits.loops.evaluation import has_mode, may_train
from gpuprof.code_edits.syntax import matching as m
from gpuprof.code_edits.syntax.accumulators import is_within
from gpuprof.code_edits.syntax.statements import binds_torch, block_of, in_with
from gpuprof.code_edits.syntax.tree import CellTree, Loop

_BACKWARD = m.Call(m.Attribute(attr=m.Name("backward"))) | m.Call(m.Attribute(attr=m.Name("grad")))
_WITHOUT = m.Call(m.Attribute(attr=m.OneOf(*(m.Name(each) for each in ("detach", "item", "tolist", "numpy")))))


def keep_without_graph(source: str, name: str, known: Collection[str] = ()) -> str | None:
    """The loop that fills `name` (`name.append(x)`, `name += x`) in `with torch.no_grad():`; where it might train, or
    more of it may be needed with a graph, `.detach()` of what is put in.

    None where several lines fill it, where it is no plain tensor that is put in, or where what is kept may reach a
    `backward()`. `known`: names of models.
    """
    tree = CellTree.of(source)
    filled = _filled(tree, name) if tree else []
    if tree is None or len(filled) != 1 or _goes_backward(tree, {name}):
        return None
    value = filled[0]
    if _is_no_tensor(value) or any(has_mode(tree, loop) for loop in tree.loops(value)):
        return None
    wrapped = _in_no_grad(tree, value, known)
    return wrapped if wrapped is not None else tree.changed({value: _detached})


def _filled(tree: CellTree, name: str) -> list[cst.BaseExpression]:
    """What is put into it in loops; nothing where it is also filled in a way that is not followed."""
    own = m.Name(name)
    found: list[tuple[cst.CSTNode, Any]] = []
    appended = tree.all(m.Call(m.Attribute(value=own, attr=m.Name("append"))))
    found += [(call, call.args[0].value if len(call.args) == 1 else None) for call in appended]
    found += [(each, each.value) for each in tree.all(m.AugAssign(target=own, operator=m.AddAssign()))]
    added = m.Assign(value=m.BinaryOperation(left=own, operator=m.Add()))
    for assign in tree.all(added):
        if len(assign.targets) == 1 and m.matches(assign.targets[0].target, own):
            found.append((assign, assign.value.right))
    other = tree.all(m.Call(m.Attribute(value=own, attr=m.OneOf(*(m.Name(n) for n in ("extend", "insert", "add"))))))
    other += tree.all(m.AssignTarget(m.Subscript(value=own)))
    kept = [value for node, value in found if tree.loops(node)]
    return [] if other or None in kept else kept


def _is_no_tensor(value: cst.BaseExpression) -> bool:
    kinds = cst.Tuple | cst.List | cst.Dict | cst.BaseNumber | cst.BaseString | cst.BaseComp
    return isinstance(value, kinds) or m.matches(value, _WITHOUT)


def _goes_backward(tree: CellTree, kept: set[str]) -> bool:
    """Whether a name in `kept`, or one made of it, may be what `backward()` is called on, also in a function that is
    given it: only what is imported, built in or a method is known not to."""
    kept, before = set(kept), set[str]()
    while kept != before:
        before = set(kept)
        for assign in tree.all(m.Assign()):
            if before & _names(tree, assign.value):
                kept |= {each for target in assign.targets for each in _names(tree, target)}
        for loop in tree.all(m.For()):
            if before & _names(tree, loop.iter):
                kept |= _names(tree, loop.target)
    if any(kept & _names(tree, call) for call in tree.all(_BACKWARD)):
        return True
    called = [each for each in tree.all(m.Call(m.Name())) if any(kept & _names(tree, arg) for arg in each.args)]
    return any(each.func.value not in dir(builtins) and tree.imported_as(each.func) is None for each in called)


def _in_no_grad(tree: CellTree, value: cst.CSTNode, known: Collection[str]) -> str | None:
    """The outermost loop around it that does not train; None where none does not, or something else leaves it."""
    for loop in reversed(tree.loops(value)):
        block = block_of(tree, loop)
        if not isinstance(loop, cst.For) or block is None or may_train(tree, loop, known) or has_mode(tree, loop):
            continue
        if not binds_torch(tree) or _leaves(tree, loop):
            return None
        return tree.changed(in_with(block, loop, loop, "torch.no_grad()"))
    return None


def _leaves(tree: CellTree, loop: cst.For) -> bool:
    """Whether a backward pass may come to what the loop binds: it is used after it, or in the next turn around it
    before it is bound again."""
    if tree.all(m.Yield() | m.Return() | m.Global() | m.Nonlocal() | m.NamedExpr(), loop.body):
        return True
    bound = {name for each in tree.all(m.AssignTarget(), loop.body) for name in _names(tree, each)}
    mentions = [each for each in tree.names() if each.value in bound]
    around: list[Loop] = tree.loops(loop)
    outer = around[-1] if around else None
    after = [each for each in mentions if tree.place(each) > tree.place(loop) and not is_within(tree, each, loop)]
    again = [each for each in mentions if outer is not None and is_within(tree, each, outer)]
    first = {each.value: each for each in sorted(again, key=tree.place, reverse=True)}
    late = {each.value: each for each in sorted(after, key=tree.place, reverse=True)}
    # in `x = f(x)` what is read stands behind what is bound
    return any(not _is_bound(tree, each) for each in (*late.values(), *first.values()))


def _is_bound(tree: CellTree, name: cst.Name) -> bool:
    statement = tree.nearest(name, cst.Assign, cst.For)
    targets: list[cst.CSTNode] = []
    if isinstance(statement, cst.Assign):
        targets = [each.target for each in statement.targets]
        if name.value in _names(tree, statement.value):
            return False
    elif isinstance(statement, cst.For):
        targets = [statement.target]
    return any(is_within(tree, name, each) for each in targets)


def _names(tree: CellTree, node: cst.CSTNode) -> set[str]:
    return {each.value for each in tree.names(node)}


def _detached(value: cst.BaseExpression) -> cst.Call:
    plain = isinstance(value, cst.Name | cst.Call | cst.Attribute | cst.Subscript)
    inner = value if plain or value.lpar else value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return cst.Call(cst.Attribute(value=inner, attr=cst.Name("detach")))
