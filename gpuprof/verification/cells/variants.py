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
from gpuprof.verification.effects.effect import StoppedEffect


class Variant(ABC):
    """One side. `run` runs it once from wherever the state is; whoever calls restores the state first."""

    name = ""

    def run(self, hooks: Hooks, listener: Listener) -> bool:
        """True where it came to its own end, False where the listener ended it.

        VariantError, with the user's exception as its cause, where it raised; VerificationError where it would have
        acted on the world; KeyboardInterrupt passes on.
        """
        raised: BaseException | None = None
        try:
            with quiet():
                try:
                    with hooks.listening(listener):
                        self._execute(listener)
                except (BlockEnd, StoppedEffect) as end:
                    # its frames hold the cell's iterators, and these their workers
                    end.__traceback__ = None
                    raised = end
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the cell's own; it is raised again below
            raised = error
        finally:
            if hooks.watch is not None:
                hooks.watch.run_ended()
        if hooks.watch is not None and hooks.watch.stopped is not None:
            raise VerificationError(hooks.watch.stopped) from None
        if raised is None or isinstance(raised, BlockEnd):
            return raised is None
        if isinstance(raised, VerificationError):
            raise raised
        raise VariantError(f"{self.name} raised {type(raised).__name__}: {raised}") from raised

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
