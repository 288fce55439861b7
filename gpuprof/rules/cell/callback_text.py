"""What the text says of a function that a library calls back: whether a call of it is short."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.cell.pure_calls import words

Callback = ast.FunctionDef | ast.Lambda
_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_PLAIN = (
    *(ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Subscript),
    *(ast.Attribute, ast.Return, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.If, ast.Pass, ast.Tuple),
    *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context, ast.arguments, ast.arg, ast.keyword),
)
_MODULES = ("math", "np", "numpy", "cmath")
_BUILTINS = words("abs bool complex float int max min pow round")
_ELEMENTWISE = words(
    """
    abs absolute add arccos arcsin arctan arctan2 ceil clip cos cosh deg2rad degrees divide exp expm1 floor fmax fmin
    fmod hypot isfinite isinf isnan log log10 log1p log2 logical_and logical_not logical_or maximum minimum mod multiply
    power rad2deg radians rint round sign sin sinh sqrt square subtract tan tanh trunc where
    """
)
_OF_GROUPS = words(
    """
    agg all any astype bfill corr count cov cummax cummin cumprod cumsum diff ffill fillna first head idxmax idxmin
    iloc kurt last max mean median min nlargest notna nsmallest nunique pct_change prod quantile rank reset_index sem
    shift size skew std sum tail to_numpy transform unique value_counts var
    """
)
_PACKS = frozenset({"pd.Series", "pandas.Series", "Series"})
_MISSING = frozenset({"pd.isna", "pd.isnull", "pd.notna", "pd.notnull"})
# each call of these is work enough
_LONG_WORK = words(
    """
    curve_fit fit fit_predict fit_transform fmin least_squares linprog lstsq minimize minimize_scalar odeint open quad
    read read_csv root root_scalar brentq sleep solve solve_ivp
    """
)
_DEEPEST = 3


@dataclass(frozen=True)
class CallbackText:
    """`arguments`: its names for what it is given. `is_arithmetic`: it only computes with single numbers, and
    packs them for a row. `is_straight`: it has no loop of its own, and calls nothing that is known to be long.
    `is_built_in`: it only calls
    what pandas and NumPy do for whole columns and groups as well."""

    arguments: tuple[str, ...]
    is_arithmetic: bool
    is_straight: bool
    is_built_in: bool


def callback_text(source: str, name: str, line: int) -> CallbackText | None:
    """Of the function with that (qualified) name around that line; of several on one line what holds for all of them.
    None where the text is not known."""
    tree = parsed(source)
    found = _callbacks(tree, name, line) if tree is not None else []
    if tree is None or not found:
        return None
    functions = {each.name: each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)}
    try:
        return CallbackText(
            arguments=tuple(dict.fromkeys(name for each in found for name in _arguments(each))),
            is_arithmetic=all(_is_arithmetic(each, functions) for each in found),
            is_straight=all(_is_straight(each, functions) for each in found),
            is_built_in=all(_is_built_in(each) for each in found),
        )
    except RecursionError:  # an expression of a thousand terms
        return None


def _callbacks(tree: ast.Module, name: str, line: int) -> list[Callback]:
    bare = name.rpartition(".")[2]
    kind = ast.Lambda if bare == "<lambda>" else ast.FunctionDef
    around = [each for each in ast.walk(tree) if isinstance(each, kind) and each.lineno <= line <= _last(each)]
    return [each for each in around if isinstance(each, ast.Lambda) or each.name == bare]


def _last(node: Callback) -> int:
    return node.end_lineno or node.lineno


def _arguments(node: Callback) -> list[str]:
    given = node.args
    names = [each.arg for each in (*given.posonlyargs, *given.args)]
    return names[1:] if names[:1] == ["self"] else names


def _body(node: Callback) -> Sequence[ast.AST]:
    return [node.body] if isinstance(node, ast.Lambda) else node.body


def _is_arithmetic(callback: Callback, functions: dict[str, ast.FunctionDef], depth: int = 0) -> bool:
    given = set(_arguments(callback))
    for part in _body(callback):
        if isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant):
            continue  # a docstring
        called = {id(node.func) for node in ast.walk(part) if isinstance(node, ast.Call)}
        called |= {id(each) for node in ast.walk(part) if _packs(node) for each in node.args}
        for node in ast.walk(part):
            if isinstance(node, ast.Call):
                if not _is_elementwise(node, functions, given, depth):
                    return False
            elif isinstance(node, ast.Subscript):
                if not isinstance(node.slice, ast.Constant | ast.Name | ast.Attribute | ast.Subscript):
                    return False
            elif id(node) not in called and not isinstance(node, _PLAIN):
                return False
    return True


def _packs(node: ast.AST) -> TypeGuard[ast.Call]:
    """`pd.Series({"a": a, "b": b})`: several numbers for one row."""
    return isinstance(node, ast.Call) and dotted(node.func) in _PACKS


def _is_elementwise(call: ast.Call, functions: dict[str, ast.FunctionDef], given: set[str], depth: int) -> bool:
    name = dotted(call.func)
    root, _, rest = name.partition(".")
    if root in given:
        return False
    own = functions.get(name)
    if _packs(call):
        return True
    if own is not None:
        return depth < _DEEPEST and _is_arithmetic(own, functions, depth + 1)
    if root in _MODULES:
        return rest in _ELEMENTWISE or (root in ("math", "cmath") and bool(rest))
    # `rates.get(x, 1.0)`
    return name in _BUILTINS or name in _MISSING or (rest == "get" and bool(root))


def _is_straight(callback: Callback, functions: dict[str, ast.FunctionDef], depth: int = 0) -> bool:
    for part in _body(callback):
        for node in ast.walk(part):
            if isinstance(node, _LOOPS):
                return False
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else dotted(node.func)
            own = functions.get(dotted(node.func))
            if name in _LONG_WORK or (
                own is not None and (depth == _DEEPEST or not _is_straight(own, functions, depth + 1))
            ):
                return False
    return True


def _is_built_in(callback: Callback) -> bool:
    calls = [node for part in _body(callback) for node in ast.walk(part) if isinstance(node, ast.Call)]
    names = [each.func.attr if isinstance(each.func, ast.Attribute) else dotted(each.func) for each in calls]
    plain = all(each in _OF_GROUPS or each in _ELEMENTWISE or each in _BUILTINS for each in names)
    return plain and not any(isinstance(node, _LOOPS) for part in _body(callback) for node in ast.walk(part))
