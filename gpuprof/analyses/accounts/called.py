"""The name of what a line called."""

from __future__ import annotations

import numpy as np

from gpuprof.model.context import SampledStacks
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_FUNCTIONS = 1_000_000  # more than any run has: file and function in one number
_MOST_OF_IT = 0.5
_WRAPPERS = ("wrapper", "decorate_context", "inner", "wrapped")


def called(trace: Trace, stacks: SampledStacks, node: Array, spent: Array, own: Array) -> tuple[str, float]:
    """The library's function that took most of the line's time: from the first one down, past wrappers, as long as one
    function holds half of the time; and its share of that time, 0..1. Empty for the line's own code."""
    leaves, of_leaf = np.unique(node, return_inverse=True)
    distinct = [_path_below(trace, leaf, int(own[leaf])) for leaf in leaves.tolist()]
    paths = [distinct[row] for row in of_leaf.reshape(-1).tolist()]
    chosen, level, whole, share = -1, 0, float(spent.sum()), 0.0
    while level == 0 or _is_wrapper(stacks.functions[chosen % _FUNCTIONS]):
        held = dict[int, float]()
        for path, ns in zip(paths, spent.tolist(), strict=True):
            if not level or (len(path) >= level and path[level - 1] == chosen):
                key = path[level] if level < len(path) else -1
                held[key] = held.get(key, 0.0) + ns
        most = max(held, key=lambda each: held[each])
        if most < 0 or (level and held[most] < _MOST_OF_IT * whole):
            break
        chosen, level, share = most, level + 1, held[most] / whole if whole else 0.0
    return _named(stacks, chosen), share


def _path_below(trace: Trace, leaf: int, own: int) -> list[int]:
    """The functions between the user's line and the leaf, outermost first."""
    nodes, path, here = trace.stack_nodes, list[int](), leaf
    while here >= 0 and here != own:
        path.append(int(nodes["sampled_file"][here]) * _FUNCTIONS + int(nodes["function"][here]))
        here = int(nodes["parent"][here])
    return path[::-1]


def _is_wrapper(function: str) -> bool:
    bare = function.rsplit(".", 1)[-1]
    return bare.startswith("_") or "<locals>" in function or bare in _WRAPPERS


def _named(stacks: SampledStacks, key: int) -> str:
    if key < 0:
        return ""
    file, function = divmod(key, _FUNCTIONS)
    if stacks.files[file].filename.startswith("<frozen importlib"):
        return "import"
    package = stacks.files[file].filename.replace("\\", "/").removesuffix(".py").removesuffix("/__init__")
    return f"{package.replace('/', '.')}.{stacks.functions[function]}"
