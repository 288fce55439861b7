"""Decompositions by NumPy and SciPy of which only the values, or only the first few vectors, are used."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.cell.used_part import Usage, usages

# Measured with one thread, of 300 to 800 columns: values alone, or ten vectors, take 1/2.3 to 1/2.9 of all of them.
TIMES_AS_LONG = 2
_OF_SYMMETRIC, _OF_ANY = "eigh", "svd"
_OUTPUTS = {_OF_SYMMETRIC: 2, _OF_ANY: 3}
_ASKED = frozenset({"compute_uv", "eigvals_only", "subset_by_index", "subset_by_value", "hermitian"})


def partly_used(source: str, nodes: Sequence[ast.AST]) -> Iterator[tuple[ast.Call, str, str]]:
    """Each call of `eigh` or `svd` in that statement that makes more than is read: with a title (`{call}` stands for
    its name) and what to do. `nodes`: of `parsed(source)`."""
    for node in nodes:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call) or len(node.targets) != 1:
            continue
        call, target = node.value, node.targets[0]
        name = dotted(call.func).rpartition(".")[2]
        if not dotted(call.func).endswith(f"linalg.{name}") or name not in _OUTPUTS or _is_asked(call):
            continue
        if dotted(call.func).startswith("torch.") or not isinstance(target, ast.Tuple):
            continue
        used = usages(source, node)
        if len(used) == _OUTPUTS[name]:
            yield from ((call, *words) for words in _words(name, used))


def _is_asked(call: ast.Call) -> bool:
    return not _ASKED.isdisjoint(each.arg for each in call.keywords)


def _words(name: str, used: Sequence[Usage]) -> Iterator[tuple[str, str]]:
    values, vectors = (used[0], used[1:]) if name == _OF_SYMMETRIC else (used[1], (used[0], used[2]))
    if all(each is Usage.NONE for each in vectors):
        if values is Usage.NONE:
            return  # a later cell may read anything of it
        instead = "`np.linalg.eigvalsh(A)`" if name == _OF_SYMMETRIC else "`np.linalg.svd(A, compute_uv=False)`"
        yield "`{call}` computes vectors that are not used", f"Compute the values alone: {instead}."
    elif all(each is not Usage.ALL for each in used):
        instead = (
            "`scipy.linalg.eigh(A, subset_by_index=[n - k, n - 1])`, or `scipy.sparse.linalg.eigsh(A, k)` where k is "
            "small"
            if name == _OF_SYMMETRIC
            else "`scipy.sparse.linalg.svds(A, k)`, or `sklearn.utils.extmath.randomized_svd(A, k)`; signs and order "
            "of the vectors may differ"
        )
        yield "`{call}` computes all vectors, but only the first few are used", f"Compute the few: {instead}."
