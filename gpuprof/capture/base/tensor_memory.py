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


class _ReadInPlace:
    """What NumPy reads in place. It keeps the tensor alive."""

    def __init__(self, tensor: Any, dtype: Any):
        size = dtype.itemsize
        self.tensor = tensor
        self.__array_interface__ = {
            "version": 3,
            "shape": tuple(tensor.shape),
            "strides": tuple(step * size for step in tensor.stride()),
            "typestr": dtype.str,
            "data": (address_of(tensor), True),
        }


def array_of(tensor: Any) -> Any:
    """The memory of a dense tensor on the host as an array that cannot be written to. RuntimeError where it has none or
    its numbers are not as they lie there, TypeError where NumPy does not know the type.

    Not by `Tensor.numpy`: after that the storage can never be resized again, and the cell may want to.
    """
    import numpy as np

    own = _own_method(tensor, "numpy")
    if own is not None:
        return own(tensor)
    if not _lies_there(tensor):
        raise RuntimeError(f"no numbers on the host to read in place: {tensor.device}")
    dtype = np.dtype(str(tensor.dtype).removeprefix("torch."))
    if dtype.kind not in "biufc":  # a package may have told NumPy of more
        raise TypeError(f"{dtype} is no type of NumPy's own")
    return np.asarray(_ReadInPlace(tensor, dtype))


def _lies_there(tensor: Any) -> bool:
    """Whether its numbers are on the host as they are: no view that negates, no wrapper, and room for all of them."""
    import torch

    if type(tensor).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__ or tensor.layout is not torch.strided:
        return False
    if tensor.device.type != "cpu" or tensor.is_conj() or tensor.is_neg() or tensor._is_zerotensor():
        return False
    steps = (step * (size - 1) for step, size in zip(tensor.stride(), tensor.shape, strict=True))
    reached = (tensor.storage_offset() + sum(steps) + 1) * tensor.element_size() if tensor.numel() else 0
    return reached <= int(storage_of(tensor).nbytes())


def lazily_copied(tensor: Any) -> bool:
    """Asking for its address would copy it."""
    import torch

    asked = getattr(torch._C, "_is_cow_tensor", None)
    return asked is not None and bool(asked(tensor))


def _method(tensor: Any, name: str) -> Callable[[Any], Any]:
    import torch

    return _own_method(tensor, name) or cast("Callable[[Any], Any]", getattr(torch._C.TensorBase, name))


def _own_method(tensor: Any, name: str) -> Callable[[Any], Any] | None:
    """Of a subclass; None where it has none of its own."""
    import torch

    for each in type(tensor).__mro__:
        if each is torch.Tensor:
            break
        if name in vars(each):
            return cast("Callable[[Any], Any]", vars(each)[name])
    return None
