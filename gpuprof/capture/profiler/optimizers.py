"""Watches every torch.optim optimizer through torch's global step hooks, others by their own step, and keeps the facts
of each."""

from __future__ import annotations

import functools
import sys
import time
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any

from gpuprof.capture.base.call_site import calling_line
from gpuprof.capture.base.compiler_skips import hidden_from_compiler
from gpuprof.capture.base.framework_seen import driving_framework
from gpuprof.capture.base.tracebacks import leave_out, leave_out_everywhere
from gpuprof.capture.profiler.own_optimizers import OwnOptimizers, StandIn
from gpuprof.model.context import Optimizer
from gpuprof.model.recording import CLOSURE

_MOST_OPTIMIZERS = 1000
_MOST_FRAMES = 60


class _WatchedOptimizer:
    """One optimizer: held weakly, so that a model the user drops is not kept in memory by us."""

    def __init__(self, optimizer: Any, filename: str | None):
        self.reference = weakref.ref(optimizer)
        self.steps = 0
        self.last_step_ns = 0
        self.facts = _facts(optimizer, calling_line(filename))

    def grown(self) -> dict[str, int | bool]:
        """What may have changed since the first step: how often and when last it stepped, groups that came later."""
        optimizer = self.reference()
        now = [] if optimizer is None else _parameters(optimizer)
        parameters = max(self.facts.parameters, len(now))
        elements = max(self.facts.elements, sum(parameter.numel() for parameter in now))
        stepped = {"steps": self.steps, "last_step_ns": self.last_step_ns}
        floating = bool(self.facts.floating) and _are_floating(now)
        return {**stepped, "parameters": parameters, "elements": elements, "floating": floating}


def optimizer_made() -> bool:
    """Whether an optimizer of torch was ever made in this process: torch then marks the `step` of its class."""
    from torch.optim import Optimizer

    classes = [Optimizer]
    for each in classes:
        if getattr(each.step, "hooked", False):
            return True
        classes += each.__subclasses__()
    return False


