"""Compiling and executing cells the way IPython does, where its own machinery is not the one that runs them."""

from __future__ import annotations

import ast
import warnings
from itertools import takewhile
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


class Body:
    """The body of a cell magic, ready to run. SyntaxError where the user's code has one.

    `source` is the body below its magic line, for line numbers and tracebacks; `filename` what they call it.
    """

    def __init__(self, shell: Any, source: str, body: str):
        __tracebackhide__ = True
        self._shell = shell
        # IPython drops empty lines at the top
        shift = source.count("\n") - body.count("\n") + len(list(takewhile(str.isspace, body.splitlines(True))))
        transformed = "#\n" * shift + shell.transform_cell(body)
        self.filename = str(shell.compile.cache(transformed, shell.execution_count, raw_code=source))
        self._tree = shell.compile.ast_parse(transformed, filename=self.filename)

    def execute(self) -> Any:
        """Run it in the user's namespace; returns the value of a last expression, else None."""
        __tracebackhide__ = True
        shell, name = self._shell, self.filename
        tree = shell.transform_ast(self._tree)
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
