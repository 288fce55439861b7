"""Which threads belong to what is measured: those that it starts. Others (the notebook's, the user's) go on as ever."""

from __future__ import annotations

import concurrent.futures.thread
import ctypes
import threading
import time

from gpuprof.verification.effects.effect import StoppedEffect

_TO_END_S = 0.5


class StartedThreads:
    """Made on the thread that measures."""

    def __init__(self) -> None:
        mine = threading.current_thread()
        # a thread that Python did not start runs a backward pass, or the like, for whoever waits for it
        self._others = {
            each for each in threading.enumerate() if each is not mine and not isinstance(each, threading._DummyThread)
        }
        self._users: dict[threading.Thread, str] = {}

    def is_others(self, ident: int) -> bool:
        """Whether it ran before, or was started by one that did."""
        return _thread(ident) in self._others

    def start(self, thread: threading.Thread, where: str | None) -> None:
        """The running thread is about to start it; `where` in code of the user's, None for a library's own."""
        if self.is_others(threading.get_ident()):
            self._others.add(thread)
        elif where is not None:
            self._users[thread] = where

    def started_in(self, ident: int) -> str | None:
        """Where code of the user's has started it; None of any other."""
        thread = _thread(ident)
        return None if thread is None else self._users.get(thread)

    def end_left(self, wait_s: float, *, pools: bool = False) -> list[str]:
        """End those of the user's code that go on, and say where they were started.

        Threads of a pool wait for more work as long as the cell's variables hold it: only with `pools` these count.
        """
        until, left = time.monotonic() + wait_s, []
        for thread, where in list(self._users.items()):
            if _is_of_pool(thread) and not pools:
                continue
            if thread.is_alive():
                thread.join(max(until - time.monotonic(), 0.0))
            if thread.is_alive():
                left.append(where)
                _end(thread)
            del self._users[thread]
        return left


def _thread(ident: int) -> threading.Thread | None:
    # current_thread() would make an object for every thread that Python did not start
    return threading._active.get(ident)  # type: ignore[attr-defined,no-any-return]


def _is_of_pool(thread: threading.Thread) -> bool:
    return getattr(thread, "_target", None) is concurrent.futures.thread._worker


def _end(thread: threading.Thread) -> None:
    """Raise StoppedEffect in it, as soon as it runs Python code again."""
    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(StoppedEffect))
        thread.join(_TO_END_S)
