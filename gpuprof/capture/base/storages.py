"""The memory behind tensors: whole storages, each counted once, without keeping or allocating anything."""

from __future__ import annotations

from typing import Any

from gpuprof.capture.base.tensor_memory import storage_of

# the device (a torch.device) and the address
Key = tuple[Any, int]


def is_tensor(value: Any) -> bool:
    """Whether it is a torch.Tensor by its type; odd objects that pretend by `__class__` are not asked."""
    import torch

    return issubclass(type(value), torch.Tensor)


def storages_of(tensor: Any) -> list[tuple[Key, int]]:
    """`((device, address), bytes)` of each storage behind a tensor; empty for one without memory (meta, freed).

    A sparse tensor has two, a sharded one (DTensor) its local part. NotImplementedError, RuntimeError or
    AttributeError where a tensor subclass does not tell.
    """
    tensor = getattr(tensor, "_local_tensor", tensor)
    if tensor.layout is not _strided():
        parts = (
            (tensor._indices(), tensor._values())
            if tensor.is_sparse
            else (tensor.crow_indices(), tensor.col_indices(), tensor.values())
        )
        return [found for part in parts for found in storages_of(part)]
    if tensor.device.type == "meta":
        return []
    storage = storage_of(tensor)
    address, size = storage.data_ptr(), storage.nbytes()
    return [((tensor.device, address), size)] if address and size else []


def _strided() -> Any:
    import torch

    return torch.strided
