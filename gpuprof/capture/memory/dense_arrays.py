"""Large plain tensors on the host as arrays in place, for a look at a small part of their numbers."""

from __future__ import annotations

from typing import Any

from gpuprof.capture.base.tensor_memory import array_of, storage_of

LEAST_BYTES = 32 << 20
_MOST_DIMENSIONS = 5


def dense_array(tensor: Any) -> Any:
    """The memory of a plain dense tensor of two dimensions or more; bfloat16 as the integers of its bits. None for a
    small one and for any other."""
    import torch

    if type(tensor) is not torch.Tensor or tensor.device.type != "cpu" or tensor.layout is not torch.strided:
        return None
    size = tensor.numel() * tensor.element_size()
    dense = size <= storage_of(tensor).nbytes()
    if size < LEAST_BYTES or not dense or not 2 <= tensor.dim() <= _MOST_DIMENSIONS:
        return None
    if tensor.is_complex() or tensor.is_quantized or tensor.is_neg():
        return None
    plain = tensor.detach()
    # NumPy does not know bfloat16: its bits are as good
    try:
        return array_of(plain.view(torch.int16) if plain.dtype is torch.bfloat16 else plain)
    except (RuntimeError, TypeError):  # torch without NumPy, or a type that NumPy does not know
        return None
