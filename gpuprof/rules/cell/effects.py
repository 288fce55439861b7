"""Whether a statement of a text may change something else than its own variables."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.cell.known_calls import is_mode
from gpuprof.rules.cell.pure_calls import words

_Function = ast.FunctionDef | ast.AsyncFunctionDef
# what changes something else than its result: a model, an iterator, a file, what somebody reads
_EFFECTS = words(
    """
    add append backward display dump extend fit load_state_dict log next partial_fit pop print push put save seed show
    step train update write zero_grad
    """
)
# what makes a new tensor, array or table: to change that changes nothing else
_MAKERS = words(
    """
    clone copy empty empty_like full full_like new_empty new_full new_ones new_zeros ones ones_like zeros zeros_like
    """
)
# they give a seed, and seed nothing
_SEEDS_READ = ("initial_seed", "get_seed")
_DEEPEST = 4
_NUMERIC = ("torch", "np", "numpy", "math", "jnp")


def has_effects(node: ast.AST, functions: Mapping[str, _Function], depth: int = 0) -> bool:
    """Whether it, or what it calls of the text, may change more than its own variables."""
    own = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)}
    for each in ast.walk(node):
        if isinstance(each, ast.Global | ast.Nonlocal | ast.Yield | ast.YieldFrom | ast.Await | ast.NamedExpr):
            return True
        if (
            isinstance(each, ast.Attribute | ast.Subscript)
            and not isinstance(each.ctx, ast.Load)
            and _root(each) not in own
        ):
            return True
        if not isinstance(each, ast.Call):
            continue
        name = each.func.attr if isinstance(each.func, ast.Attribute) else dotted(each.func)
        inside = isinstance(each.func, ast.Attribute) and (_root(each.func) in own or _just_made(each.func.value))
        if name in _EFFECTS and not inside and not is_mode(each, node) and not _is_logarithm(each):
            return True
        if _changes_in_place(each, name):
            return True
        called = functions.get(dotted(each.func))
        if (
            called is not None
            and called is not node
            and (depth == _DEEPEST or has_effects(called, functions, depth + 1))
        ):
            return True
    return False


def seeds(called: str, sources: Iterable[str]) -> bool:
    """Whether the function of that name in these texts, or what it calls of them, seeds generators of random numbers
    that others use, too: `torch.manual_seed(0)`, `set_seed(0)`. A generator of its own, and `random_state=0`, are
    nobody else's."""
    functions = dict[str, _Function]()
    for source in sources:
        tree = parsed(source)
        found = (each for each in ast.walk(tree) if isinstance(each, _Function)) if tree is not None else ()
        functions |= {each.name: each for each in found}
    waiting, seen = [called.rpartition(".")[2]], set[str]()
    while waiting:
        name = waiting.pop()
        if _seeds(name):
            return True
        function = functions.get(name)
        if function is None or name in seen:
            continue
        seen.add(name)
        names = (each for each in ast.walk(function) if isinstance(each, ast.Name))
        own = {each.id for each in names if not isinstance(each.ctx, ast.Load)}
        own |= {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
        calls = [dotted(each.func) for each in ast.walk(function) if isinstance(each, ast.Call)]
        waiting += [each.rpartition(".")[2] for each in calls if each and each.partition(".")[0] not in own]
    return False


def _seeds(name: str) -> bool:
    return name not in _SEEDS_READ and (name.startswith("seed") or name.endswith(("seed", "seed_all", "set_rng_state")))


def _is_logarithm(call: ast.Call) -> bool:
    """`x.log()` and `np.log(x)`; what a logger logs is an argument."""
    name, _, function = dotted(call.func).rpartition(".")
    is_log = isinstance(call.func, ast.Attribute) and call.func.attr == "log"
    return is_log and (not (call.args or call.keywords) or (function == "log" and name in _NUMERIC))


def _changes_in_place(call: ast.Call, name: str) -> bool:
    """`clip_grad_norm_(…)`, `x.mul_(2)`, `out=x`, `inplace=True`: it changes what it is given, and that may be known
    by another name, too."""
    if any(each.arg == "out" and not _is_off(each.value) for each in call.keywords):
        return True
    by_name = name.endswith("_") and not name.endswith("__") and name != "_"
    changes = by_name or any(each.arg == "inplace" and not _is_off(each.value) for each in call.keywords)
    return changes and not (isinstance(call.func, ast.Attribute) and _just_made(call.func.value))


def _is_off(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and not value.value


def _just_made(node: ast.expr) -> bool:
    """Whether it has just been made: `KNNImputer(5)` of `KNNImputer(5).fit(x)`, `torch.zeros(9)`, `x.clone()`."""
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else dotted(node.func)
    return name in _MAKERS or dotted(node.func).rpartition(".")[2][:1].isupper()


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
