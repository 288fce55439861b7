"""Edits of the number format in which products are calculated."""

from __future__ import annotations

import re
from collections.abc import Collection

import libcst as cst

from gpuprof.code_edits.models.modules import names_of_models
from gpuprof.code_edits.syntax import matching as m
from gpuprof.code_edits.syntax.statements import binds_torch, block_of, in_with, torch_at_head, whole_statement
from gpuprof.code_edits.syntax.tree import CellTree

_REFUSED = re.compile(r"autocast|\bnumpy\(|\bbinary_cross_entropy\b|\bBCELoss\b")
_SETTING = "set_float32_matmul_precision"


def set_matmul_precision(source: str, precision: str) -> str | None:
    """`torch.set_float32_matmul_precision(precision)` before the cell's own statements, or in the call it has."""
    tree = CellTree.of(source)
    if tree is None:
        return None
    text = f'"{precision}"'
    calls = tree.all(m.Call(m.Name(_SETTING) | m.Attribute(attr=m.Name(_SETTING))))
    if calls:
        plain = len(calls) == 1 and m.matches(calls[0], m.Call(args=[m.Arg(m.SimpleString())]))
        return tree.changed({calls[0].args[0].value: lambda _: cst.SimpleString(text)}) if plain else None
    changes = torch_at_head(tree, f"torch.{_SETTING}({text})")
    return tree.changed(changes) if changes else None


def add_autocast(source: str, device: str, dtype: str, known: Collection[str] = ()) -> str | None:
    """Forward and loss of the one training step in `with torch.autocast(device, dtype=torch.<dtype>):`.

    Only where the step is plain: in one block of simple statements, calls of a model (see `names_of_models`) lead to a
    name that is bound once there, and `backward()` is called on it below. fp16 needs a GradScaler too: not done here.
    Nor where the cell uses what bfloat16 or autocast refuses: `.numpy()`, the binary cross-entropy of probabilities.
    """
    tree = CellTree.of(source)
    if tree is None or dtype != "bfloat16" or _REFUSED.search(source) or not binds_torch(tree):
        return None
    backward = tree.all(m.Call(m.Attribute(value=m.Name(), attr=m.Name("backward"))))
    end = whole_statement(tree, backward[0]) if len(backward) == 1 else None
    block = block_of(tree, end) if end is not None else None
    if block is None or end is None:
        return None
    statements = list(block.body[: block.body.index(end)])
    chosen = _forward_to(tree, statements, backward[0].func.value.value, names_of_models(tree, known))
    if chosen is None:
        return None
    first, last = chosen
    return tree.changed(in_with(block, first, last, f'torch.autocast("{device}", dtype=torch.{dtype})'))


def _forward_to(
    tree: CellTree, statements: list[cst.BaseStatement], loss: str, models: set[str]
) -> tuple[cst.CSTNode, cst.CSTNode] | None:
    """The first and the last of the statements that make the loss from what the models give."""
    needed, chain = {loss}, list[cst.CSTNode]()
    for each in reversed(statements):
        bound = {name.value for target in tree.all(m.AssignTarget(), each) for name in tree.names(target)}
        if bound & needed:
            chain.append(each)
            needed |= {name.value for name in tree.names(each)} - models
    forward = [each for each in chain if _calls(tree, each, models)]
    made = [each for each in chain if any(t.target.value == loss for t in tree.all(m.AssignTarget(m.Name()), each))]
    if not forward or len(made) != 1:
        return None
    first, last = forward[-1], made[0]
    between = [each for each in statements if tree.place(first) <= tree.place(each) <= tree.place(last)]
    simple = all(isinstance(each, cst.SimpleStatementLine) for each in between)
    return (first, last) if simple and first in between and last in between else None


def _calls(tree: CellTree, node: cst.CSTNode, models: set[str]) -> bool:
    return any(call.func.value in models for call in tree.all(m.Call(m.Name()), node))
