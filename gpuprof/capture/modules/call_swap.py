"""Has a function told of every call of a `torch.nn.Module`, by exchanging the code behind `Module.__call__`.

Why not torch's global hooks: they cost three times as much a call (benchmarks/module_marks.py), every model that
`torch.compile` made warns of them, and it guards on them: compiled code is compiled again where they come or go. The
function object stays the same one here, which is what torch.compile looks at, and in a compiled region its code never
runs. A class with a `__call__` of its own that is part of a compiled region is the exception: see `has_own_call`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from gpuprof.capture.base.compiler_skips import hide_from_compiler

if TYPE_CHECKING:
    import torch

# the places of the two functions among the constants of `_told`
_BEGIN, _NOW = 670_815_001, 670_815_002
_NAMES = ("_compiled_call_impl", "_call_impl")
_swapped: list[tuple[FunctionType, CodeType]] = []

Log = Callable[[int], None]


def _told(self: Any, *args: Any, **kwargs: Any) -> Any:
    """What runs instead, in torch's own namespace. Its lines look like torch's in a traceback: see `_like`."""
    if torch.compiler.is_dynamo_compiling():  # traced from within a compiled region: no call of ours is to be seen
        if self._compiled_call_impl is not None:
            return self._compiled_call_impl(*args, **kwargs)
        return self._call_impl(*args, **kwargs)
    begin: Any = 670_815_001
    now: Any = 670_815_002
    log = begin(self)
    try:
        if self._compiled_call_impl is None:
            return self._call_impl(*args, **kwargs)
        return self._compiled_call_impl(*args, **kwargs)
    finally:
        log(-1)
        log(now())


class CallSwap:
    """From `on` to `off`, `begin(module)` is called before each call of a module, on its thread, and returns a function
    that gets -1 and then `now()` when the call ends, however it does. `possible`: this torch is one that is known.
    """

    def __init__(self, begin: Callable[[Any], Log], now: Callable[[], int]):
        import torch

        function: Any = vars(torch.nn.Module).get("_wrapped_call_impl")
        self.possible = (
            isinstance(function, FunctionType)
            and torch.nn.Module.__call__ is function
            and function.__code__.co_names == _NAMES
            and not function.__code__.co_freevars
        )
        if not self.possible:
            return
        self._function = function
        self._plain = self._function.__code__
        self._telling = _like(self._plain, {_BEGIN: begin, _NOW: now})
        hide_from_compiler(FunctionType(self._telling, {}))

    @property
    def codes(self) -> tuple[CodeType, CodeType]:
        """What the frames of a module's call run: torch's code, and the one that tells."""
        return self._plain, self._telling

    def on(self) -> None:
        """Begin to tell."""
        if self._function.__code__ is self._plain:
            _swapped.append((self._function, self._plain))
            self._function.__code__ = self._telling

    def off(self) -> None:
        """Put torch's code back; calls under way still tell their end."""
        if self.possible and self._function.__code__ is self._telling:
            self._function.__code__ = self._plain
            _swapped.clear()


def has_compiled() -> bool:
    """Whether torch.compile has compiled something in this process."""
    counters: Any = getattr(sys.modules.get("torch._dynamo.utils"), "counters", None)
    return bool(counters) and bool(counters.get("frames"))


def has_own_call() -> bool:
    """Whether some class of modules, torch's own apart, has a `__call__` of its own: what torch.compile makes of one
    is bound to torch's code behind `super().__call__`. Takes a millisecond for a thousand classes."""
    import torch

    waiting: list[type] = [torch.nn.Module]
    seen: set[type] = set()
    while waiting:
        kinds: list[type] = type.__subclasses__(waiting.pop())
        for kind in kinds:
            if kind in seen:
                continue
            seen.add(kind)
            waiting.append(kind)
            if "__call__" in vars(kind) and not kind.__module__.startswith("torch."):
                return True
    return False


def _like(plain: CodeType, functions: dict[int, Any]) -> CodeType:
    """The code of `_told`, with these functions, in the place of torch's: a traceback shows the line that calls
    `_call_impl` as torch has it, which is its last one."""
    code = _told.__code__
    consts = tuple(functions.get(each, each) if type(each) is int else each for each in code.co_consts)
    last = max(line for *_, line in plain.co_lines() if line)
    calls = max(line for *_, line in code.co_lines() if line) - 4
    first = max(last - (calls - code.co_firstlineno), 1)
    return code.replace(
        co_consts=consts,
        co_filename=plain.co_filename,
        co_name=plain.co_name,
        co_qualname=plain.co_qualname,
        co_firstlineno=first,
    )


def _after_fork_in_child() -> None:
    # a DataLoader worker whose transforms are modules would fill a log that nobody reads
    for function, plain in _swapped:
        function.__code__ = plain
    _swapped.clear()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_after_fork_in_child)
