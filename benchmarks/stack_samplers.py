"""Which sampler of stacks charges time to the right line: a signal, a thread, py-spy, or our reader of memory.

Prints a table.

Each program is run under a stopwatch at every statement (in a copy of it), then under each sampler. A figure is the
share of the line that is farthest off, in points; the shares of all lines follow it.
"""

from __future__ import annotations

import ast
import ctypes
import random
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import torch

from gpuprof.capture.stacks.folding import StackTree
from gpuprof.capture.stacks.memory_sampler import MemorySampler
from gpuprof.capture.stacks.spy import SpySampler

HERE = str(Path(__file__).resolve())
SOURCE = Path(HERE).read_text()
PERIOD_S = 0.005
LEAST_SHARE = 0.01
Shares = dict[int, float]


def operators(seconds: float) -> None:
    """Matrix products written with `@`: no call, so that CPython does not look for signals behind them."""
    q, w = torch.randn(16, 4, 64, 64), torch.randn(64, 64)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        k = q @ w
        v = q * 2
        a = k @ q.transpose(-2, -1) * 0.1
        a = torch.softmax(a, -1)
        o = a @ v
        float((o + k).sum())


def sets(seconds: float) -> None:
    """A difference of sets and a list of it, which hold the GIL, beside torch's operators, which do not."""
    items, seen, x = set(range(20_000)), set(random.Random(0).sample(range(20_000), 100)), torch.randn(64, 64)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        left = items - seen
        several = list(left)
        y = x @ x
        torch.relu(y)
        len(several)


def arrays(seconds: float) -> None:
    """NumPy's operators, a search of a list, and a list of two."""
    a, numbers = np.random.default_rng(0).random((300, 300)), list(range(20_000))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        b = a @ a
        b + a
        19_999 in numbers  # noqa: B015
        both = numbers + numbers
        len(both)


def tiny(seconds: float) -> None:
    """Operators of a µs or two."""
    x = torch.zeros(4)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        x = x + 1
        y = x * 2
        z = torch.add(x, y)
        z.sum()


PROGRAMS = (operators, sets, arrays, tiny)


def stopwatch(program: Callable[[float], None], seconds: float) -> Shares:
    """The shares of a copy that reads the clock after every statement."""
    definition = next(
        e for e in ast.parse(SOURCE).body if isinstance(e, ast.FunctionDef) and e.name == program.__name__
    )
    definition.body = _timed(definition.body)
    spent: dict[int, int] = defaultdict(int)
    last = [0]

    def lap(line: int) -> None:
        spent[line] += time.perf_counter_ns() - last[0]
        last[0] = time.perf_counter_ns()

    namespace = {**globals(), "_lap": lap}
    module = ast.fix_missing_locations(ast.Module([definition], []))
    exec(compile(module, "copy", "exec"), namespace)
    last[0] = time.perf_counter_ns()
    namespace[program.__name__](seconds)
    return _shares({line: float(ns) for line, ns in spent.items()})


def _timed(body: list[ast.stmt]) -> list[ast.stmt]:
    timed: list[ast.stmt] = []
    for each in body:
        if isinstance(each, ast.While):
            each.body = _timed(each.body)
        timed += [each, ast.parse(f"_lap({each.lineno})").body[0]]
    return timed


class BySignal:
    """A timer of the system that signals the main thread; its handler runs when the interpreter looks for signals."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, int]] = []

    def start(self) -> None:
        class Event(ctypes.Structure):
            _fields_ = (("value", ctypes.c_void_p), ("number", ctypes.c_int), ("notify", ctypes.c_int))
            _fields_ += (("thread", ctypes.c_int), ("rest", ctypes.c_char * 44))

        self._number, self._libc, self._timer = signal.SIGRTMIN + 9, ctypes.CDLL(None), ctypes.c_void_p()
        signal.signal(self._number, lambda _, frame: self.rows.append((time.perf_counter_ns(), _line(frame))))
        signal.siginterrupt(self._number, False)
        event = Event(number=self._number, notify=4, thread=threading.get_native_id())
        self._libc.timer_create(1, ctypes.byref(event), ctypes.byref(self._timer))
        each = (ctypes.c_long * 4)(0, int(PERIOD_S * 1e9), 0, int(PERIOD_S * 1e9))
        self._libc.timer_settime(self._timer, 0, ctypes.byref(each), None)

    def stop(self) -> Shares:
        self._libc.timer_delete(self._timer)
        signal.signal(self._number, signal.SIG_IGN)  # one that waits would end the process
        signal.signal(self._number, signal.SIG_DFL)
        return _between(self.rows)


class ByThread:
    """A thread that looks whenever it gets the GIL."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, int]] = []
        self._main, self._stop = threading.get_ident(), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.wait(PERIOD_S):
            self.rows.append((time.perf_counter_ns(), _line(sys._current_frames()[self._main])))

    def stop(self) -> Shares:
        self._stop.set()
        self._thread.join()
        return _between(self.rows)


class BySpy:
    """gpuprof's own use of py-spy."""

    def __init__(self) -> None:
        self._sampler: SpySampler | MemorySampler = SpySampler()

    def start(self) -> None:
        self._sampler.start()
        time.sleep(0.5)

    def stop(self) -> Shares:
        tree, spent = StackTree(HERE), dict[int, float]()
        rows = self._sampler.finish(tree)
        print(f"{self._sampler.how}: {self._sampler.rate_hz:.0f} Hz", file=sys.stderr)
        nodes = tree.table()
        for begin, end, node in rows:
            if node >= 0 and tree.functions[nodes["function"][node]] in {each.__name__ for each in PROGRAMS}:
                line = int(nodes["line"][node])
                spent[line] = spent.get(line, 0.0) + end - begin
        return _shares(spent)


class ByMemory(BySpy):
    """gpuprof's own reader of this process's memory."""

    def __init__(self) -> None:
        self._sampler = MemorySampler()


def _line(frame: FrameType | None) -> int:
    while frame is not None and frame.f_code.co_name not in {each.__name__ for each in PROGRAMS}:
        frame = frame.f_back
    return frame.f_lineno if frame else 0


def _between(rows: list[tuple[int, int]]) -> Shares:
    spent: dict[int, float] = defaultdict(float)
    for (before, _), (now, line) in pairwise(rows):
        spent[line] += now - before
    spent.pop(0, None)
    return _shares(spent)


def _shares(spent: dict[int, float]) -> Shares:
    total = sum(spent.values()) or 1.0
    return {line: each / total for line, each in sorted(spent.items()) if each >= LEAST_SHARE * total}


def main(seconds: float = 20.0) -> None:
    """The table, as Markdown."""
    torch.set_num_threads(1)
    kinds: tuple[Any, ...] = (BySignal, ByThread, BySpy, ByMemory)
    print("| program | " + " | ".join(kind.__name__ for kind in kinds) + " |\n|---|" + "---|" * len(kinds))
    for program in PROGRAMS:
        program(0.5)
        true, cells = stopwatch(program, seconds), []
        for kind in kinds:
            sampler = kind()
            sampler.start()
            program(seconds)
            found = sampler.stop()
            off = max(abs(found.get(line, 0.0) - true.get(line, 0.0)) for line in {*found, *true})
            cells.append(f"{100 * off:.0f} points")
            print(program.__name__, kind.__name__, _round(found), "stopwatch", _round(true), file=sys.stderr)
        print(f"| {program.__name__} | " + " | ".join(cells) + " |", flush=True)


def _round(shares: Shares) -> dict[int, int]:
    return {line: round(100 * share) for line, share in shares.items()}


if __name__ == "__main__":
    main(*map(float, sys.argv[1:2]))
