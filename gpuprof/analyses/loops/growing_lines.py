"""Which lines of the cell make a tensor longer in each turn of a loop."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model.trace import Trace

_MAGIC = re.compile(r"^(\s*)[%!].*$", re.MULTILINE)
_JOINS = ("cat", "concat", "concatenate", "vstack", "hstack", "dstack", "column_stack")
_NOT_TORCH = ("np", "numpy", "jnp", "pd", "tf")
_SIZES = ("shape", "size", "numel", "ndim", "device", "dtype")
_Loop = ast.For | ast.While | ast.AsyncFor
_Other = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef


@dataclass(frozen=True)
class GrowingLines(Result):
    """Statements such as `v = torch.cat([v, x])` in a loop of the cell, by their line (1-based).

    `lines`: nothing else in that loop reads `v` (its size apart), so that it need not be whole before the loop ends.
    `read`: something does. Both empty where the source is not known.
    """

    lines: tuple[int, ...]
    read: tuple[int, ...]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the cell's source."""
        cell = trace.context.cell
        found = dict(_growing(cell.source)) if cell else {}
        return cls(
            lines=tuple(sorted(line for line, read in found.items() if not read)),
            read=tuple(sorted(line for line, read in found.items() if read)),
        )


def _growing(source: str) -> Iterator[tuple[int, bool]]:
    """Each such line, and whether the loop reads the tensor elsewhere."""
    try:
        # magic lines are not Python, but lines must keep their numbers
        tree = ast.parse(_MAGIC.sub(r"\1pass", source))
    except (SyntaxError, ValueError, RecursionError):
        return
    for loop in (node for node in ast.walk(tree) if isinstance(node, _Loop)):
        repeated = [*loop.body, *([loop.test] if isinstance(loop, ast.While) else [])]
        inside = [node for each in repeated for node in ast.walk(each)]
        for node in (node for each in loop.body for node in _of_this_loop(each)):
            joined = _joined_to_itself(node)
            if joined is not None:
                yield node.lineno, _reads(inside, joined)  # type: ignore[attr-defined]


def _of_this_loop(node: ast.AST) -> Iterator[ast.AST]:
    """The node and what is in it, but for the bodies of other loops and functions."""
    if isinstance(node, _Loop | _Other):
        return
    yield node
    for inner in ast.iter_child_nodes(node):
        yield from _of_this_loop(inner)


def _joined_to_itself(node: ast.AST) -> ast.expr | None:
    """`v` in the list of `v = torch.cat([v, x])`, or of `v = x if v is None else torch.cat([v, x])`."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return None
    value, target = node.value, ast.unparse(node.targets[0])
    values = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
    return next((v for call in values if isinstance(call, ast.Call) and (v := _in_list(call, target))), None)


def _in_list(call: ast.Call, target: str) -> ast.expr | None:
    name, _, last = ast.unparse(call.func).rpartition(".")
    first = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "tensors"), None)
    if last not in _JOINS or name.split(".")[0] in _NOT_TORCH or not isinstance(first, ast.List | ast.Tuple):
        return None
    same = [each for each in first.elts if ast.unparse(each) == target]
    return same[0] if len(same) == 1 and len(first.elts) > 1 else None


def _reads(inside: list[ast.AST], joined: ast.expr) -> bool:
    """Whether any of the nodes reads what `joined` is, beside it."""
    text = ast.unparse(joined)
    harmless = {id(joined), *(id(part) for node in inside for part in _asked_for_its_size(node))}
    return any(
        ast.unparse(node) == text and id(node) not in harmless
        for node in inside
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Load)
    )


def _asked_for_its_size(node: ast.AST) -> Iterator[ast.AST]:
    """`v` in `v.shape`, `len(v)` and `v is None`."""
    if isinstance(node, ast.Attribute) and node.attr in _SIZES:
        yield node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len":
        yield from node.args
    if isinstance(node, ast.Compare) and all(isinstance(each, ast.Is | ast.IsNot) for each in node.ops):
        yield node.left
