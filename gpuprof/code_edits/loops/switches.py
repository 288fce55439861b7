"""Switches of torch that a cell turns on or off."""

from __future__ import annotations

import re

import libcst as cst

from gpuprof.code_edits.syntax import matching as m
from gpuprof.code_edits.syntax.statements import torch_at_head
from gpuprof.code_edits.syntax.tree import CellTree, Changes

_ON = "torch.backends.cudnn.benchmark = True"
# who speaks of these has decided already
_DECIDED = re.compile(r"cudnn\s*\.\s*(?:benchmark|deterministic|flags)|use_deterministic_algorithms")
_THREADS = "set_num_threads"
_FLUSHING = "set_flush_denormal"
_ANOMALY = ("set_detect_anomaly", "detect_anomaly")


def try_out_convolutions(source: str) -> str | None:
    """`torch.backends.cudnn.benchmark = True` before the cell's own statements.

    None where the cell says something of that setting, or asks for deterministic results.
    """
    tree = None if _DECIDED.search(source) else CellTree.of(source)
    changes = torch_at_head(tree, _ON) if tree else None
    return tree.changed(changes) if tree and changes else None


def set_threads(source: str, count: int) -> str | None:
    """`torch.set_num_threads(count)` before the cell's own statements, or in the one plain call it has."""
    tree = CellTree.of(source)
    if tree is None:
        return None
    calls = tree.all(m.Call(m.Name(_THREADS) | m.Attribute(attr=m.Name(_THREADS))))
    if calls:
        plain = len(calls) == 1 and m.matches(calls[0], m.Call(args=[m.Arg(m.Integer(), keyword=None)]))
        return tree.changed({calls[0].args[0].value: lambda _: cst.Integer(str(count))}) if plain else None
    changes = torch_at_head(tree, f"torch.{_THREADS}({count})")
    return tree.changed(changes) if changes else None


def flush_subnormals(source: str) -> str | None:
    """`torch.set_flush_denormal(True)` before the cell's own statements; None where the cell says something of it."""
    tree = None if _FLUSHING in source else CellTree.of(source)
    changes = torch_at_head(tree, f"torch.{_FLUSHING}(True)") if tree else None
    return tree.changed(changes) if tree and changes else None


def leave_anomaly_mode(source: str) -> str | None:
    """Anomaly detection off where the cell switches it on.

    `False` instead of `True`, so that a mode which is on already in the kernel ends as well. None where the cell has
    several such calls, or one whose argument is no plain `True`.
    """
    tree = CellTree.of(source)
    names = m.OneOf(*(m.Name(each) for each in _ANOMALY))
    calls = tree.all(m.Call(names | m.Attribute(attr=names))) if tree else []
    if tree is None or len(calls) != 1:
        return None
    call = calls[0]
    last = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
    if last.value == _ANOMALY[0]:
        plain = m.matches(call, m.Call(args=[m.Arg(m.Name("True")), m.ZeroOrMore()]))
        off: Changes = {call.args[0].value: lambda _: cst.Name("False")} if plain else {}
        return tree.changed(off)
    if not isinstance(call.func, cst.Attribute):
        return None  # what else its module offers is not imported
    inside = call.func.with_changes(attr=cst.Name(_ANOMALY[0]))
    return tree.changed({call: lambda made: made.with_changes(func=inside, args=[cst.Arg(cst.Name("False"))])})
