"""Distributions that are made again with the same matrix, in the cell's own names."""

from __future__ import annotations

import ast

from gpuprof.analyses.loops.written_loops import parsed

_NORMAL, _COVARIANCE = "MultivariateNormal", "covariance_matrix"
_SECOND = 1  # argument of it, without its name


def covariance_at(source: str, line: int) -> str:
    """`K` of `MultivariateNormal(mean, covariance_matrix=K)` in that line; empty where the text says none."""
    tree = parsed(source)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or node.lineno):
            given = _given(node)
            if given is not None and ast.unparse(node.func).rpartition(".")[2] == _NORMAL:
                return ast.unparse(given)
    return ""


def _given(call: ast.Call) -> ast.expr | None:
    named = next((each.value for each in call.keywords if each.arg == _COVARIANCE), None)
    return named or (call.args[_SECOND] if len(call.args) > _SECOND else None)
