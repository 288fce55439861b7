"""Notes the processes that a cell starts to do its work: `mp.spawn`, `notebook_launcher`, `torchrun`, a script.

Nothing of them is in the recording, which is of one process. Workers of a DataLoader are none of them.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import time
from collections.abc import Callable, Iterator
from multiprocessing.process import BaseProcess
from pathlib import PurePath
from typing import Any

from gpuprof.capture.base.own_processes import OWN
from gpuprof.capture.base.signal import Signal, WatchedCell
from gpuprof.capture.base.tracebacks import leave_out
from gpuprof.capture.process.child_list import ChildList
from gpuprof.model.context import StartedProcess
from gpuprof.units import NS_PER_S

_EVERY_S = 0.5
_MOST_PROCESSES = 256
_MOST_WORDS, _MOST_LETTERS = 8, 80
# of a process's arguments: in each level, and levels
_MOST_VALUES, _MOST_LEVELS = 50, 4
_OF_LOADER = "torch.utils.data."
# they call a function of the user's that they are given
_LAUNCHERS = ("torch.multiprocessing.", "torch.distributed.", "accelerate.")


class ChildrenWatch(Signal):
    """From `begin` to `end`: `BaseProcess.start` tells what a process is for, two looks a second what it computes."""

    field = "started_processes"

    def __init__(self, cell: WatchedCell | None = None):
        super().__init__(cell)
        self._names: dict[int, str] = {}
        self._short_named: set[int] = set()  # by the program alone: no arguments can be read while it starts
        self._others: set[int] = set()  # workers of loaders, and what was there before
        self._cpu_ns: dict[int, int] = {}
        self._list: ChildList | None = None
        self._known: dict[int, Any] = {}
        self._read_at = 0.0
        self._original: Callable[..., None] | None = None
        self._installed: Callable[..., None] | None = None

    def begin(self) -> None:
        """Wrap `start`."""
        self._list = ChildList()
        self._others = set(self._list.read())
        self._original = start = BaseProcess.start

        @functools.wraps(start)
        def started(process: BaseProcess) -> None:
            of_loader, name = _told(process)  # before `start` takes the function away
            try:
                start(process)
            except BaseException as error:
                leave_out(error)
                raise
            if process.pid is not None and of_loader:
                self._others.add(process.pid)
            elif process.pid is not None:
                self._names[process.pid] = name

        self._installed = started
        BaseProcess.start = started  # type: ignore[method-assign,assignment]

    def tick(self, resident_bytes: int) -> None:
        """Read what each has computed."""
        if self._list is None or time.monotonic() - self._read_at < _EVERY_S:
            return
        import psutil

        self._read_at = time.monotonic()
        with contextlib.suppress(psutil.Error, OSError):
            self._known = self._list.read(self._known)
            for pid, process in self._known.items():
                if pid not in OWN and pid not in self._others and len(self._names) < _MOST_PROCESSES:
                    self._read(pid, process)

    def end(self) -> None:
        """Put multiprocessing's own method back, unless somebody has wrapped ours meanwhile."""
        if self._installed is not None and BaseProcess.start is self._installed:
            BaseProcess.start = self._original  # type: ignore[method-assign,assignment]
        if self._list is not None:
            self._list.close()
        self._installed = self._list = None

    def facts(self) -> tuple[StartedProcess, ...]:
        """One for each name, the busiest first."""
        found = dict[str, list[int]]()
        for pid, name in self._names.items():
            found.setdefault(name, []).append(self._cpu_ns.get(pid, 0))
        made = (StartedProcess(name=name, count=len(each), cpu_ns=sum(each)) for name, each in found.items())
        return tuple(sorted(made, key=lambda each: -each.cpu_ns))

    def _read(self, pid: int, process: Any) -> None:
        import psutil

        with contextlib.suppress(psutil.Error):  # it has ended
            if pid not in self._names or pid in self._short_named:
                self._name(pid, process)
            if pid in self._others:
                return
            times = process.cpu_times()
            spent = times.user + times.system + times.children_user + times.children_system
            spent += sum(sum(each.cpu_times()[:2]) for each in process.children(recursive=True))
            self._cpu_ns[pid] = max(self._cpu_ns.get(pid, 0), int(spent * NS_PER_S))

    def _name(self, pid: int, process: Any) -> None:
        words = process.cmdline()
        if any("multiprocessing" in each or "joblib" in each for each in words):
            self._others.add(pid)  # a helper of multiprocessing
            self._names.pop(pid, None)
            return
        self._names[pid] = _command(words) or process.name()
        (self._short_named.discard if words else self._short_named.add)(pid)


def _told(process: BaseProcess) -> tuple[bool, str]:
    """Whether it is a worker of a DataLoader, and the name of what it runs: of a launcher the function that it was
    given."""
    kind = type(process).__name__
    try:
        target = getattr(process, "_target", None)
        function = next(_functions((target, getattr(process, "_args", ())), _MOST_LEVELS), target)
        name = getattr(function, "__qualname__", "")
        of_loader = str(getattr(function, "__module__", "")).startswith(_OF_LOADER)
        return of_loader, name if isinstance(name, str) and name else kind
    except Exception:  # noqa: BLE001  - the arguments are the user's objects and may do anything: the process must start
        return False, kind


def _functions(values: Any, levels: int) -> Iterator[object]:
    """Those that are not of a launcher, in so many levels of arguments."""
    for each in itertools.islice(values, _MOST_VALUES):
        if type(each) in (tuple, list):
            if levels:
                yield from _functions(each, levels - 1)
        elif callable(each) and not str(getattr(each, "__module__", "")).startswith(_LAUNCHERS):
            yield each
        elif callable(launcher := getattr(each, "launcher", None)):  # Accelerate's, which sets the environment first
            yield launcher


def _command(words: list[str]) -> str:
    """`python -m torch.distributed.run SCRIPT`, without folders."""
    short = [PurePath(each).name if "/" in each else each for each in words[:_MOST_WORDS]]
    return " ".join(short)[:_MOST_LETTERS]
