"""The notebook door: `%%gpuprofile`, `%gpufix`, `%gputry`, `%gputune`, `%gpuexplain`, `%gpuhistory`."""

from __future__ import annotations

from typing import Any

from gpuprof.magics.cell_events import CellEvents
from gpuprof.magics.commands import MAGICS, register

_EVENTS = ("pre_run_cell", "post_run_cell")
# one entry a shell: tests and embedded shells make several in one process
_loaded: dict[int, CellEvents] = {}


def load(shell: Any) -> None:
    """Register everything with this shell; for `%load_ext gpuprof`."""
    unload(shell)
    events = CellEvents(shell)
    _loaded[id(shell)] = events
    shell.input_transformers_cleanup.append(events.transformer)
    for name in _EVENTS:
        shell.events.register(name, getattr(events, name))
    register(shell, events)
    events.warm_up.begin()


def unload(shell: Any) -> None:
    """Undo `load`; for `%unload_ext gpuprof`. Nothing happens where it was not loaded."""
    events = _loaded.pop(id(shell), None)
    if events is None:
        return
    events.close()
    if events.transformer in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.remove(events.transformer)
    for name in _EVENTS:
        if getattr(events, name) in shell.events.callbacks[name]:
            shell.events.unregister(name, getattr(events, name))
    for kind, name in MAGICS:
        shell.magics_manager.magics[kind].pop(name, None)
