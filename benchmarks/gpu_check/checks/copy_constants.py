"""How fast copies are, by size, direction and kind of memory, and how long the host stands in the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from benchmarks.gpu_check import clocks
from benchmarks.gpu_check.check import Check
from gpuprof.whatif.graph import waits


def run(check: Check) -> None:
    largest = 22 if check.small else 30
    check.note(used={"waits.async_call_ns": waits._ASYNC_CALL_NS})
    for power in range(12, largest + 1, 3):
        check.note(**{f"{1 << power}": _copies(check, 1 << power)})
    check.note(device_to_device=_device_to_device(check, 1 << largest))
    check.expect("copies are timed on a device", True if check.on_device else None)


def _copies(check: Check, size: int) -> dict[str, Any]:
    """Of `size` bytes: device time, time of the blocking copy, and of the call alone, for each way."""
    on_device = torch.empty(size, dtype=torch.uint8, device=check.device)
    found: dict[str, Any] = {}
    for kind in ("pageable", "pinned"):
        host = torch.zeros(size, dtype=torch.uint8, pin_memory=kind == "pinned" and check.on_device)
        ways: dict[str, Callable[..., Any]] = {
            "h2d": lambda nb, host=host: on_device.copy_(host, non_blocking=nb),
            "d2h": lambda nb, host=host: host.copy_(on_device, non_blocking=nb),
        }
        for way, copy in ways.items():
            found[f"{way}_{kind}"] = _timed(check, copy, size)
    return found


def _timed(check: Check, copy: Callable[[bool], Any], size: int) -> dict[str, Any]:
    times = 5 if check.small or size >= 1 << 27 else 20
    device = clocks.repeated(lambda: clocks.device_ns(lambda: copy(True), check.device), times)
    blocking = clocks.repeated(lambda: clocks.host_ns(lambda: copy(False), check.device), times)
    call = clocks.repeated(lambda: clocks.host_ns(lambda: copy(True), check.device, wait=False), times)
    rate = size / device["median"] if device["median"] else None
    return {"device_ns": device, "blocking_ns": blocking, "call_ns": call, "gb_per_s": rate}


def _device_to_device(check: Check, size: int) -> dict[str, Any]:
    source = torch.empty(size, dtype=torch.uint8, device=check.device)
    target = torch.empty_like(source)
    taken = clocks.repeated(lambda: clocks.device_ns(lambda: target.copy_(source), check.device), 10)
    return {"bytes": size, "device_ns": taken, "read_and_written_gb_per_s": 2 * size / taken["median"]}
