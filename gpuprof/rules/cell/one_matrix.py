"""Which calls of a text solve one system after the other with a matrix that stays the same."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.rules.cell.calls_in_functions import Function, FunctionsOfText, own_calls
from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.cell.known_calls import imported
from gpuprof.rules.cell.repeatable import Repeatable
from gpuprof.rules.cell.unchanged_calls import changing_names

_DENSE = (
    "Factorize it once, before the loop (`factors = scipy.linalg.lu_factor(A)`, `cho_factor` where it is symmetric and "
    "positive definite), and solve with `lu_solve(factors, b)` (`cho_solve`); or hand over all right sides together, "
    "as columns."
)
_SPARSE = (
    "Factorize it once, before the loop (`factors = scipy.sparse.linalg.splu(A.tocsc())`), and solve with "
    "`factors.solve(b)`."
)
_LEAST_SQUARES = (
    "Factorize it once, before the loop (`q, r = np.linalg.qr(A)`), and solve with `scipy.linalg.solve_triangular(r, "
    "q.T @ b)`; or hand over all right sides together, as columns."
)
_SOLVERS = {
    "numpy.linalg.solve": _DENSE,
    "scipy.linalg.solve": _DENSE,
    "numpy.linalg.lstsq": _LEAST_SQUARES,
    "scipy.linalg.lstsq": _LEAST_SQUARES,
    "scipy.sparse.linalg.spsolve": _SPARSE,
}
# what another cell of the notebook may have imported
_USUAL = {"np": "numpy", "numpy": "numpy", "scipy": "scipy", "spsolve": "scipy.sparse.linalg.spsolve"}


class SameMatrix(NamedTuple):
    """`call` on the lines `first` to `last` factorizes `matrix` each time; `advice`: what does it once."""

    first: int
    last: int
    call: ast.Call
    matrix: str
    sparse: bool
    advice: str


@lru_cache(maxsize=16)
def solved_with_one_matrix(source: str) -> tuple[SameMatrix, ...]:
    """Of calls in loops, and in functions that loops run. Empty where the text is not Python."""
    tree = parsed(source)
    if tree is None:
        return ()
    try:
        return tuple({id(each.call): each for each in _of_tree(tree)}.values())
    except RecursionError:  # an expression of a thousand terms
        return ()


def _of_tree(tree: ast.Module) -> Iterator[SameMatrix]:
    known, modules = Repeatable(tree), _USUAL | imported(tree)
    for loop in ast.walk(tree):
        if isinstance(loop, ast.For):
            changing = changing_names(loop, known)
            for each in _solvers(loop.body, modules):
                if not known.reads(each.call.args[0]) & changing:
                    yield each
    text = FunctionsOfText(tree, known)
    for function, owner in text.functions():
        if text.loop_around(function.name, 0) is not None:
            for each in _solvers(function.body, modules):
                if _is_the_same(text, function, owner, each.call.args[0]):
                    yield each


def _is_the_same(text: FunctionsOfText, function: Function, owner: ast.ClassDef | None, matrix: ast.expr) -> bool:
    """Whether each call of the function reads the same there."""
    mine, same = text.given_in(function), text.same_arguments(function, owner)
    for name in text.known.reads(matrix):
        if name not in mine:
            if not text.is_constant(name):
                return False
        elif name not in same and text.steady_attributes(matrix, name, owner) is None:
            return False
    return True


def _solvers(body: list[ast.stmt], modules: dict[str, str]) -> Iterator[SameMatrix]:
    """The calls that solve a system, whether its matrix changes or not."""
    for call in own_calls(body):
        name = dotted(call.func)
        root = name.partition(".")[0]
        advice = _SOLVERS.get(modules.get(root, "") + name[len(root) :])
        matrix = dotted(call.args[0]) if call.args else ""
        if advice is not None and matrix:
            yield SameMatrix(call.lineno, call.end_lineno or call.lineno, call, matrix, advice is _SPARSE, advice)
