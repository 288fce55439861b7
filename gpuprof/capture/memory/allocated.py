"""How much the CUDA caching allocator has handed out on each device, asked from any thread; starts nothing."""

from __future__ import annotations

from typing import Any

# of the questions, one asks every device: a device that was not used may be by now
_ASK_ALL = 10


def cuda_is_built() -> bool:
    """Whether this torch can have such an allocator at all: CUDA's, or ROCm's under that name."""
    import torch

    return bool(torch.backends.cuda.is_built())  # type: ignore[no-untyped-call]


class AllocatedBytes:
    """Reads the devices that hold something. One reading takes some ten microseconds a device."""

    def __init__(self) -> None:
        self._used: list[int] = []
        self._asked = 0

    def by_device(self) -> dict[int, int]:
        """Bytes of tensors on each device that has had some; empty where CUDA is not in use."""
        import torch

        cuda: Any = torch.cuda
        if not cuda.is_initialized():
            return {}
        every, self._asked = self._asked % _ASK_ALL == 0, self._asked + 1
        found: dict[int, int] = {}
        try:
            for device in range(cuda.device_count()) if every else self._used:
                stats = cuda.memory_stats_as_nested_dict(device)
                found[device] = int(stats["allocated_bytes"]["all"]["current"]) if stats else 0
        # after an error of the device; torch without CUDA
        except (RuntimeError, AttributeError):
            return {}
        self._used = [device for device, held in found.items() if held or device in self._used]
        return {device: found[device] for device in self._used}
