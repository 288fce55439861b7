"""The notebook door: `%%gpuprofile`, `%gpufix`, `%gputry`, `%gputune`, `%gpuexplain`, `%gpuhistory`, `%gpuprof`."""

from __future__ import annotations

from typing import Any

from gpuprof.magics.cell_events import CellEvents
from gpuprof.magics.commands import MAGICS, register
from gpuprof.magics.hints import Hints

_EVENTS = ("pre_run_cell", "post_run_cell")
# one entry a shell: tests and embedded shells make several in one process
_loaded: dict[int, tuple[CellEvents, Hints]] = {}


def load(shell: Any) -> None:
    """Register everything with this shell; for `%load_ext gpuprof`."""
    unload(shell)
    events, hints = CellEvents(shell), Hints(shell)
    _loaded[id(shell)] = (events, hints)
    shell.input_transformers_cleanup.append(events.transformer)
    for name in _EVENTS:
        for each in (events, hints):
            shell.events.register(name, getattr(each, name))
    register(shell, events, hints)
    events.warm_up.begin()


def unload(shell: Any) -> None:
    """Undo `load`; for `%unload_ext gpuprof`. Nothing happens where it was not loaded."""
    events, hints = _loaded.pop(id(shell), (None, None))
    if events is None or hints is None:
        return
    events.close()
    hints.close()
    if events.transformer in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.remove(events.transformer)
    for name in _EVENTS:
        for callback in (getattr(events, name), getattr(hints, name)):
            if callback in shell.events.callbacks[name]:
                shell.events.unregister(name, callback)
    for kind, name in MAGICS:
        shell.magics_manager.magics[kind].pop(name, None)
