"""Imports what the first report needs while the kernel has nothing to do.

Never while a cell runs, and on the kernel's own thread: imports that two threads make at a time can meet half-made
modules, the user's among them. Where the first profiled cell comes sooner, what its verdict needs is imported before
it starts. torch is never imported here.
"""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

_FIRST_S = 0.3
# half of the time at most, in slices that nobody notices who sends a cell
_SLICE_S, _BETWEEN_S = 0.02, 0.02
_VERDICT = ("gpuprof.profiling", "gpuprof.views.text", "gpuprof.views.run_card")
_REST = (
    "gpuprof.views.dashboard.live_card",
    "gpuprof.views.notebook_report.bundle",
    "gpuprof.views.html.page",
    "gpuprof.views.timeline.widget",
    "gpuprof.views.dashboard",
    "matplotlib.style",
    "matplotlib.figure",
    "matplotlib.backends.backend_agg",
)


class WarmUp:
    """`busy` says whether a cell is running: while one awaits something, the kernel's loop goes on."""

    def __init__(self, shell: Any, busy: Callable[[], bool]):
        self._loop = getattr(getattr(shell, "kernel", None), "io_loop", None)
        self._busy = busy
        self._names = _names()
        self._verdict_ready = False

    def begin(self) -> None:
        """Start in a moment, in a kernel; elsewhere nothing happens."""
        if self._loop is not None:
            self._loop.call_later(_FIRST_S, self._slice)

    def end(self) -> None:
        """Import nothing more."""
        self._loop = None

    def finish_verdict(self) -> None:
        """Import now what no verdict can do without."""
        if not self._verdict_ready:
            for name in (*_VERDICT, *_below("gpuprof.rules")):
                _bring(name)
            self._verdict_ready = True

    def _slice(self) -> None:
        if self._loop is None or threading.current_thread() is not threading.main_thread():
            return
        until = time.monotonic() + _SLICE_S
        while not self._busy() and time.monotonic() < until:
            name = next(self._names, None)
            if name is None:
                return
            _bring(name)
        self._loop.call_later(_BETWEEN_S, self._slice)


def _names() -> Iterator[str]:
    yield from _VERDICT
    yield from _below("gpuprof.rules")
    yield from _below("gpuprof.code_edits")
    yield from _REST


def _below(package: str) -> Iterator[str]:
    found = importlib.import_module(package)
    return (each.name for each in pkgutil.walk_packages(found.__path__, f"{package}."))


def _bring(name: str) -> None:
    with contextlib.suppress(ImportError):  # whoever needs it says so
        importlib.import_module(name)
