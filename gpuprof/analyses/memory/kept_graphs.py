"""Which lines of the cell keep losses together with their autograd graphs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model.trace import Trace

_MAGIC = re.compile(r"^(\s*)[%!].*$", re.MULTILINE)
_COLLECTS = {"append", "add", "insert", "appendleft"}
_COMPUTES_LOSS = re.compile(r"(?:loss|loss_fn|criterion|cross_entropy(?:_with_logits)?)$", re.IGNORECASE)
_WITHOUT_GRAPH = ("no_grad", "inference_mode")
_FILLS = _COLLECTS | {"extend", "update", "setdefault", "put"}
_FEW = 2
# held before the end
_EARLIER = ("frame", "peak")
_EACH_SHARE = 0.9


@dataclass(frozen=True)
class KeptGraphs(Result):
    """`lines` (1-based, of the cell) put a loss into something that outlives the step, without `.detach()` or
    `.item()`: a loss is what `.backward()` is called on in the same loop; in a sum that lives on beside that, also
    what a function named for a loss (`cross_entropy`, `criterion`) returns. `containers`: their names.

    `holders` maps a name of the notebook to how many tensors with a graph it held at the end (two or more); those that
    are not in `containers` are filled elsewhere. `filling`: the lines that put anything into a holder in a loop. Empty
    where the source or the notebook is not known.
    """

    lines: tuple[int, ...]
    containers: tuple[str, ...]
    holders: dict[str, int]
    filling: tuple[int, ...] = ()

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the cell's source, and from what the notebook held at its end."""
        cell = trace.context.cell
        found = sorted(set(_keepers(cell.source))) if cell else []
        held = trace.context.held or ()
        holders = {each.name: each.graphs for each in held if each.graphs >= _FEW and each.kind not in _EARLIER}
        known = [(line, name) for line, name in found if name.partition(".")[0] in holders]
        chosen = known or found
        return cls(
            lines=tuple(line for line, _ in chosen),
            containers=tuple(dict.fromkeys(name for _, name in chosen)),
            holders=holders,
            filling=tuple(sorted(set(filling_lines(cell.source, set(holders))))) if cell and holders else (),
        )

    def keeping_each(self, steps: int) -> dict[str, int]:
        """The holders with about as many tensors as there were steps (nine in ten), so that each step left one."""
        return {name: number for name, number in self.holders.items() if steps and number >= _EACH_SHARE * steps}


def _loops(source: str) -> Iterator[list[ast.AST]]:
    """For each loop what is inside it."""
    try:
        # magic lines are not Python, but lines must keep their numbers
        tree = ast.parse(_MAGIC.sub(r"\1pass", source))
    except (SyntaxError, ValueError, RecursionError):
        return
    for loop in ast.walk(tree):
        if isinstance(loop, ast.For | ast.While | ast.AsyncFor):
            yield [node for statement in loop.body for node in ast.walk(statement)]


def filling_lines(source: str, names: set[str]) -> Iterator[int]:
    """The lines of `held.append(x)`, `held += [x]` and `held[key] = x` in loops, where `names` has `held`."""
    for node in (node for inside in _loops(source) for node in inside):
        target = filled_in(node)
        if target is not None and ast.unparse(target).partition(".")[0].partition("[")[0] in names:
            yield node.lineno  # type: ignore[attr-defined]


def summing_lines(source: str, name: str) -> Iterator[int]:
    """The lines of `name += x` and `name = name + x` in loops."""
    for node in (node for inside in _loops(source) for node in inside):
        if _adds(node, name):
            yield node.lineno  # type: ignore[attr-defined]


def _adds(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.AugAssign):
        return isinstance(node.op, ast.Add) and _name(node.target) == name
    if not isinstance(node, ast.Assign) or _name(node.targets[0]) != name or not isinstance(node.value, ast.BinOp):
        return False
    return isinstance(node.value.op, ast.Add) and name in (_name(node.value.left), _name(node.value.right))


def filled_in(node: ast.AST) -> ast.expr | None:
    """What the node puts something into: `held` of `held.append(x)`, `held += [x]`, `held[key] = x`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _FILLS:
        return node.func.value
    if isinstance(node, ast.AugAssign):
        return node.target
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        return node.targets[0].value
    return None


def _keepers(source: str) -> Iterator[tuple[int, str]]:
    for inside in _loops(source):
        losses = {name for node in inside for name in _goes_backward(node)}
        bare = {id(node) for outer in inside if _records_no_graph(outer) for node in ast.walk(outer)}
        fresh = {ast.unparse(each) for node in inside if isinstance(node, ast.Assign) for each in node.targets}
        for node in inside:
            container = _kept_in(node, losses)
            if not container and losses and id(node) not in bare:
                container = _summed_in(node, losses | fresh)
            if container:
                yield node.lineno, container  # type: ignore[attr-defined]


def _goes_backward(node: ast.AST) -> Iterator[str]:
    """The names in `x` of `x.backward()`, such as `loss`, or `scaler` and `loss` in `scaler.scale(loss)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "backward":
        for inner in ast.walk(node.func.value):
            if isinstance(inner, ast.Name):
                yield inner.id


def _kept_in(node: ast.AST, losses: set[str]) -> str:
    """What the node adds a loss to, as it is written; empty where it does not."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and _is_loss(node.value, losses):
        return "" if _name(node.target) in losses else ast.unparse(node.target)
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) and isinstance(node.value.op, ast.Add):
        target, sides = ast.unparse(node.targets[0]), (node.value.left, node.value.right)
        adds = any(ast.unparse(side) == target for side in sides) and any(_is_loss(side, losses) for side in sides)
        return target if adds and target not in losses else ""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _COLLECTS:
        return ast.unparse(node.func.value) if any(_is_loss(each, losses) for each in node.args) else ""
    return ""


def _summed_in(node: ast.AST, passing: set[str]) -> str:
    """What a loss is added to where it is computed, unless the target is `passing`: made anew in each turn."""
    if not (isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and isinstance(node.value, ast.Call)):
        return ""
    called, target = node.value.func, ast.unparse(node.target)
    name = called.attr if isinstance(called, ast.Attribute) else _name(called)
    return target if _COMPUTES_LOSS.search(name) and target not in passing else ""


def _records_no_graph(node: ast.AST) -> bool:
    return isinstance(node, ast.With) and any(
        name in ast.unparse(item.context_expr) for item in node.items for name in _WITHOUT_GRAPH
    )


def _is_loss(node: ast.expr, losses: set[str]) -> bool:
    if isinstance(node, ast.Tuple | ast.List):
        return any(_is_loss(each, losses) for each in node.elts)
    return _name(node) in losses


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""
