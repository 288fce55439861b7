"""`in` on a list that is one item of a larger container: `history = seen[user]`, then `while item in history`.

The list is another one each time, so nothing says that it is searched again; the container is the same one. A set of
each item can be made once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gpuprof.analyses.accounts.host_work import WorkLine
from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.model.operands import Operand
from gpuprof.rules.cell.cell_bindings import dotted

# loops: in a single one each list may be searched only once, and a set of it would take longer
_AGAIN = 2
# a shorter list is gone through in the time of a call
_LONG = 64
_LISTS = ("builtins.list", "builtins.tuple", "collections.deque")
_BY_KEY = ("builtins.dict", "collections.defaultdict", "collections.OrderedDict")
_BY_PLACE = ("builtins.list", "builtins.tuple")
_TAKES = ("get", "setdefault")
_SCOPES = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class SearchedItem:
    """`over`: the list; `advice`: what to make of the container that it is taken out of."""

    over: Operand
    advice: str


def searched_item(line: WorkLine, nodes: Sequence[ast.AST], source: str) -> SearchedItem | None:
    """The search of such a list on this line; `nodes` of its statement, in `source`."""
    if line.depth < _AGAIN:
        return None
    seen = {each.name: each for each in line.operands if not each.callable}
    for node in nodes:
        if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], ast.In | ast.NotIn):
            continue
        right = node.comparators[0]
        over = seen.get(right.id) if isinstance(right, ast.Name) else None
        if over is None or over.same or over.kind not in _LISTS or (over.most or 0) < _LONG:
            continue
        holder = _holder(source, line.line, over.name, seen)
        if holder is not None:
            return SearchedItem(over, _advice(holder))
    return None


def _holder(source: str, line: int, name: str, seen: dict[str, Operand]) -> Operand | None:
    """What the name's values are all taken out of: the same object throughout; None where that is not so."""
    values = list(_values(source, line, name))
    holders = [seen.get(_taken_from(each)) for each in values]
    first = holders[0] if holders else None
    if first is None or not first.same or any(each is not first for each in holders):
        return None
    return first if first.kind in (*_BY_KEY, *_BY_PLACE) else None


def _values(source: str, line: int, name: str) -> Iterator[ast.expr | None]:
    """What the name is given in the function that has this line, else in the whole text; None for what is no plain
    assignment."""
    tree = parsed(source)
    if tree is None:
        return
    functions = [each for each in ast.walk(tree) if isinstance(each, _SCOPES)]
    around = [each for each in functions if each.lineno <= line <= (each.end_lineno or each.lineno)]
    scope = max(around, key=lambda each: each.lineno, default=tree)
    plain = dict[int, ast.expr]()
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            plain[id(node.targets[0])] = node.value
    for node in ast.walk(scope):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
            yield plain.get(id(node))
        elif isinstance(node, ast.arg) and node.arg == name:
            yield None


def _taken_from(value: ast.expr | None) -> str:
    """`seen` of `seen[user]` and `seen.get(user, ())`; empty for anything else."""
    if isinstance(value, ast.Subscript) and not isinstance(value.slice, ast.Slice):
        return dotted(value.value)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _TAKES:
        return dotted(value.func.value)
    return ""


def _advice(holder: Operand) -> str:
    name = holder.name
    sets = f"{{key: set(each) for key, each in {name}.items()}}"
    if holder.kind in _BY_PLACE:
        sets = f"[set(each) for each in {name}]"
    return (
        f"Make a set of each list in `{name}` once, before the loop (`known = {sets}`), and search that instead. If a "
        "list grows in the loop, add each new item to its set too. Keep the lists where their order matters."
    )
