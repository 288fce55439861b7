"""Puts the look's dispatch mode at the bottom of torch's stack of modes, and takes it off from wherever it is then.

It is pushed and popped without the flags that `with mode:` sets: those keep torch.compile from compiling, for good.
"""

from __future__ import annotations

import functools
import sys
from types import FrameType, FunctionType
from typing import Any

from gpuprof.capture.base.compiler_skips import hide_from_compiler
from gpuprof.capture.base.transforms import transformed
from gpuprof.capture.look import guard_level


def in_the_way() -> str | None:
    """Why no look can begin here; None where it can."""
    torch = _torch()
    if torch._C._len_torch_dispatch_stack():
        return "a dispatch mode of the cell's is active"
    if torch._C._current_graph_task_id() != -1:
        return "a backward pass runs"
    if transformed():
        return "a transform of torch.func runs"
    if torch.cuda.is_available() and torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing():
        return "a CUDA graph is being captured"
    if torch.jit.is_tracing() or torch.compiler.is_compiling():
        return "torch traces the cell's code"
    maker = _subclass_by_constructor()
    if maker is not None:
        return (
            f"the tensor class {maker} is made by torch's own constructor, which fails where a dispatch mode is active"
        )
    if hasattr(torch.utils._python_dispatch.TorchDispatchMode, "supports_higher_order_operators"):
        return None
    # with torch 2.4 `as_subclass` raises there
    derived = _users_class()
    if derived is not None:
        return f"there is the tensor class {derived}, which this version of torch cannot make beside a dispatch mode"
    if _compiler_used():
        return "torch.compile is used, which this version of torch keeps from working beside a dispatch mode"
    return None


def mode_of(look: Any) -> Any:
    """A mode that hands every operator to `look.dispatched`, not on the stack yet."""
    return _look_mode()(look)


def push(mode: Any) -> None:
    """Put it on top of the stack."""
    from torch.utils import _python_dispatch

    _python_dispatch._push_mode(mode)


def caller_of_mode(frame: FrameType | None) -> FrameType | None:
    """The frame whose operator a mode of ours handles, up the stack of `frame`; None where it handles none."""
    found = None
    while frame is not None:
        if frame.f_code is _dispatch.__code__:
            found = frame.f_back
        frame = frame.f_back
    return found


def is_asleep(mode: Any) -> bool:
    """Whether it is on top of the stack but gets no operators: a guard has ended within which it was pushed."""
    import torch

    count = torch._C._len_torch_dispatch_stack()
    return bool(count) and torch._C._get_dispatch_stack_at(count - 1) is mode and not guard_level.sees_modes()


def wake(mode: Any) -> None:
    """Have a mode that is asleep get operators again."""
    from torch.utils import _python_dispatch

    _python_dispatch._pop_mode()
    _python_dispatch._push_mode(mode)


def remove(mode: Any, *, lift: bool = False) -> bool:
    """Take it off; False where it is not on top now: torch has set it aside for a while, an operator runs, or the cell
    has opened a mode of its own meanwhile. `lift` takes it from below such modes, which stay."""
    import torch
    from torch.utils import _python_dispatch

    if torch._C._current_graph_task_id() != -1 or transformed():
        return False
    count = torch._C._len_torch_dispatch_stack()
    stack = [torch._C._get_dispatch_stack_at(each) for each in range(count)]
    if mode not in stack or not (lift or stack[-1] is mode):
        return False
    above = stack[stack.index(mode) + 1 :]
    for _ in range(len(above) + 1):
        _python_dispatch._pop_mode()
    for each in above:
        _python_dispatch._push_mode(each)
    return True


def _subclass_by_constructor() -> str | None:
    """A class of tensors, none of torch's, that `torch.Tensor.__new__` may make: beside any dispatch mode it raises."""
    import torch

    waiting = list(torch.Tensor.__subclasses__())
    while waiting:
        each = waiting.pop()
        below = each.__subclasses__()
        waiting.extend(below)
        maker: Any = each.__new__
        # a base of others is not made itself; a constructor of its own is trusted where it does not call torch's
        own = "__new__" in getattr(getattr(maker, "__code__", None), "co_names", ())
        inherited = maker is torch._C.TensorBase.__new__ and not below
        if (own or inherited) and not str(getattr(maker, "__module__", None) or each.__module__).startswith("torch."):
            return each.__qualname__
    return None


def _users_class() -> str | None:
    """A class of tensors that is none of torch's."""
    import torch

    waiting = list(torch.Tensor.__subclasses__())
    while waiting:
        each = waiting.pop()
        if not each.__module__.startswith("torch."):
            return each.__qualname__
        waiting.extend(each.__subclasses__())
    return None


def _compiler_used() -> bool:
    counters = getattr(sys.modules.get("torch._dynamo.utils"), "counters", {})
    return bool(counters.get("frames"))


def _torch() -> Any:
    import torch

    return torch


def _own_code() -> list[Any]:
    """Every function and class that runs for an operator of a compiled function that has fallen back to Python."""
    from gpuprof.capture.look import close_look

    modules = [module for name, module in sys.modules.items() if name.startswith(close_look.__package__ + ".")]
    found = [each for module in modules for each in vars(module).values() if isinstance(each, type | FunctionType)]
    return [each for each in found if each.__module__.startswith("gpuprof.")]


@functools.cache
def _look_mode() -> Any:
    from torch.utils._python_dispatch import TorchDispatchMode

    class LookMode(TorchDispatchMode):  # type: ignore[no-untyped-call]
        """Hands operators on to the look."""

        # otherwise torch refuses such operators where a mode is active
        supports_higher_order_operators = True

        def __init__(self, look: Any):
            super().__init__()  # type: ignore[no-untyped-call]
            self.look = look

        @classmethod
        def ignore_compile_internals(cls) -> bool:
            """What torch.compile does, it does without this mode."""
            return True

    # set afterwards: in the class, torch would wrap it in what imports all of torch._dynamo with the first operator
    LookMode.__torch_dispatch__ = _dispatch  # type: ignore[method-assign]
    hide_from_compiler(_dispatch, *_own_code())
    return LookMode


def _dispatch(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    return self.look.dispatched(func, types, args, kwargs or {})
