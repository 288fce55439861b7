"""An audit hook that is awake while a change is measured: it stops what would act on the world, and remembers it.

Python cannot take an audit hook out again. It is added when something is measured for the first time, and asleep
whenever nothing is.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from gpuprof.verification.effects.doors import doors_guarded
from gpuprof.verification.effects.effect import Effect, EffectKind, StoppedEffect
from gpuprof.verification.effects.events import JUDGED
from gpuprof.verification.effects.places import LEFT_BEHIND, cache_folders, place
from gpuprof.verification.effects.threads import StartedThreads

_HOW_TO_ALLOW = (
    "it was stopped, since a measurement would repeat it; leave it out of the cell, or measure all the same with "
    "--allow-effects (gpuprof.verify: allow_effects=True)"
)
_THREAD = Effect("starts a thread that goes on when the cell has ended", EffectKind.OTHER, direct=True)
_FOR_THREADS_S = 0.5
_awake: EffectWatch | None = None
_added = False


class EffectWatch:
    """Whose effects are stopped: the thread that made it, threads and processes that this one starts, not others."""

    def __init__(self, namespaces: Iterable[dict[str, Any]], report: Path, *, in_worker: bool = False):
        self._namespaces, self._report = list(namespaces), report
        self._process = None if in_worker else os.getpid()
        self._caches = cache_folders()
        self._busy: set[int] = set()
        self._stopped: list[str] = []
        self.threads = StartedThreads()

    @property
    def stopped(self) -> str | None:
        """The first effect that was stopped in this process, as one line for the user."""
        return self._stopped[0] if self._stopped else None

    def saw(self, event: str, args: tuple[Any, ...]) -> None:
        """An audit event; StoppedEffect where it must not happen."""
        ident = threading.get_ident()
        if ident in self._busy or self.threads.is_others(ident):
            return
        self._busy.add(ident)
        try:
            effect = _judged(event, args)
            if effect is not None:
                self._stop(effect, sys._getframe(1).f_back)
        finally:
            self._busy.discard(ident)

    def met(self, effect: Effect | None) -> None:
        """Something that no event tells is about to happen."""
        ident = threading.get_ident()
        if effect is None or ident in self._busy or self.threads.is_others(ident):
            return
        self._busy.add(ident)
        try:
            self._stop(effect, sys._getframe(1))
        finally:
            self._busy.discard(ident)

    def starts(self, thread: threading.Thread) -> None:
        """A thread is about to be started."""
        self.threads.start(thread, place(sys._getframe(1), _THREAD, self._namespaces, self._caches))

    def run_ended(self, wait_s: float = _FOR_THREADS_S, *, pools: bool = False) -> None:
        """Collect what worker processes have reported, and end the threads that the run has left."""
        with contextlib.suppress(OSError):
            self._stopped += self._report.read_text(encoding="utf-8").splitlines()
        for where in self.threads.end_left(wait_s, pools=pools):
            self._stopped.append(f"{where} {_THREAD.what}: {_HOW_TO_ALLOW}")

    def _stop(self, effect: Effect, frame: FrameType | None) -> None:
        where = place(frame, effect, self._namespaces, self._caches)
        if where is None:
            return
        if (started := self.threads.started_in(threading.get_ident())) is not None:
            thread = f"the thread that {started} starts"
            where = thread if where is LEFT_BEHIND else f"{where} in {thread},"
        in_worker = os.getpid() != self._process
        line = f"{where}{' in a worker process' if in_worker else ''} {effect.what}: {_HOW_TO_ALLOW}"
        self._stopped.append(line)
        if in_worker:
            with self._report.open("a", encoding="utf-8") as report:
                report.write(f"{line}\n")
        raise StoppedEffect(line)


@contextlib.contextmanager
def watched(namespaces: Iterable[dict[str, Any]]) -> Iterator[EffectWatch]:
    """Stop the effects of what this thread runs inside the block, and of what that starts."""
    gc.collect()  # what earlier cells have left to be deleted is deleted as they meant it
    with tempfile.TemporaryDirectory(prefix="gpuprof-") as folder, contextlib.ExitStack() as stack:
        watch = EffectWatch(namespaces, Path(folder) / "stopped")
        stack.enter_context(_silent())
        stack.enter_context(doors_guarded(watch))
        stack.enter_context(_workers_watched(Path(folder) / "stopped"))
        stack.enter_context(_hook_awake(watch))
        yield watch


@contextlib.contextmanager
def _hook_awake(watch: EffectWatch) -> Iterator[None]:
    global _awake, _added
    if not _added:
        sys.addaudithook(_hook)
        _added = True
    _awake = watch
    try:
        yield
    finally:
        _awake = None


def _hook(event: str, args: tuple[Any, ...]) -> None:
    watch = _awake
    if watch is not None and event in JUDGED:
        watch.saw(event, args)


def _judged(event: str, args: tuple[Any, ...]) -> Effect | None:
    try:
        return JUDGED[event](*args)
    except Exception:  # noqa: BLE001 - arguments of another kind than expected: what cannot be judged is asked for
        return Effect(f"does what cannot be judged ({event})", EffectKind.OTHER)


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """What is stopped in `__del__` or in a thread is reported by us, in one line."""
    kept = sys.unraisablehook, threading.excepthook

    def unraisable(unraised: Any) -> None:
        if unraised.exc_type is not StoppedEffect:
            kept[0](unraised)

    def in_thread(args: Any) -> None:
        if args.exc_type is not StoppedEffect:
            kept[1](args)

    sys.unraisablehook, threading.excepthook = unraisable, in_thread
    try:
        yield
    finally:
        sys.unraisablehook, threading.excepthook = kept


@contextlib.contextmanager
def _workers_watched(report: Path) -> Iterator[None]:
    """A worker that is no fork of this process has no hook yet."""
    from torch.utils.data._utils import worker

    loop = worker._worker_loop
    worker._worker_loop = _WatchedLoop(loop, str(report))  # type: ignore[assignment]
    try:
        yield
    finally:
        worker._worker_loop = loop


@dataclass(frozen=True)
class _WatchedLoop:
    """What a DataLoader's worker runs; also one that gets it pickled."""

    loop: Callable[..., None]
    report: str

    def __reduce__(self) -> Any:
        # pickle would look for the loop under a name where this object stands
        return _watched_loop, (self.report,)

    def __call__(self, *args: Any) -> None:
        try:
            if _awake is not None:
                self.loop(*args)
                return
            watch = EffectWatch([], Path(self.report), in_worker=True)
            with doors_guarded(watch), _hook_awake(watch):
                self.loop(*args)
        except StoppedEffect:
            raise SystemExit(1) from None  # without a traceback: the report says it


def _watched_loop(report: str) -> _WatchedLoop:
    from torch.utils.data._utils.worker import _worker_loop

    return _WatchedLoop(_worker_loop, report)
