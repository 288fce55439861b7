"""The memory behind NumPy's arrays, without keeping or copying any of it."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

from gpuprof.capture.base.storages import Key, is_tensor, storages_of

# what the process itself holds: a file that is mapped, or memory that processes share, is no part of it
_IN_MEMORY = (bytes, bytearray)


def is_array(value: Any) -> bool:
    """Whether it is a plain `numpy.ndarray`: those of a file (`memmap`), with a mask, or of other libraries are not."""
    kind = type(value)
    # by name first: this is asked of each of many objects
    return kind.__name__ == "ndarray" and kind is _kind()


@cache
def _kind() -> type:
    import numpy as np

    return np.ndarray


@cache
def _host() -> Any:
    import torch

    return torch.device("cpu")


def views_of_owner(array: Any) -> int:
    """How many objects refer to the array whose memory a view shows: its views, and names and tables of pandas."""
    return _references(array) - _alone()


def _references(array: Any) -> int:
    while is_array(array.base):
        array = array.base
    return sys.getrefcount(array)


@cache
def _alone() -> int:
    """Of an owner that nothing but one view refers to: one less."""
    import numpy as np

    view = np.zeros(2)[1:]
    return _references(view) - 1


def storages_of_array(array: Any) -> list[tuple[Key, int]]:
    """`((device, address), bytes)` of the whole memory that an array is a view of: that of a tensor where it has been
    made from one; empty where it is not known to lie in the memory of the process."""
    while is_array(array.base):
        array = array.base
    if is_tensor(array.base):
        return storages_of(array.base)
    own = array.flags.owndata if array.base is None else type(array.base) in _IN_MEMORY
    if not own or not array.nbytes:
        return []
    return [((_host(), array.__array_interface__["data"][0]), array.nbytes)]
