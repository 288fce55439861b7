"""The CUDA caching allocator around a run, without touching the user's peak counters."""

from __future__ import annotations

from typing import Any

from gpuprof.capture.base.signal import Signal, WatchedCell
from gpuprof.model.memory import Allocator

_Stats = dict[int, dict[str, Any]]
_LIMIT = "limit_bytes"


class AllocatorReadings(Signal):
    """Two readings of the allocators, as the cell begins and as it ends."""

    field = "allocators"

    def __init__(self, cell: WatchedCell | None = None):
        super().__init__(cell)
        self._before: _Stats = {}
        self._about_peaks: tuple[str, ...] = ()

    def begin(self) -> None:
        """Take the first."""
        self._before = read_allocators()

    def facts(self) -> tuple[Allocator, ...]:
        """The difference to now."""
        allocators, self._about_peaks = compare_allocators(self._before, read_allocators())
        return allocators

    def notes(self) -> tuple[str, ...]:
        """What is to be known of the peaks."""
        return self._about_peaks


def read_allocators() -> _Stats:
    """`torch.cuda.memory_stats` by device; empty where CUDA is not initialised (it is never initialised here)."""
    import torch

    cuda: Any = torch.cuda
    if not cuda.is_initialized():
        return {}
    try:
        return {
            device: dict(cuda.memory_stats(device)) | {_LIMIT: _limit(cuda, device)}
            for device in range(cuda.device_count())
        }
    except RuntimeError:  # a device that reported an error answers nothing any more
        return {}


def compare_allocators(before: _Stats, after: _Stats) -> tuple[tuple[Allocator, ...], tuple[str, ...]]:
    """The allocators of the devices that hold or held memory, and what to know of their peaks, one sentence each.

    The peaks are torch's own counters, which only grow until the user resets them: where such a counter did not grow
    in this run an earlier peak was as high, and the run's own is at most that. Resetting it would change what the user
    reads.
    """
    allocators, notes = [], []
    for device, stats in after.items():
        earlier = before.get(device, {})
        peak = _bytes(stats, "allocated_bytes.all.peak")
        if not peak and not _bytes(stats, "reserved_bytes.all.peak"):
            continue
        # without earlier figures CUDA was first used in this run
        grew = not earlier or peak > _bytes(earlier, "allocated_bytes.all.peak")
        allocators.append(
            Allocator(
                device=device,
                allocated_before_bytes=_bytes(earlier, "allocated_bytes.all.current"),
                allocated_after_bytes=_bytes(stats, "allocated_bytes.all.current"),
                reserved_after_bytes=_bytes(stats, "reserved_bytes.all.current"),
                peak_allocated_bytes=peak,
                peak_reserved_bytes=_bytes(stats, "reserved_bytes.all.peak"),
                peak_in_run=grew,
                retries=_grown(earlier, stats, "num_alloc_retries") or 0,
                ooms=_grown(earlier, stats, "num_ooms") or 0,
                device_allocs=_grown(earlier, stats, "num_device_alloc"),
                device_frees=_grown(earlier, stats, "num_device_free"),
                inactive_split_bytes=stats.get("inactive_split_bytes.all.current"),
                limit_bytes=stats.get(_LIMIT),
            )
        )
        if not grew:
            notes.append(
                f"the peak of device {device} was reached before this run; its own peak is not known "
                "(--memory records it, torch.cuda.reset_peak_memory_stats() before the cell makes it readable)"
            )
    return tuple(allocators), tuple(notes)


def _limit(cuda: Any, device: int) -> int | None:
    """Bytes that torch may reserve on that device; None for all of it, or where this torch does not say."""
    share = getattr(cuda, "get_per_process_memory_fraction", lambda _: 1.0)(device)
    return None if share >= 1 else int(share * cuda.get_device_properties(device).total_memory)


def _bytes(stats: dict[str, Any], name: str) -> int:
    return int(stats.get(name, 0))


def _grown(before: dict[str, Any], after: dict[str, Any], name: str) -> int | None:
    return int(after[name]) - int(before.get(name, 0)) if name in after else None