class OptimizerWatch:
    """From `install` to `remove` every `Optimizer.step()` of the process is counted, and the closure that it is given,
    if it is given one, gets a range of its own in the recording.

    `on_step(optimizer, times)` is called after each, still inside `step()`, on the thread that stepped, with the number
    of times that this optimizer has stepped; `before_step(optimizer)` before each, and must not raise. `filename` is
    the cell's, to find its line. `last_ns`: what the step that has just ended took, its closure apart.
    """

    def __init__(
        self,
        filename: str | None,
        on_step: Callable[[Any, int], None],
        before_step: Callable[[Any], None] = lambda _: None,
    ):
        self._tell_before = before_step
        self._filename = filename
        self._on_step = on_step
        self._watched: dict[int, _WatchedOptimizer] = {}
        self._gone: list[_WatchedOptimizer] = []
        self._handles: list[Any] = []
        self._began_ns: dict[int, int] = {}
        self._nested: dict[int, int] = {}
        self._closures_ns = 0
        self._own = OwnOptimizers(
            lambda each: self._before_step(each, (each,), {}), lambda each: self._after_step(each, (each,), {})
        )
        self.last_ns = 0

    def install(self) -> None:
        """Register the hooks; torch is imported here."""
        from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

        # a compiled step would trace our code, warn of it in the user's cell, and compile it
        before, after = map(hidden_from_compiler, (self._before_step, self._after_step))
        self._handles = [register_optimizer_step_pre_hook(before), register_optimizer_step_post_hook(after)]
        self._own.install()

    def batch_asked(self) -> None:
        """A batch is asked for: while nothing has stepped, a framework may have been loaded since the last one."""
        if self._handles and not self._watched:
            self._own.install()

    def remove(self) -> None:
        """Take the hooks out; does nothing a second time."""
        self._own.remove()
        while self._handles:
            self._handles.pop().remove()

    def facts(self) -> tuple[Optimizer, ...]:
        """Every optimizer that stepped, in the order of its first step."""
        import msgspec

        all_watched = [*self._gone, *self._watched.values()]
        return tuple(msgspec.structs.replace(watched.facts, **watched.grown()) for watched in all_watched)

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> tuple[Any, Any] | None:
        """The same arguments with a closure that marks itself in the recording; None where there is none to mark.

        `args` begins with the optimizer itself.
        """
        if id(optimizer) in self._began_ns and _steps_of(optimizer) > 1:
            self._nested[id(optimizer)] += 1
            return None
        self._nested[id(optimizer)] = self._closures_ns = 0
        self._tell_before(optimizer)
        changed = None
        if callable(kwargs.get("closure")):
            changed = args, {**kwargs, "closure": self._marked(kwargs["closure"])}
        elif len(args) > 1 and callable(args[1]):
            changed = (args[0], self._marked(args[1]), *args[2:]), kwargs
        self._began_ns[id(optimizer)] = time.perf_counter_ns()
        return changed

    def _after_step(self, optimizer: Any, _args: Any, _kwargs: Any) -> None:
        if self._nested.get(id(optimizer)):  # a class whose step calls that of its base: torch tells of both
            self._nested[id(optimizer)] -= 1
            return
        began_ns = self._began_ns.pop(id(optimizer), 0)
        self.last_ns = max(time.perf_counter_ns() - began_ns - self._closures_ns, 0) if began_ns else 0
        try:
            watched = self._find(optimizer)
            if watched is not None:
                watched.steps += 1
                watched.last_step_ns = time.time_ns()
                self._on_step(optimizer, watched.steps)
        except Exception:  # noqa: BLE001  - inside the user's step(): whatever fails here is ours, and must not end it
            self.remove()
        except BaseException as error:
            leave_out(error)
            raise

    def _marked(self, closure: Callable[[], Any]) -> Callable[[], Any]:
        import torch

        autograd: Any = torch.autograd

        @functools.wraps(closure, updated=())
        def marked(*args: Any, **kwargs: Any) -> Any:
            began_ns = time.perf_counter_ns()
            try:
                if not autograd._profiler_enabled():
                    return closure(*args, **kwargs)
                with autograd.profiler.record_function(CLOSURE):
                    return closure(*args, **kwargs)
            except BaseException as error:
                leave_out_everywhere(error)
                raise
            finally:
                self._closures_ns += time.perf_counter_ns() - began_ns

        return marked

    def _find(self, optimizer: Any) -> _WatchedOptimizer | None:
        watched = self._watched.get(id(optimizer))
        if watched is not None and watched.reference() is optimizer:
            return watched
        if watched is not None:  # another object at the same address
            self._gone.append(watched)
        elif len(self._watched) + len(self._gone) >= _MOST_OPTIMIZERS:
            return None
        self._watched[id(optimizer)] = watched = _WatchedOptimizer(optimizer, self._filename)
        return watched


def _steps_of(optimizer: Any) -> int:
    """How many calls of its `step` that torch tells of are on the stack of the calling thread: one that has failed is
    not."""
    import torch.optim.optimizer as module

    frame: FrameType | None = sys._getframe(1)
    found = 0
    for _ in range(_MOST_FRAMES):
        if frame is None:
            break
        code = frame.f_code
        if code.co_name == "wrapper" and code.co_filename == module.__file__:
            found += next(iter(frame.f_locals.get("args", ())), None) is optimizer
        frame = frame.f_back
    return found


def _parameters(optimizer: Any) -> list[Any]:
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def _are_floating(parameters: list[Any]) -> bool:
    return all(parameter.is_floating_point() for parameter in parameters)


def _facts(optimizer: Any, line: int | None) -> Optimizer:
    parameters = _parameters(optimizer)
    first = optimizer.param_groups[0] if optimizer.param_groups else {}
    return Optimizer(
        name=optimizer.name if isinstance(optimizer, StandIn) else type(optimizer).__name__,
        parameters=len(parameters),
        elements=sum(parameter.numel() for parameter in parameters),
        state_bytes=_state_bytes(optimizer),
        fused=first.get("fused"),
        foreach=first.get("foreach"),
        device=str(parameters[0].device) if parameters else None,
        line=line,
        floating=_are_floating(parameters),
        maker=driving_framework(),
    )


def _state_bytes(optimizer: Any) -> int:
    """Bytes of the tensors in `optimizer.state`, complete once it has stepped: 0 for plain SGD."""
    import torch

    return sum(
        value.numel() * value.element_size()
        for state in optimizer.state.values()
        if isinstance(state, dict)
        for value in state.values()
        if isinstance(value, torch.Tensor)
    )
