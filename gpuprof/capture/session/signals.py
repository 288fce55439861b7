"""Finds every signal of capture's rooms, and runs them together."""

from __future__ import annotations

import contextlib
import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterable
from typing import Any

from gpuprof import capture
from gpuprof.capture.base.signal import Signal, WatchedCell

_NOT_SCANNED = "session"  # which asks for them


@functools.cache
def all_signals() -> tuple[type[Signal], ...]:
    """Every subclass of Signal, by its field."""
    rooms = [room.name for room in pkgutil.iter_modules(capture.__path__) if room.name != _NOT_SCANNED]
    packages = [importlib.import_module(f"{capture.__name__}.{room}") for room in rooms]
    names = [each.name for room in packages for each in pkgutil.iter_modules(room.__path__, f"{room.__name__}.")]
    values = [value for name in names for value in vars(importlib.import_module(name)).values()]
    kinds = {value for value in values if isinstance(value, type) and issubclass(value, Signal) and value is not Signal}
    return tuple(sorted(kinds, key=lambda kind: kind.field))


class Signals:
    """All of them for one cell."""

    def __init__(self, cell: WatchedCell, kinds: Iterable[type[Signal]] | None = None):
        self._budget = cell.budget
        self._all = [kind(cell) for kind in (all_signals() if kinds is None else kinds)]
        self._notes: list[str] = []
        # called in every iteration: only where there is something to do
        self._after_step: list[Callable[[Any, int], None]] = []
        self._before_batch: list[Callable[[], None]] = []

    def begin(self) -> None:
        """Begin each; what one raises is the session's to handle."""
        self._budget.begin()
        for signal in self._all:
            signal.begin()
        following = [each for each in self._all if each.follows_iterations]
        self._after_step = [each.after_step for each in following if _defines(each, Signal.after_step)]
        self._before_batch = [each.before_batch for each in following if _defines(each, Signal.before_batch)]

    def after_step(self, optimizer: Any, times: int) -> None:
        """Tell each of a step."""
        for after_step in self._after_step:
            after_step(optimizer, times)

    def before_batch(self) -> None:
        """Tell each that a batch is asked for."""
        for before_batch in self._before_batch:
            before_batch()

    def tick(self, resident_bytes: int) -> None:
        """Let each look at the cell, from the watching thread, with what the process holds."""
        for signal in self._all:
            signal.tick(resident_bytes)

    def pause(self) -> None:
        """Tell each that the kernel recording has ended."""
        for signal in self._all:
            signal.pause()

    def end(self, *, first: bool) -> None:
        """End those that end before the kernel recording is stopped (`first`), or the others."""
        for signal in self._all:
            if signal.ends_first is first:
                signal.end()

    def abandon(self) -> None:
        """End each; never raises."""
        for signal in self._all:
            with contextlib.suppress(Exception):
                signal.end()

    def facts(self) -> dict[str, Any]:
        """The fields of RunContext that they fill."""
        found: dict[str, Any] = {}
        for signal in self._all:
            found[signal.field] = signal.facts()
            self._notes.extend(signal.notes())
        return found

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known of the facts; after `facts`."""
        return tuple(self._notes)


def _defines(signal: Signal, method: Callable[..., None]) -> bool:
    """Whether its class has that method of its own."""
    return getattr(type(signal), method.__name__) is not method
