"""Where a running cell's steps, batches and losses are seen: hooks of torch that tell one listener at a time."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from gpuprof.verification.effects.effect import StoppedEffect

if TYPE_CHECKING:
    from gpuprof.verification.effects.watch import EffectWatch


class BlockEnd(BaseException):
    """Enough steps were made."""


class Counted(IntEnum):
    """What steps are counted by; where several happen, the highest one is meant."""

    NOTHING = 0
    BACKWARD = 1
    BATCH = 2
    OPTIMIZER = 3
    CALL = 4


class Listener:
    """What happens in one run of a variant. Called on the thread that runs it; `stepped` may raise BlockEnd."""

    def stepped(self, counted: Counted, count: int) -> None:
        """A step has ended: by the optimizer that stepped most, a batch was used, …; `count` of these so far."""

    def batch(self, batch: Any) -> None:
        """A DataLoader has given this batch."""

    def loader_started(self, prefetched: int) -> None:
        """A DataLoader is being iterated; so many batches may lie ready in its workers."""

    def backward(self, roots: Any) -> None:
        """`backward()` or `torch.autograd.grad` is about to run from these tensors."""

    def returned(self, value: Any) -> None:
        """A function that is measured call by call has returned this."""

    def before_step(self, optimizer: Any) -> None:
        """An optimizer is about to step."""


class Hooks:
    """In force inside `installed()`; `listener` is whom they tell, None for nobody.

    `watch` stops effects; None where they are allowed.
    """

    def __init__(self, watch: EffectWatch | None = None) -> None:
        self.listener: Listener | None = None
        self.watch = watch
        self._thread = threading.get_ident()
        self._steps: dict[int, int] = {}
        self._made = 0
        self._batches = 0
        self._backwards = 0

    @contextmanager
    def listening(self, listener: Listener) -> Iterator[None]:
        """Tell this listener, and count from 0."""
        self._steps, self._made, self._batches, self._backwards = {}, 0, 0, 0
        self.listener = listener
        try:
            yield
        finally:
            self.listener = None

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Hook torch; all is taken out again."""
        import torch
        from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
        from torch.utils.data import dataloader

        loader, iterator = dataloader.DataLoader, dataloader._BaseDataLoaderIter
        kept = [
            (holder, name, getattr(holder, name))
            for holder, name in (
                *((loader, "__iter__"), (iterator, "__next__")),
                *((torch.autograd, "backward"), (torch.autograd, "grad")),
            )
        ]
        handles = [
            register_optimizer_step_pre_hook(_untraced(self._before_step)),
            register_optimizer_step_post_hook(_untraced(self._after_step)),
        ]
        wraps: Any = (self._wrap_iter, self._wrap_next, self._wrap_backward, self._wrap_backward)
        try:
            for (holder, name, original), wrap in zip(kept, wraps, strict=True):
                setattr(holder, name, wrap(original))
            yield
        finally:
            for holder, name, original in kept:
                setattr(holder, name, original)
            for handle in handles:
                handle.remove()

    def _told(self) -> Listener | None:
        if self.watch is not None and self.watch.stopped is not None:  # and swallowed by the cell
            raise StoppedEffect(self.watch.stopped)
        return self.listener if threading.get_ident() == self._thread else None

    def _before_step(self, optimizer: Any, _args: Any, _kwargs: Any) -> None:
        if (listener := self._told()) is not None:
            listener.before_step(optimizer)

    def _after_step(self, optimizer: Any, _args: Any, _kwargs: Any) -> None:
        if (listener := self._told()) is not None:
            times = self._steps[id(optimizer)] = self._steps.get(id(optimizer), 0) + 1
            if times > self._made:
                self._made = times
                listener.stepped(Counted.OPTIMIZER, times)

    def _wrap_iter(self, start: Any) -> Any:
        def __iter__(loader: Any) -> Any:  # noqa: N807
            if (listener := self._told()) is not None:
                listener.loader_started(loader.num_workers * (loader.prefetch_factor or 2))
            return start(loader)

        return __iter__

    def _wrap_next(self, advance: Any) -> Any:
        def __next__(iterator: Any) -> Any:  # noqa: N807
            listener = self._told()
            if listener is None:
                return advance(iterator)
            if self._batches:
                listener.stepped(Counted.BATCH, self._batches)
            batch = advance(iterator)
            self._batches += 1
            listener.batch(batch)
            return batch

        return __next__

    def _wrap_backward(self, run: Any) -> Any:
        def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
            listener = self._told()
            if listener is None or _is_traced(tensors):
                return run(tensors, *args, **kwargs)
            listener.backward(tensors)
            result = run(tensors, *args, **kwargs)
            self._backwards += 1
            listener.stepped(Counted.BACKWARD, self._backwards)
            return result

        return backward


def _is_traced(tensors: Any) -> bool:
    """Whether a compiler looks at what a backward pass would do, with tensors that hold no numbers."""
    every = tensors if isinstance(tensors, list | tuple) else [tensors]
    return any(type(each).__module__.startswith("torch._subclasses") for each in every)


def _untraced(hook: Any) -> Any:
    if "torch._dynamo" not in sys.modules:
        return hook
    # a compiled step would trace our code and compile it
    import torch._dynamo

    return torch._dynamo.disable(hook)  # type: ignore[no-untyped-call]
