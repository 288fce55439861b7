"""Lists that no name holds yet: a comprehension, or `list(…)`, is filling them."""

from __future__ import annotations

import dis
import gc
import sys
from types import CodeType
from typing import Any

FEWEST_ITEMS = 4
_APPEND = dis.opmap["LIST_APPEND"]
_MAKERS = {"list", "tuple"}
# a list that is being filled is young: not many objects have been made since that are still there
_YOUNG = (0, 1)


def makes_list(code: CodeType) -> bool:
    """Whether it has a list comprehension of its own, or may call `list`."""
    return _APPEND in code.co_code[::2] or not _MAKERS.isdisjoint(code.co_names)


def unnamed_lists() -> list[list[Any]]:
    """The young lists to which one thing refers, which may be the stack of a running function."""
    found = list[list[Any]]()
    alone = _alone() + 1
    for generation in _YOUNG:
        known = gc.get_objects(generation)
        for each in known:
            if type(each) is list and len(each) >= FEWEST_ITEMS and sys.getrefcount(each) == alone:
                found.append(each)
        del known
    return found


def _alone() -> int:
    """References to the only item of a list, in a loop over it."""
    found = 0
    for each in [[None]]:
        found = sys.getrefcount(each)
    return found
