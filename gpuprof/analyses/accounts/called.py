"""The name of what a line called."""

from __future__ import annotations

import ast
from collections.abc import Collection

import numpy as np

from gpuprof.analyses.lines.statements import expressions_at
from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.model.context import SampledStacks
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_FUNCTIONS = 1_000_000  # more than any run has: file and function in one number
_MOST_OF_IT = 0.5
_DEFINED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
# they take no time: what they give may, later
_NONE = {"enumerate", "items", "keys", "len", "range", "values", "zip"}
# beside another call they take no time
_QUICK = {"append", "float", "int", "str", "tuple"}
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
    if _imports(stacks, chosen):
        return _import(stacks, paths, spent), share
    return _named(stacks, chosen), share


def called_by_text(source: str, line: int, below: Collection[str]) -> str:
    """The one call on a line that can take what no function of Python was seen in: one that is built in, or of
    compiled code, such as `torch.FloatTensor(rows)`. By its full name, as far as the text imports it; empty where there
    is no such call, or more than one. `below`: functions that were seen below the line."""
    tree = parsed(source)
    defined = {node.name for node in (ast.walk(tree) if tree else ()) if isinstance(node, _DEFINED)}
    seen = {each.rpartition(".")[2] for each in below} | defined
    calls = [node for node in expressions_at(source, line) if isinstance(node, ast.Call)]
    names = [_dotted(each.func) for each in calls if _last(each.func) not in seen and not _takes_no_time(each)]
    names = [each for each in names if each.rpartition(".")[2] not in _QUICK] or names
    # what a variable holds, such as a model, is code of Python's, which has lines of its own
    if len(names) > 1:
        given = _given_a_value(tree)
        names = [each for each in names if each not in given] or names
    return _imported(tree, names[0]) if tree is not None and len(names) == 1 else ""


def _takes_no_time(call: ast.Call) -> bool:
    """So that an operator or an assignment on the line does: `scores[row, item] = float("-inf")`."""
    name = _last(call.func)
    given = all(isinstance(each, ast.Constant) for each in call.args)
    return name in _NONE or (name in _QUICK and isinstance(call.func, ast.Name) and given)


def _given_a_value(tree: ast.Module | None) -> set[str]:
    stores = (node for node in (ast.walk(tree) if tree else ()) if isinstance(node, ast.Name))
    return {node.id for node in stores if isinstance(node.ctx, ast.Store)}


def functions_below(trace: Trace, stacks: SampledStacks, node: Array, own: Array) -> set[str]:
    """The names of all functions between the user's line and these leaves."""
    return {each for leaf in np.unique(node).tolist() for each in path_below(trace, stacks, leaf, int(own[leaf]))}


def path_below(trace: Trace, stacks: SampledStacks, leaf: int, own: int) -> list[str]:
    """The names of the functions between the user's line and that leaf, outermost first."""
    return [stacks.functions[each % _FUNCTIONS] for each in _path_below(trace, leaf, own)]


def _dotted(node: ast.expr) -> str:
    """`torch.FloatTensor`; of `x[0].tolist` the last part."""
    if isinstance(node, ast.Attribute):
        before = _dotted(node.value) if isinstance(node.value, ast.Name | ast.Attribute) else ""
        return f"{before}.{node.attr}" if before else node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _last(node: ast.expr) -> str:
    return _dotted(node).rpartition(".")[2]


def _imported(tree: ast.Module, name: str) -> str:
    """With the module that its first part stands for: `numpy.array` of `np.array`."""
    first, _, rest = name.partition(".")
    for node in ast.walk(tree):
        for each in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
            if (each.asname or each.name) == first:
                within = f"{node.module}." if isinstance(node, ast.ImportFrom) and node.module else ""
                return ".".join(part for part in (f"{within}{each.name}", rest) if part)
    return name


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
    function = stacks.functions[key % _FUNCTIONS]
    # a module's own code runs when it is imported
    return f"import of {_module(stacks, key)}" if function == "<module>" else f"{_module(stacks, key)}.{function}"


def _module(stacks: SampledStacks, key: int) -> str:
    name = stacks.files[key // _FUNCTIONS].filename.replace("\\", "/").removesuffix(".py").removesuffix("/__init__")
    return name.replace("/", ".")


def _imports(stacks: SampledStacks, key: int) -> bool:
    return key >= 0 and stacks.files[key // _FUNCTIONS].filename.startswith("<frozen importlib")


def _import(stacks: SampledStacks, paths: list[list[int]], spent: Array) -> str:
    """`import of torch._dynamo`: the first module that most of that time went to; `import` where there is none."""
    held = dict[str, float]()
    for path, ns in zip(paths, spent.tolist(), strict=True):
        begun = next((place for place, key in enumerate(path) if _imports(stacks, key)), len(path))
        first = next((key for key in path[begun:] if not _imports(stacks, key)), None)
        if first is not None:
            held[_module(stacks, first)] = held.get(_module(stacks, first), 0.0) + ns
    most = max(held, key=lambda each: held[each], default="")
    return f"import of {most}" if most and held[most] >= _MOST_OF_IT * float(spent.sum()) else "import"
