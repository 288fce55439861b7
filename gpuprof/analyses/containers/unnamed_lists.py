"""Names for lists that were still being filled when they were seen: those to which the text then binds them."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.model.memory import UNNAMED, HeldTensors

_MAKERS = {"list", "tuple"}
_MODULE = "<module>"


@dataclass(frozen=True)
class FilledList:
    """The variable `name` to which a statement that begins at `line` (1-based) binds a list; of `function`, or of the
    cell."""

    name: str
    function: str | None
    line: int


def with_names(held: Sequence[HeldTensors], sources: Mapping[str, str]) -> tuple[HeldTensors, ...]:
    """What names hold, with lists that had none as `parts in embed()`. Those for which the text has none are left out,
    and so are those of results with graphs: whether they are needed shows when the list has its name."""
    found = []
    for each in held:
        if each.name != UNNAMED:
            found.append(each)
            continue
        known = _bound(each, sources)
        if known is not None and not each.graphs:
            name = f"{known.name} in {known.function}()" if known.function else known.name
            kind = "frame" if known.function else "peak"
            found.append(msgspec.structs.replace(each, name=name, kind=kind))
    return tuple(found)


def _bound(row: HeldTensors, sources: Mapping[str, str]) -> FilledList | None:
    for function, line in row.filling:
        for source in sources.values():
            for scope in _scopes(source, function):
                known = _at(scope, line)
                if known is not None:
                    name, begins = known
                    return FilledList(name, None if function == _MODULE else function, begins)
    return None


def _scopes(source: str, function: str) -> list[ast.AST]:
    tree = parsed(source)
    if tree is None or function == _MODULE:
        return [tree] if tree else []
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == function]


def _at(scope: ast.AST, line: int) -> tuple[str, int] | None:
    """The name and the line of `name = [… for …]`, `name = f([… for …])` or `name = list(…)` around that line."""
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign) and node.lineno <= line <= (node.end_lineno or node.lineno):
            target = node.targets[0]
            if isinstance(target, ast.Name) and any(map(_makes_list, ast.walk(node.value))):
                return target.id, node.lineno
    return None


def _makes_list(node: ast.AST) -> bool:
    return isinstance(node, ast.ListComp) or (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _MAKERS
    )
