"""Biases of convolutions that the batch norm behind them takes away."""

from __future__ import annotations

import itertools
import re

import libcst as cst

from gpuprof.code_edits.syntax import matching as m
from gpuprof.code_edits.syntax.keywords import is_open, keyword_of, positional, with_keyword
from gpuprof.code_edits.syntax.tree import CellTree, Changes

_CONVOLUTIONS = ("Conv1d", "Conv2d", "Conv3d")
_NORMS = ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm")
# in, out, kernel, stride, padding, dilation, groups; the next is the bias
_MOST_POSITIONAL = 7
# weights from elsewhere have these biases; initialising code may expect them
_NEEDED = re.compile(r"load_state_dict|torch\.load|from_pretrained|pretrained|weights\s*=|\.bias\b|ModuleList")


def drop_bias_before_norm(source: str) -> str | None:
    """`bias=False` for each convolution that the cell puts directly before a batch norm.

    Side by side in a `Sequential` or in a list that becomes one, or as attributes that `forward` calls one after the
    other and nothing else mentions. None where weights are loaded, or where something speaks of biases.
    """
    tree = None if _NEEDED.search(source) else CellTree.of(source)
    if tree is None:
        return None
    found = [*_side_by_side(tree), *_called_in_turn(tree)]
    changes: Changes = {
        each: lambda made: with_keyword(made, "bias", "False")
        for each in found
        if keyword_of(each, "bias") is None and not is_open(each) and positional(each) <= _MOST_POSITIONAL
    }
    return tree.changed(changes)


def _side_by_side(tree: CellTree) -> list[cst.Call]:
    rows = [call.args for call in tree.all(m.Call()) if _last(call.func) == "Sequential"]
    if any(_last(call.func) == "Sequential" and (is_open(call) or not call.args) for call in tree.all(m.Call())):
        rows += [each.elements for each in tree.all(m.List())]
    pairs = [pair for row in rows for pair in itertools.pairwise(part.value for part in row)]
    return [left for left, right in pairs if _is_of(tree, left, _CONVOLUTIONS) and _is_of(tree, right, _NORMS)]


def _called_in_turn(tree: CellTree) -> list[cst.Call]:
    """Of `self.norm(self.convolution(x))`, or `x = self.convolution(x)` followed by `x = self.norm(x)`."""
    found = []
    for made in tree.all(m.ClassDef()):
        parts = _parts(tree, made)
        for outer, inner in (*_nested(tree, made), *_following(tree, made)):
            convolution, norm = parts.get(tree.code(inner)), parts.get(tree.code(outer))
            if _is_of(tree, convolution, _CONVOLUTIONS) and _is_of(tree, norm, _NORMS):
                mentions = [each for each in tree.all(m.Attribute(), made) if tree.code(each) == tree.code(inner)]
                found += [convolution] if len(mentions) == 2 else []  # where it is made, where it is called
    return [each for each in found if isinstance(each, cst.Call)]


def _parts(tree: CellTree, made: cst.ClassDef) -> dict[str, cst.BaseExpression]:
    """`self.convolution` → the call that makes it, where the class binds it once."""
    bound: dict[str, list[cst.BaseExpression]] = {}
    for assign in tree.all(m.Assign(targets=[m.AssignTarget(m.Attribute())]), made):
        bound.setdefault(tree.code(assign.targets[0].target), []).append(assign.value)
    return {name: values[0] for name, values in bound.items() if len(values) == 1}


def _nested(tree: CellTree, made: cst.ClassDef) -> list[tuple[cst.CSTNode, cst.CSTNode]]:
    calls = tree.all(m.Call(m.Attribute(), args=[m.Arg(m.Call(m.Attribute()))]), made)
    return [(call.func, call.args[0].value.func) for call in calls]


def _following(tree: CellTree, made: cst.ClassDef) -> list[tuple[cst.CSTNode, cst.CSTNode]]:
    call = m.Call(m.Attribute(), args=[m.Arg()])
    row = m.SimpleStatementLine(body=[m.Assign(targets=[m.AssignTarget(m.Name())], value=call)])
    found = []
    for block in tree.all(m.IndentedBlock(), made):
        for left, right in itertools.pairwise(block.body):
            if m.matches(left, row) and m.matches(right, row):
                first, then = left.body[0], right.body[0]
                name = m.Name(first.targets[0].target.value)
                if m.matches(then.value.args[0].value, name) and m.matches(then.targets[0].target, name):
                    found.append((then.value.func, first.value.func))
    return found


def _is_of(tree: CellTree, node: cst.CSTNode | None, classes: tuple[str, ...]) -> bool:
    """A call of one of these classes of torch."""
    if not isinstance(node, cst.Call) or _last(node.func) not in classes:
        return False
    module, _, _ = (tree.imported_as(node.func) or tree.code(node.func)).rpartition(".")
    return module in ("torch.nn", "nn")


def _last(node: cst.CSTNode) -> str:
    last = node.attr if isinstance(node, cst.Attribute) else node
    return last.value if isinstance(last, cst.Name) else ""
