"""Edits of a model: compile it, lay it out channels-last."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

import libcst as cst

from gpuprof.code_edits.syntax import matching as m
from gpuprof.code_edits.syntax.batches import batch_copies
from gpuprof.code_edits.syntax.escapes import leaks
from gpuprof.code_edits.syntax.keywords import keyword_of, with_keyword
from gpuprof.code_edits.syntax.statements import after, at_head, binds_torch, block_of, torch_at_head, whole_statement
from gpuprof.code_edits.syntax.tree import CellTree, Changes

_BACKWARD = m.Call(m.Attribute(attr=m.Name("backward")))
_DROPPED = m.ZeroOrMore(m.Arg(m.Name("True"), keyword=m.Name("set_to_none")))
_ZERO_GRAD = m.Call(m.Attribute(attr=m.Name("zero_grad")), args=[_DROPPED])
_SPREAD = re.compile(r"DataParallel|\bDDP\b|FSDP|fully_shard")
_ONLY_MODULES_HAVE = ("parameters", "named_parameters", "state_dict", "train", "eval")


def names_of_models(tree: CellTree, known: Collection[str] = ()) -> set[str]:
    """Names that are called, and are `known` for models or asked `.parameters()` or the like, as only modules are."""
    asked = m.Call(m.Attribute(value=m.Name(), attr=m.OneOf(*(m.Name(each) for each in _ONLY_MODULES_HAVE))))
    called = {call.func.value for call in tree.all(m.Call(m.Name()))}
    return ({call.func.value.value for call in tree.all(asked)} | set(known)) & called


@dataclass(frozen=True)
class _Model:
    """The one model of a cell; `statement` is the last that binds it, None where an earlier cell did."""

    tree: CellTree
    name: str
    statement: cst.CSTNode | None

    @classmethod
    def of(cls, tree: CellTree, known: Collection[str]) -> Self | None:
        """None where the cell has several, or makes it anywhere but on its first level, or uses it before."""
        names = names_of_models(tree, known)
        bound = {name for name in names if tree.all(m.AssignTarget(m.Name(name)))}
        if len(bound) != 1:
            return None if bound else cls._of_earlier(tree, names & set(known))
        (name,) = bound
        targets = tree.all(m.AssignTarget(m.Name(name)))
        last = whole_statement(tree, targets[-1])
        apart = any(tree.loops(each) or tree.function(each) for each in targets)
        if apart or last is None or not isinstance(block_of(tree, last), cst.Module):
            return None
        uses = [call for call in tree.all(m.Call(m.Name(name))) if tree.function(call) is None]
        return None if any(tree.place(use) < tree.place(last) for use in uses) else cls(tree, name, last)

    @classmethod
    def _of_earlier(cls, tree: CellTree, names: set[str]) -> Self | None:
        if len(names) != 1:
            return None
        (name,) = names
        bound = m.Param(m.Name(name)) | m.FunctionDef(m.Name(name)) | m.ClassDef(m.Name(name)) | m.AsName(m.Name(name))
        loops = m.For(m.Name(name)) | m.CompFor(m.Name(name)) | m.NamedExpr(m.Name(name)) | m.ImportAlias(m.Name(name))
        return None if tree.all(bound | loops) else cls(tree, name, None)

    def then(self, code: str) -> Changes:
        """The statement once the model is there."""
        if self.statement is not None:
            return after(self.statement, code)
        return (torch_at_head(self.tree, code) if "torch." in code else at_head(self.tree, code)) or {}


def compile_model(source: str, lines: Collection[int] = (), known: Collection[str] = ()) -> str | None:
    """`model.compile()` below the line that makes the cell's one model; for torch ≥ 2.2.

    Where an earlier cell made it, one of the names that are `known` for models, at the head of this one.

    In place, so that the keys of its state_dict stay, which `torch.compile(model)` would prefix. None where the cell
    has several models, compiles already, or spreads the model over devices; with `lines` also where one of them neither
    calls the model nor goes backward: what is slow is then not, or not only, the model.
    """
    tree = CellTree.of(source)
    model = _compilable(tree, known) if tree else None
    if tree is None or model is None:
        return None
    name = model.name
    called = {line for call in tree.all(m.Call(m.Name(name))) for line in tree.lines(call)}
    backward = {line for call in tree.all(_BACKWARD) for line in tree.lines(call)}
    if lines and not (set(lines) & called and set(lines) <= called | backward):
        return None
    return tree.changed(model.then(f"{name}.compile()"))


def compile_with_graphs(source: str, known: Collection[str] = ()) -> str | None:
    """The same with `mode="reduce-overhead"`: CUDA graphs, whose results hold until the model is called again.

    None unless the model is called once, in a loop that no tensor leaves, and there the gradients are dropped in
    every round in which `backward()` adds to them.
    """
    tree = CellTree.of(source)
    model = _compilable(tree, known) if tree else None
    if tree is None or model is None:
        return None
    calls = tree.all(m.Call(m.Name(model.name)))
    loop = tree.nearest(calls[0], cst.For) if len(calls) == 1 else None
    if loop is None or loop not in tree.loops(calls[0]) or leaks(tree, loop) or not _drops_gradients(tree, loop):
        return None
    return tree.changed(model.then(f'{model.name}.compile(mode="reduce-overhead")'))


def lay_out_model(source: str, known: Collection[str] = ()) -> str | None:
    """The cell's one model in `torch.channels_last`: its convolutions then reorder what they are given themselves."""
    tree = CellTree.of(source)
    model = _Model.of(tree, known) if tree and "channels_last" not in source and binds_torch(tree) else None
    return tree.changed(model.then(_laid_out(model.name))) if tree and model else None


