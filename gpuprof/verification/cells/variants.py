"""The two things that are compared: a cell run in the user's own namespace, or a function called step by step."""

from __future__ import annotations

import ast
import linecache
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from gpuprof.errors import VariantError, VerificationError
from gpuprof.verification.cells.hooks import BlockEnd, Counted, Hooks, Listener
from gpuprof.verification.cells.quiet import quiet


class Variant(ABC):
    """One side. `run` runs it once from wherever the state is; whoever calls restores the state first."""

    name = ""

    def run(self, hooks: Hooks, listener: Listener) -> bool:
        """True where it came to its own end, False where the listener ended it.

        VariantError, with the user's exception as its cause, where it raised; KeyboardInterrupt passes on.
        """
        try:
            with quiet(), hooks.listening(listener):
                self._execute(listener)
        except BlockEnd as end:
            # its frames hold the cell's iterators, and these their workers
            end.__traceback__ = None
            return False
        except VerificationError:
            raise
        except (Exception, SystemExit) as error:
            raise VariantError(f"{self.name} raised {type(error).__name__}: {error}") from error
        return True

    @abstractmethod
    def _execute(self, listener: Listener) -> None: ...


class CellVariant(Variant):
    """The source of a cell, already turned into plain Python."""

    def __init__(self, name: str, source: str, namespace: dict[str, Any]):
        self.name = name
        self._namespace = namespace
        filename = f"<gpuprof: {name}>"
        # for tracebacks, and for those who compile a function from its source
        linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
        self._code = compile(_without_profiles(ast.parse(source)), filename, "exec")

    def _execute(self, listener: Listener) -> None:
        exec(self._code, self._namespace)


class CallVariant(Variant):
    """A function: each call is a step, what it returns is the loss. It is called until the listener ends it."""

    def __init__(self, name: str, function: Callable[[], Any]):
        self.name = name
        self._function = function

    def _execute(self, listener: Listener) -> None:
        count = 0
        while True:
            listener.returned(self._function())
            count += 1
            listener.stepped(Counted.CALL, count)


def _without_profiles(tree: ast.Module) -> ast.Module:
    """`with gpuprof.profile():` would record while we measure; its body runs without it."""
    changed: ast.Module = _Unprofiled().visit(tree)
    return ast.fix_missing_locations(changed)


class _Unprofiled(ast.NodeTransformer):
    def visit_With(self, node: ast.With) -> Any:
        self.generic_visit(node)
        node.items = [item for item in node.items if not _is_profile(item.context_expr)]
        return node if node.items else node.body


def _is_profile(call: ast.expr) -> bool:
    return isinstance(call, ast.Call) and ast.unparse(call.func) in ("gpuprof.profile", "profile")
