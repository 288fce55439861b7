"""Plays a pair: its setup, then one of its variants, as two cells of a notebook, plain or under `%%gpuprofile`."""

from __future__ import annotations

import contextlib
import gc
import linecache
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace
from typing import Any, Protocol

from benchmarks.proving.pair import Pair, PairError
from gpuprof.run import Run

# The magic's own line stands above the cell: findings count it, labels do not.
LINES_ABOVE = 1


@dataclass(frozen=True)
class Played:
    """What playing a variant gave: the wall clock of its cell, its losses, and the run where it was profiled."""

    seconds: float
    losses: tuple[float, ...]
    run: Run | None = field(default=None, repr=False)


class Notebook(Protocol):
    """Where cells run. `namespace` is that of the notebook's user."""

    namespace: dict[str, Any]

    def run(self, source: str) -> None:
        """Run a cell; what it raises is passed on."""

    def profile(self, source: str, arguments: str) -> Run:
        """Run a cell under `%%gpuprofile` with these arguments."""


def play(pair: Pair, variant: str, size: str, device: str, *, arguments: str | None = None) -> Played:
    """Run setup and one variant of the pair; under `%%gpuprofile` with `arguments` where they are given.

    PairError where the variant or size is unknown. What a cell raises is passed on.
    """
    if variant not in pair.variants:
        raise PairError(f"{pair.name} has no variant {variant!r}; it has {', '.join(pair.variants)}")
    with notebook() as cells:
        cells.namespace.update(globals_of(pair, size, device))
        cells.run(pair.setup)
        source = pair.variants[variant].source
        began = time.perf_counter()
        run = None
        if arguments is None:
            cells.run(source)
        else:
            run = cells.profile(source, arguments)
        seconds = time.perf_counter() - began
        return Played(seconds, losses_of(cells.namespace), run)


def globals_of(pair: Pair, size: str, device: str) -> dict[str, Any]:
    """The names that a pair's cells are given: `device` and `size`."""
    if size not in pair.sizes:
        raise PairError(f"{pair.name} has no size {size!r}; it has {', '.join(pair.sizes)}")
    return {"device": device, "size": SimpleNamespace(**pair.sizes[size])}


def losses_of(namespace: dict[str, Any]) -> tuple[float, ...]:
    """The cell's `losses`, else its last `loss`, as numbers; empty where it leaves neither."""
    if isinstance(losses := namespace.get("losses"), list | tuple):
        return tuple(_number(loss) for loss in losses)
    return (_number(namespace["loss"]),) if "loss" in namespace else ()


def _number(loss: Any) -> float:
    return float(loss.detach() if hasattr(loss, "detach") else loss)


@contextlib.contextmanager
def notebook() -> Iterator[Notebook]:
    """A fresh notebook: IPython's own shell, or, on a machine without IPython, the plain interpreter."""
    # the first optimizer of a process imports the compiler, for seconds: a notebook that has trained before has it
    import torch._dynamo

    torch.compiler.reset()
    main = sys.modules["__main__"]
    cells: Notebook = Shell() if find_spec("IPython") else Interpreter()
    try:
        yield cells
    finally:
        sys.modules["__main__"] = main
        # names with underscores are IPython's and the compiler's, which clean up after themselves
        for name in [name for name in cells.namespace if not name.startswith("_")]:
            del cells.namespace[name]
        gc.collect()


class Shell:
    """IPython's shell with gpuprof loaded."""

    def __init__(self) -> None:
        from IPython.core.interactiveshell import InteractiveShell
        from traitlets.config import Config

        config = Config()
        config.HistoryManager.enabled = False
        self._shell = InteractiveShell(config=config)
        self._shell.run_line_magic("load_ext", "gpuprof")
        self.namespace = self._shell.user_ns

    def run(self, source: str) -> None:
        self._shell.run_cell(source, store_history=True).raise_error()

    def profile(self, source: str, arguments: str) -> Run:
        self.run(f"%%gpuprofile --quiet --into _proved {arguments}\n{source}")
        run = self.namespace.pop("_proved", None)
        if not isinstance(run, Run):
            raise PairError("the cell was not profiled; the notice above says why")
        return run


class Interpreter:
    """Cells without IPython, for a machine that lacks it."""

    def __init__(self) -> None:
        module = ModuleType("__main__")
        sys.modules["__main__"] = module
        self.namespace = vars(module)
        self._cells = 0

    def run(self, source: str) -> None:
        self._execute(source, self._named(source))

    def profile(self, source: str, arguments: str) -> Run:
        from gpuprof.capture.base.options import CaptureOptions
        from gpuprof.capture.session.session import Session
        from gpuprof.model.context import Cell

        flags: dict[str, Any] = {name.removeprefix("--").replace("-", "_"): True for name in arguments.split()}
        source = f"# %%gpuprofile {arguments}\n{source}"
        name = self._named(source)
        session = Session(CaptureOptions(**flags), cell=Cell(source=source, filename=name), namespace=self.namespace)
        session.start()
        try:
            self._execute(source, name)
        except BaseException as error:
            session.stop(error)
            raise
        return Run._from_captured(session.stop())

    def _named(self, source: str) -> str:
        self._cells += 1
        name = f"<cell {self._cells}>"
        # inspect and torch.compile look the source up
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        return name

    def _execute(self, source: str, name: str) -> None:
        exec(compile(source, name, "exec"), self.namespace)