def lay_out_channels_last(source: str, known: Collection[str] = ()) -> str | None:
    """The cell's one model and the batches it is given in `torch.channels_last`.

    Only where every call of the model gets the name of a tensor that the same loop copies to the device. The caller
    knows that these have four dimensions.
    """
    tree = CellTree.of(source)
    model = _Model.of(tree, known) if tree and "channels_last" not in source and binds_torch(tree) else None
    if tree is None or model is None:
        return None
    changes = model.then(_laid_out(model.name))
    for call in tree.all(m.Call(m.Name(model.name))):
        loop = tree.nearest(call, cst.For)
        given = call.args[0].value if len(call.args) == 1 else None
        copies = batch_copies(tree, loop) if loop is not None and given is not None else []
        mine = [copy for copy in copies if given is copy or _is_bound_to(tree, copy, given)]
        plain = m.Call(m.Attribute(attr=m.Name("to")))
        if len(mine) != 1 or keyword_of(mine[0], "memory_format") is not None or not m.matches(mine[0], plain):
            return None
        changes[mine[0]] = lambda copy: with_keyword(copy, "memory_format", "torch.channels_last")
    return tree.changed(changes)


def _laid_out(name: str) -> str:
    return f"{name} = {name}.to(memory_format=torch.channels_last)"


def _compilable(tree: CellTree, known: Collection[str]) -> _Model | None:
    names = (name.value for name in tree.all(m.Name()))
    return None if any(name == "compile" or _SPREAD.search(name) for name in names) else _Model.of(tree, known)


def _drops_gradients(tree: CellTree, loop: cst.For) -> bool:
    """Every round, or none has any."""
    backward = tree.all(_BACKWARD)
    zeroing = tree.all(m.SimpleStatementLine(body=[m.Expr(_ZERO_GRAD)]), loop.body)
    each_round = any(tree.parent(line) is loop.body for line in zeroing)
    return not backward or (len(backward) == 1 and loop in tree.loops(backward[0]) and each_round)


def _is_bound_to(tree: CellTree, copy: cst.Call, given: cst.CSTNode | None) -> bool:
    """Whether `given` is the name to which the copy is assigned, alone or in a tuple."""
    if not isinstance(given, cst.Name):
        return False
    assign = tree.nearest(copy, cst.Assign)
    if assign is None or len(assign.targets) != 1:
        return False
    target, value = assign.targets[0].target, assign.value
    if isinstance(target, cst.Tuple) and isinstance(value, cst.Tuple):
        pairs = zip(target.elements, value.elements, strict=False)
        return any(m.matches(left.value, m.Name(given.value)) and right.value is copy for left, right in pairs)
    return value is copy and m.matches(target, m.Name(given.value))
