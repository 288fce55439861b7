"""Edits of loops that only evaluate."""

from __future__ import annotations

import builtins
from collections.abc import Collection

import libcst as cst

from gpuprof.code_edits.models.modules import names_of_models
from gpuprof.code_edits.syntax import matching as m
from gpuprof.code_edits.syntax.escapes import leaks
from gpuprof.code_edits.syntax.origin import values_of
from gpuprof.code_edits.syntax.statements import binds_torch, block_of, in_with
from gpuprof.code_edits.syntax.tree import CellTree

_TRAINS = ("backward", "step", "requires_grad_", "requires_grad", "grad", "train")
_MODES = ("no_grad", "inference_mode", "set_grad_enabled", "enable_grad")


def add_inference_mode(source: str, line: int, known: Collection[str] = ()) -> str | None:
    """The loop over batches at `line` in `with torch.inference_mode():`.

    Where tensors without a graph leave it, in `torch.no_grad()`: autograd refuses inference tensors later on. None
    where the loop trains, has such a mode already, or where a tensor that may carry a graph can leave it.
    """
    tree = CellTree.of(source)
    loops = [each for each in tree.all(m.For()) if line in tree.lines(each.iter)] if tree else []
    if tree is None or not loops or not binds_torch(tree):
        return None
    loop = loops[-1]
    block = block_of(tree, loop)
    if block is None or has_mode(tree, loop) or may_train(tree, loop, known) or leaks(tree, loop, with_graph=True):
        return None
    mode = "no_grad" if leaks(tree, loop) else "inference_mode"
    return tree.changed(in_with(block, loop, loop, f"torch.{mode}()"))


def may_train(tree: CellTree, loop: cst.For, models: Collection[str]) -> bool:
    """By a word of training, or by calling a function that could: only models, losses and built-ins cannot."""
    if any(attribute.attr.value in _TRAINS for attribute in tree.all(m.Attribute(), loop)):
        return True
    known = names_of_models(tree, models) | set(dir(builtins))
    called = [call.func for call in tree.all(m.Call(m.Name()), loop.body)]
    return any(name.value not in known and not _is_made_by_torch(tree, name) for name in called)


def _is_made_by_torch(tree: CellTree, name: cst.Name) -> bool:
    values = values_of(tree, name)
    return bool(values) and all(
        isinstance(each, cst.Call) and tree.code(each.func).startswith(("nn.", "torch.nn.")) for each in values
    )


def has_mode(tree: CellTree, loop: cst.For | cst.While) -> bool:
    """On the loop, in it, or around it; a decorator counts."""
    managers = [item for each in tree.around(loop) if isinstance(each, cst.With) for item in each.items]
    decorators = [one for each in tree.around(loop) if isinstance(each, cst.FunctionDef) for one in each.decorators]
    return any(each.value in _MODES for node in (loop, *managers, *decorators) for each in tree.all(m.Name(), node))
