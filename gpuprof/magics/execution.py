"""Compiling and executing cells the way IPython does, where its own machinery is not the one that runs them."""

from __future__ import annotations

import ast
import warnings
from typing import Any

from gpuprof.magics.messages import InterruptedStartError


def compiles(shell: Any, transformed: str) -> bool:
    """Whether IPython will run this code. Where it will not, it shows the user's syntax error and nothing runs.

    Statement by statement, as IPython compiles: `return` at the top level is found, a late `__future__` import passes.
    """
    flags = shell.compile.flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        with warnings.catch_warnings():
            # IPython compiles the same code again and shows them then
            warnings.simplefilter("ignore")
            for statement in ast.parse(transformed).body:
                compile(ast.Module([statement], []), "<gpuprof>", "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError, OverflowError, TypeError, MemoryError, RecursionError):
        return False
    return True


def execute(shell: Any, source: str, body: str) -> Any:
    """Run the body of a cell magic in the user's namespace; returns the value of a last expression, else None.

    `source` is the body below its magic line, for line numbers and tracebacks.
    """
    __tracebackhide__ = True
    shift = source.count("\n") - body.count("\n")
    transformed = "#\n" * shift + shell.transform_cell(body)
    name = shell.compile.cache(transformed, shell.execution_count, raw_code=source)
    tree = shell.transform_ast(shell.compile.ast_parse(transformed, filename=name))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(shell.compile(tree, name, "exec"), shell.user_ns)
    return None if last is None else eval(shell.compile(ast.Expression(last.value), name, "eval"), shell.user_ns)


class Rejection:
    """An AST transformer for one cell: IPython lets these refuse a cell after `pre_run_cell`, which no event can."""

    def __init__(self, shell: Any, reason: str):
        self._transformers: list[Any] = shell.ast_transformers
        self._reason = reason
        self._transformers.append(self)

    def visit(self, node: ast.AST) -> ast.AST:
        """Refuse this cell, and only this one."""
        self._transformers.remove(self)
        raise InterruptedStartError(self._reason)
