"""A measurement with everything put back afterwards: the heap, the process, torch's hooks, and effects stopped."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

from gpuprof.capture.base import exclusive_session
from gpuprof.capture.session.interrupts import interrupts_held
from gpuprof.errors import VerificationError
from gpuprof.verification.cells.hooks import Hooks
from gpuprof.verification.effects.watch import EffectWatch, watched
from gpuprof.verification.state.snapshot import Snapshot

T = TypeVar("T")


def run_protected(
    measure: Callable[[Snapshot, Hooks], T],
    roots: list[tuple[str, Any]],
    namespaces: list[dict[str, Any]],
    *,
    allow_effects: bool,
) -> T:
    """What `measure` gives, which restores the snapshot before whatever it runs; all is put back, however it ends.

    VerificationError where that cannot be done, or where something would have acted on the world.
    """
    _refuse_ranks()
    owner = object()
    exclusive_session.claim(owner)
    try:
        snapshot = Snapshot(roots, namespaces)
        with nullcontext() if allow_effects else watched(namespaces) as watch:
            hooks = Hooks(watch)
            try:
                with _put_back(snapshot), hooks.installed():
                    measured = measure(snapshot, hooks)
            finally:
                _let_go(watch)
            if watch is not None and watch.stopped is not None:
                raise VerificationError(watch.stopped)
            return measured
    finally:
        exclusive_session.release(owner)


def roots_of(names: Iterable[str] | None, namespace: dict[str, Any]) -> list[tuple[str, Any]]:
    """The variables that may be read or changed, by name; None: any."""
    return [(name, namespace[name]) for name in sorted(namespace if names is None else names) if name in namespace]


def _let_go(watch: EffectWatch | None) -> None:
    """What the last run has left is deleted, and its threads are ended, while effects are still stopped."""
    if watch is not None:
        gc.collect()
        watch.run_ended(pools=True)


@contextmanager
def _put_back(snapshot: Snapshot) -> Iterator[None]:
    try:
        yield
    finally:
        with interrupts_held() as interrupt:
            snapshot.finish()
        if interrupt.arrived:
            raise KeyboardInterrupt


def _refuse_ranks() -> None:
    import torch.distributed

    if torch.distributed.is_available() and torch.distributed.is_initialized():
        raise VerificationError(
            "this process is one rank of several: a measurement on one alone would leave the others waiting; measure a "
            "change in a process without torch.distributed"
        )
