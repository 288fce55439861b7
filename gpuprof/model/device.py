"""What is known of a device: from the trace's `deviceProperties`, from torch, from NVML."""

from __future__ import annotations

import msgspec


class Device(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One device. `id` is the number that the trace uses for it; None is *unknown*."""

    id: int
    name: str | None = None
    uuid: str | None = None
    memory_bytes: int | None = None
    compute_capability: tuple[int, int] | None = None
    multiprocessors: int | None = None
    max_threads_per_multiprocessor: int | None = None
    link_bytes_per_s: float | None = None

    @property
    def is_amd(self) -> bool:
        """Whether the name says AMD (ROCm traces report gfx capabilities that mean nothing in CUDA's terms)."""
        return bool(self.name) and any(mark in str(self.name) for mark in ("AMD", "Instinct", "Radeon", "MI2", "MI3"))
