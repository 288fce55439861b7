"""Edits of a model: compile it, lay it out channels-last, checkpoint one of its parts."""

from __future__ import annotations

import libcst as cst
import libcst.matchers as m

from gpuprof.edits.batches import batch_copies
from gpuprof.edits.keywords import is_open, keyword_of, with_keyword
from gpuprof.edits.statements import after, at_head, binds_torch, block_of, whole_statement
from gpuprof.edits.tree import CellTree

_ONLY_MODULES_HAVE = ("parameters", "named_parameters", "state_dict", "train", "eval")


def names_of_models(tree: CellTree) -> set[str]:
    """Names that are called, and of which the cell asks `.parameters()` or another thing that only modules have."""
    asked = m.Call(m.Attribute(value=m.Name(), attr=m.OneOf(*(m.Name(each) for each in _ONLY_MODULES_HAVE))))
    called = {call.func.value for call in tree.all(m.Call(m.Name()))}
    return {call.func.value.value for call in tree.all(asked)} & called


def compile_model(source: str, mode: str | None = None) -> str | None:
    """`model.compile()` below the line that makes the cell's one model; for torch ≥ 2.2.

    In place, so that the keys of its state_dict stay, which `torch.compile(model)` would prefix. None where the cell
    has several models or compiles already.
    """
    tree = CellTree.of(source)
    made = _made(tree) if tree and not tree.all(m.Name("compile")) else None
    if tree is None or made is None:
        return None
    name, statement = made
    argument = "" if mode is None else f'mode="{mode}"'
    return tree.changed(after(statement, f"{name}.compile({argument})"))


def lay_out_channels_last(source: str) -> str | None:
    """The cell's one model and the batches it is given in `torch.channels_last`.

    Only where every call of the model gets the name of a tensor that the same loop copies to the device. The caller
    knows that these have four dimensions.
    """
    tree = CellTree.of(source)
    made = _made(tree) if tree and "channels_last" not in source and binds_torch(tree) else None
    if tree is None or made is None:
        return None
    name, statement = made
    changes = after(statement, f"{name} = {name}.to(memory_format=torch.channels_last)")
    for call in tree.all(m.Call(m.Name(name))):
        loop = tree.nearest(call, cst.For)
        given = call.args[0].value if len(call.args) == 1 else None
        copies = batch_copies(tree, loop) if loop is not None and given is not None else []
        mine = [copy for copy in copies if given is copy or _is_bound_to(tree, copy, given)]
        plain = m.Call(m.Attribute(attr=m.Name("to")))
        if len(mine) != 1 or keyword_of(mine[0], "memory_format") is not None or not m.matches(mine[0], plain):
            return None
        changes[mine[0]] = lambda copy: with_keyword(copy, "memory_format", "torch.channels_last")
    return tree.changed(changes)


def checkpoint_module(source: str, module: str) -> str | None:
    """The one call of `module` (as the cell writes it, `self.encoder`) through `torch.utils.checkpoint`."""
    tree = CellTree.of(source)
    if tree is None or "checkpoint" in source:
        return None
    calls = [call for call in tree.all(m.Call()) if tree.code(call.func) == module]
    imported = at_head(tree, "from torch.utils.checkpoint import checkpoint")
    if len(calls) != 1 or not calls[0].args or is_open(calls[0]) or imported is None:
        return None

    def change(made: cst.Call) -> cst.Call:
        asked = cst.Arg(made.func, comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
        return with_keyword(made.with_changes(func=cst.Name("checkpoint"), args=[asked, *made.args]), *_NO_REENTRANCE)

    return tree.changed({**imported, calls[0]: change})


_NO_REENTRANCE = ("use_reentrant", "False")


def _made(tree: CellTree) -> tuple[str, cst.CSTNode] | None:
    """The name of the one model that the cell makes on its first level, and the last statement that binds it."""
    models = [
        name
        for name in names_of_models(tree)
        if any(t.target.value == name for t in tree.all(m.AssignTarget(m.Name())))
    ]
    if len(models) != 1:
        return None
    targets = tree.all(m.AssignTarget(m.Name(models[0])))
    last = whole_statement(tree, targets[-1])
    apart = any(tree.loops(each) or tree.function(each) for each in targets)
    if apart or last is None or not isinstance(block_of(tree, last), cst.Module):
        return None
    uses = [call for call in tree.all(m.Call(m.Name(models[0]))) if tree.function(call) is None]
    return None if any(tree.place(use) < tree.place(last) for use in uses) else (models[0], last)


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
