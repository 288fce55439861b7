"""What only the text of a cell shows: it awaits, or resets a device below everything that could stop it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gpuprof.errors import VerificationError

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_AWAITING = (ast.Await, ast.AsyncFor, ast.AsyncWith)
# the device would forget all that the user's variables hold; Python is not told of these calls
_RESETS = frozenset({"cudaDeviceReset", "cuDevicePrimaryCtxReset", "hipDeviceReset", "deviceReset"})


def refuse_awaiting(source: str) -> None:
    """VerificationError where a cell awaits: it runs in a notebook's event loop only."""
    for node in _outside_functions(ast.parse(source)):
        if isinstance(node, _AWAITING):
            raise VerificationError(
                f"line {node.lineno} of the cell awaits, which runs in a notebook only; leave that out of the cell, or "
                "measure two functions with gpuprof.verify(a, b)"
            )


def refuse_resets(source: str) -> None:
    """VerificationError where a cell names what takes all memory from a device."""
    for node in ast.walk(ast.parse(source)):
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        if name in _RESETS and isinstance(node, ast.expr):
            raise VerificationError(
                f"line {node.lineno} of the cell names {name}, which takes from your variables what they hold on the "
                "GPU; leave it out of the cell, or measure all the same with --allow-effects (gpuprof.verify: "
                "allow_effects=True)"
            )


def _outside_functions(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        yield node
        if not isinstance(node, _FUNCTIONS):
            yield from _outside_functions(node)
