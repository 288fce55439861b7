"""Where a cell makes the DataLoader that one of its lines reads."""

from __future__ import annotations

import ast

from gpuprof.analyses.loops.written_loops import parsed

_PASSING_ON = ("enumerate", "tqdm", "trange", "iter", "list", "zip")
_Loop = ast.For | ast.AsyncFor | ast.comprehension


def loader_made_at(source: str, line: int) -> int:
    """The line of `loader = DataLoader(...)`, where line `line` goes over `loader`; 0 where the text does not say."""
    tree = parsed(source)
    if tree is None:
        return 0
    loops = [node for node in ast.walk(tree) if isinstance(node, _Loop) and node.iter.lineno == line]
    names = {name for loop in loops for name in _names(loop.iter)}
    made = {
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _is_loader(node.value)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id in names
    }
    return made.pop() if len(made) == 1 else 0


def _names(node: ast.expr) -> list[str]:
    """`loader` of `tqdm(enumerate(loader))`."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in _PASSING_ON:
        return [name for each in node.args for name in _names(each)]
    return []


def _is_loader(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith("DataLoader")
