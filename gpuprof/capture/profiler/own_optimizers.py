"""Makes a step of a framework's own optimizer look like one of torch's: a range in the recording, and a call of ours.

fastai and Keras update their parameters without `torch.optim`, whose hooks and ranges everything else rests on.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from gpuprof.capture.base.tracebacks import leave_out_everywhere
from gpuprof.frameworks import OwnOptimizer, framework
from gpuprof.frameworks.known import PACKAGES


class StandIn:
    """What the watchers of an optimizer ask of it: its parameters and its state, however it keeps them."""

    def __init__(self, optimizer: Any, known: OwnOptimizer):
        """Of an optimizer of that class, which is held weakly."""
        self._optimizer, self._known = weakref.ref(optimizer), known
        self.name = type(optimizer).__name__

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """One group of all tensors."""
        return [{"params": self._tensors_of(self._known.parameters)}]

    @property
    def state(self) -> dict[Any, dict[Any, Any]]:
        """All tensors of its state, of no parameter in particular."""
        return {None: dict(enumerate(self._tensors_of(self._known.state)))}

    def _tensors_of(self, attribute: str) -> list[Any]:
        return list(_tensors(getattr(self._optimizer(), attribute, ())))


class OwnOptimizers:
    """From `install` to `remove` the steps of such optimizers are marked, as far as their module is loaded by then.

    `before(stand_in)` and `after(stand_in)` are called around each; they must not raise.
    """

    def __init__(self, before: Callable[[StandIn], object], after: Callable[[StandIn], object]):
        self._before, self._after = before, after
        self._stand_ins: weakref.WeakKeyDictionary[Any, StandIn] = weakref.WeakKeyDictionary()
        self._wrapped: list[tuple[type, str, Any, Any]] = []
        self._inside = False

    def install(self) -> None:
        """Wrap each class once; may be called again, for what was loaded meanwhile."""
        packages = [package for package in PACKAGES if package in sys.modules]
        for known in filter(None, map(framework, packages)):
            for each in known.optimizers:
                owner = getattr(sys.modules.get(each.module), each.name, None)
                if isinstance(owner, type) and all(owner is not wrapped for wrapped, *_ in self._wrapped):
                    self._wrap(owner, each)

    def remove(self) -> None:
        """Put the framework's own methods back, unless somebody has wrapped ours meanwhile."""
        while self._wrapped:
            owner, name, original, replacement = self._wrapped.pop()
            if vars(owner).get(name) is replacement:
                setattr(owner, name, original)

    def _wrap(self, owner: type, known: OwnOptimizer) -> None:
        import torch

        original = vars(owner).get(known.method)
        if not callable(original):
            return

        @functools.wraps(original)
        def step(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            # a step that is made of others counts once; a compiled one is not ours to break
            if self._inside or torch.compiler.is_compiling():
                return original(optimizer, *args, **kwargs)
            stand_in = self._stand_in(optimizer, known)
            self._inside = True
            try:
                self._before(stand_in)
                with _range(f"Optimizer.step#{stand_in.name}.step"):
                    result = original(optimizer, *args, **kwargs)
                    self._after(stand_in)
                    return result
            except BaseException as error:
                leave_out_everywhere(error)
                raise
            finally:
                self._inside = False

        setattr(owner, known.method, step)
        self._wrapped.append((owner, known.method, original, step))

    def _stand_in(self, optimizer: Any, known: OwnOptimizer) -> StandIn:
        found = self._stand_ins.get(optimizer)
        if found is None:
            found = self._stand_ins[optimizer] = StandIn(optimizer, known)
        return found


@contextlib.contextmanager
def _range(name: str) -> Iterator[None]:
    import torch

    autograd: Any = torch.autograd
    if not autograd._profiler_enabled():
        yield
        return
    with autograd.profiler.record_function(name):
        yield


def _tensors(values: Any) -> Iterator[Any]:
    import torch

    for each in values.values() if isinstance(values, dict) else values:
        if isinstance(each, torch.Tensor):
            yield each
        elif isinstance(value := getattr(each, "value", None), torch.Tensor):
            yield value
        elif isinstance(each, Iterable) and not isinstance(each, str):
            yield from _tensors(each)
