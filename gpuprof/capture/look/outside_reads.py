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
    """From `install` to `remove`. `seen(tensor, may_write)` is told of each, before it happens; it must not raise."""

    def __init__(self, seen: Callable[[Any, bool], None]):
        self._seen = seen
        self._installed: dict[str, tuple[Any, Any]] = {}

    def install(self) -> None:
        """Wrap the methods."""
        import torch

        for name, may_write in _METHODS.items():
            own = vars(torch.Tensor).get(name)
            wrapper = self._wrapper(getattr(torch.Tensor, name), may_write)
            self._installed[name] = (own, wrapper)
            setattr(torch.Tensor, name, wrapper)

    def remove(self) -> None:
        """Put back what was there; a method that somebody else has wrapped since stays, and calls ours, which is then
        silent."""
        import torch

        while self._installed:
            name, (own, wrapper) = self._installed.popitem()
            if vars(torch.Tensor).get(name) is not wrapper:
                continue
            if own is None:
                delattr(torch.Tensor, name)
            else:
                setattr(torch.Tensor, name, own)

    def _wrapper(self, method: Any, may_write: bool) -> Any:
        seen = self._seen

        @functools.wraps(method)
        def handed_over(self: Any, *args: Any, **kwargs: Any) -> Any:
            seen(self, may_write)
            return method(self, *args, **kwargs)

        return handed_over
