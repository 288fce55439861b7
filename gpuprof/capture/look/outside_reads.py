"""Sees where the memory of a tensor is handed to something that is no operator: numpy, a list, a pointer.

By wrapping the methods that hand it over, for as long as the look lasts. A mode for torch functions would see every
call, and code that torch.compile made would be compiled anew for it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

# methods of torch.Tensor, and whether who calls them may also write to the memory afterwards
_METHODS = {
    "numpy": True,
    "__array__": True,
    "__dlpack__": True,
    "data_ptr": True,
    "untyped_storage": True,
    "storage": True,
    "tolist": False,
    "__repr__": False,
}


class OutsideReads:
    """From `install` to `remove`. `seen(tensor, may_write)` is told of each, before it happens, `replayed()` of each
    replay of a CUDA graph; neither must raise."""

    def __init__(self, seen: Callable[[Any, bool], None], replayed: Callable[[], None] = lambda: None):
        self._seen, self._replayed = seen, replayed
        self._installed: list[tuple[Any, str, Any, Any]] = []

    def install(self) -> None:
        """Wrap the methods."""
        import torch

        for name, may_write in _METHODS.items():
            self._wrap(torch.Tensor, name, self._wrapper(getattr(torch.Tensor, name), may_write))
        if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
            self._wrap(torch.cuda.CUDAGraph, "replay", self._replay(torch.cuda.CUDAGraph.replay))

    def remove(self) -> None:
        """Put back what was there; a method that somebody else has wrapped since stays, and calls ours, which is then
        silent."""
        while self._installed:
            owner, name, own, wrapper = self._installed.pop()
            if vars(owner).get(name) is not wrapper:
                continue
            if own is None:
                delattr(owner, name)
            else:
                setattr(owner, name, own)

    def _wrap(self, owner: Any, name: str, wrapper: Any) -> None:
        self._installed.append((owner, name, vars(owner).get(name), wrapper))
        setattr(owner, name, wrapper)

    def _replay(self, method: Any) -> Any:
        replayed = self._replayed

        @functools.wraps(method)
        def replay(self: Any) -> Any:
            replayed()
            return method(self)

        return replay

    def _wrapper(self, method: Any, may_write: bool) -> Any:
        seen = self._seen

        @functools.wraps(method)
        def handed_over(self: Any, *args: Any, **kwargs: Any) -> Any:
            seen(self, may_write)
            return method(self, *args, **kwargs)

        return handed_over
