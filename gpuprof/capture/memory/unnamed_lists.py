"""Lists that no name holds yet: a comprehension, or `list(…)`, is filling them."""

from __future__ import annotations

import dis
import gc
import itertools
import sys
from functools import lru_cache
from types import CodeType
from typing import Any

from gpuprof.capture.base.storages import is_tensor
from gpuprof.capture.memory.array_memory import is_array

_FEWEST_ITEMS = 4
_MOST_PARTS = 20
_MAKERS = {"list", "tuple"}
# a list that is being filled is mostly young: then few objects have been made since that are still there
_YOUNG, _OLD = (0, 1), (2,)


def is_filling(code: CodeType, instruction: int) -> bool:
    """Whether code that is at that instruction (its offset) is in a list comprehension of its own, or may be in a call
    of `list`."""
    return any(instruction in each for each in _comprehensions(code)) or not _MAKERS.isdisjoint(code.co_names)


def unnamed_lists(*, old: bool) -> list[list[Any]]:
    """The lists of tensors, of arrays, or of tuples or dicts with some, to which one thing refers, maybe the stack of a
    running function. With `old` it takes some ten milliseconds: most objects that there are must be gone through.
    """
    found = list[list[Any]]()
    alone = _alone() + 1
    for generation in _OLD if old else _YOUNG:
        known = gc.get_objects(generation)
        for each in known:
            if (
                type(each) is list
                and len(each) >= _FEWEST_ITEMS
                and sys.getrefcount(each) == alone
                and _holds(each[-1])
            ):
                found.append(each)
        del known
    return found


def _holds(value: Any, depth: int = 2) -> bool:
    """Whether it is a tensor or an array, or a tuple or dict with one."""
    if is_tensor(value) or is_array(value):
        return True
    if not depth or type(value) not in (tuple, dict):
        return False
    inner = value.values() if type(value) is dict else value
    return any(_holds(each, depth - 1) for each in itertools.islice(inner, _MOST_PARTS))


def _alone() -> int:
    """References to the only item of a list, in a loop over it."""
    found = 0
    for each in [[None]]:
        found = sys.getrefcount(each)
    return found


@lru_cache(maxsize=256)
def _comprehensions(code: CodeType) -> tuple[range, ...]:
    """The instructions of each list comprehension's loop."""
    found, appends = [], False
    for each in dis.get_instructions(code):
        if each.opname == "LIST_APPEND":
            appends = True
        elif each.opname.startswith("JUMP_BACKWARD") and appends:
            found.append(range(each.argval, each.offset + 1))
            appends = False
    return tuple(found)
