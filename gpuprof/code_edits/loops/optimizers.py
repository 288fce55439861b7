"""Edits of how an optimizer is made, and of how gradients are zeroed."""

from __future__ import annotations

import libcst as cst

from gpuprof.code_edits.syntax import matching as m
from gpuprof.code_edits.syntax.keywords import is_open, keyword_of, literal, positional, with_keyword, without_keyword
from gpuprof.code_edits.syntax.origin import creation
from gpuprof.code_edits.syntax.tree import CellTree, Changes

# positional parameters before the keyword-only ones; all the same since torch 2.0
_MOST_POSITIONAL = 6
_OPTIMIZERS = ("torch.optim",)


def set_optimizer(source: str, line: int, name: str, **arguments: str) -> str | None:
    """The optimizer of class `name` that the statement at `line` uses, made with these arguments (Python text).

    `fused` and `foreach` exclude each other: setting one drops the other. None where it is not made in this cell, or
    is `differentiable` (neither is possible then), or its model has sparse gradients.
    """
    tree = CellTree.of(source)
    call = creation(tree, line, (name,), _OPTIMIZERS) if tree else None
    if tree is None or call is None or is_open(call) or positional(call) > _MOST_POSITIONAL:
        return None
    if literal(tree, call, "differentiable") not in (None, "False") or _has_sparse_gradients(tree):
        return None

    def change(made: cst.Call) -> cst.Call:
        for key, value in arguments.items():
            other = keyword_of(made, {"fused": "foreach", "foreach": "fused"}.get(key, ""))
            if other is not None and keyword_of(made, key) is None:
                made = made.with_deep_changes(other, keyword=cst.Name(key))
            elif other is not None:
                made = without_keyword(made, "foreach" if key == "fused" else "fused")
            made = with_keyword(made, key, value)
        return made

    return tree.changed({call: change})


def drop_zeroing_in_place(source: str) -> str | None:
    """`x.zero_grad(set_to_none=False)` as `x.zero_grad()`, which frees the gradients instead of filling them."""
    tree = CellTree.of(source)
    if tree is None:
        return None
    changes: Changes = {}
    for call in tree.all(m.Call(m.Attribute(attr=m.Name("zero_grad")))):
        if literal(tree, call, "set_to_none") == "False":
            changes[call] = lambda made: without_keyword(made, "set_to_none")
        elif len(call.args) == 1 and tree.code(call.args[0].value) == "False" and call.args[0].keyword is None:
            changes[call] = lambda made: made.with_changes(args=[])
    return tree.changed(changes)


def _has_sparse_gradients(tree: CellTree) -> bool:
    return bool(tree.all(m.Arg(keyword=m.Name("sparse"), value=m.Name("True"))))
