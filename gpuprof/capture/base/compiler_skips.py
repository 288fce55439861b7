"""Keeps torch.compile away from code of ours that runs inside the user's functions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from types import CodeType, FunctionType
from typing import Any

from gpuprof.capture.base.tracebacks import leave_out


def hide_from_compiler(*owners: type | Callable[..., object]) -> None:
    """Mark functions, and every function of classes, as what torch.compile leaves alone.

    Between two graphs it would otherwise compile what we do around a call or a line. Through torch's C module, where
    it has had two names from torch 2.4 to 2.13: importing `torch._dynamo` would take seconds.
    """
    import torch

    frames: Any = getattr(torch._C._dynamo, "eval_frame", None)
    if hasattr(frames, "skip_code"):
        skip = frames.skip_code
    elif hasattr(frames, "set_code_exec_strategy"):
        action = frames._FrameAction
        skipped = frames._FrameExecStrategy(action.SKIP, action.DEFAULT)
        skip = functools.partial(_with_strategy, frames.set_code_exec_strategy, skipped)
    else:
        return
    waiting = [code for owner in owners for code in _codes(owner)]
    while waiting:
        code = waiting.pop()
        skip(code)
        waiting.extend(each for each in code.co_consts if isinstance(each, CodeType))


def hidden_from_compiler(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, which torch.compile neither traces nor compiles, nor anything that it calls.

    As `torch._dynamo.disable` does, which takes 0.7 µs a call instead of 0.25 (torch 2.13), and has to be imported
    first: this also holds where the cell imports `torch._dynamo` later. The function takes no keyword arguments.
    """
    import torch

    set_frame: Any = getattr(getattr(torch._C._dynamo, "eval_frame", None), "set_eval_frame", None)
    if set_frame is None:
        return function

    @functools.wraps(function)
    def hidden(*args: Any) -> Any:
        before = set_frame(None)
        try:
            return function(*args)
        except BaseException as error:
            leave_out(error)
            raise
        finally:
            set_frame(before)

    hidden._torchdynamo_disable = True  # type: ignore[attr-defined]  # what torch asks for while it traces
    hide_from_compiler(hidden)
    return hidden


def _codes(owner: type | Callable[..., object]) -> Iterable[CodeType]:
    if isinstance(owner, FunctionType):
        return [owner.__code__]
    members = (_function(each) for each in vars(owner).values())
    return [each.__code__ for each in members if isinstance(each, FunctionType)]


def _function(member: object) -> object:
    """What a property, a static or class method, or a cache calls."""
    for name in ("fget", "func", "__func__", "__wrapped__"):
        member = getattr(member, name, member)
    return member


def _with_strategy(mark: Callable[[CodeType, Any], None], strategy: Any, code: CodeType) -> None:
    mark(code, strategy)
