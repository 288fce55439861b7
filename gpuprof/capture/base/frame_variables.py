"""The variables of a running frame, read without harm to it."""

from __future__ import annotations

import dis
import functools
import sys
from collections.abc import Callable, Mapping
from types import CodeType, FrameType
from typing import Any

_OPTIMIZED = 0x1  # CO_OPTIMIZED: the frame keeps its variables outside of a dict
_ASKS = frozenset({"locals", "vars", "dir", "exec", "eval"})
_OF_A_NAME = frozenset({"LOAD_GLOBAL", "LOAD_NAME"})
_PROXY_FROM = (3, 13)


def with_variables(frame: FrameType, use: Callable[[Mapping[str, Any]], None]) -> None:
    """Call `use` with the frame's local variables; nothing where they cannot be read without harm."""
    code = frame.f_code
    if not code.co_flags & _OPTIMIZED:
        # a class body may run in a namespace of the user's own making
        if code.co_name.startswith("<") and type(frame.f_globals) is dict:
            use(frame.f_globals)
        return
    if sys.version_info >= _PROXY_FROM:
        use(frame.f_locals)
        return
    # what asks for its variables by `locals()` has the same dict
    if frame.f_trace is not None or (not _ASKS.isdisjoint(code.co_names) and _asks(code)):
        return
    variables = frame.f_locals
    try:
        use(variables)
    finally:
        # it stays with the frame, and would keep every object in it
        variables.clear()


@functools.lru_cache(maxsize=256)
def _asks(code: CodeType) -> bool:
    """Whether it calls one of these functions: `model.eval()` is another one."""
    return any(each.opname in _OF_A_NAME and each.argval in _ASKS for each in dis.get_instructions(code))
