"""The memory of a tensor, for our own looks at it.

By the methods below those of `torch.Tensor`: these are wrapped while operators are looked at closely, to see where a
tensor's memory is handed to code outside of torch, and what we read ourselves is no such code. A subclass's own method
comes first: it may have no memory of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast


def storage_of(tensor: Any) -> Any:
    """Its untyped storage; as `Tensor.untyped_storage`."""
    return _method(tensor, "untyped_storage")(tensor)


def address_of(tensor: Any) -> int:
    """Of its first element; as `Tensor.data_ptr`."""
    return int(_method(tensor, "data_ptr")(tensor))


def array_of(tensor: Any) -> Any:
    """The same memory as an array; RuntimeError or TypeError where NumPy is missing, or does not know the type."""
    return _method(tensor, "numpy")(tensor)


def lazily_copied(tensor: Any) -> bool:
    """Asking for its address would copy it."""
    import torch

    asked = getattr(torch._C, "_is_cow_tensor", None)
    return asked is not None and bool(asked(tensor))


def _method(tensor: Any, name: str) -> Callable[[Any], Any]:
    import torch

    for each in type(tensor).__mro__:
        if each is torch.Tensor:
            break
        if name in vars(each):
            own: Callable[[Any], Any] = vars(each)[name]
            return own
    return cast("Callable[[Any], Any]", getattr(torch._C.TensorBase, name))
