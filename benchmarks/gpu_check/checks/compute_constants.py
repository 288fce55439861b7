"""The device's own peaks: matrix products by precision, memory bandwidth; and what a batch takes from a worker."""

from __future__ import annotations

import time
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset

from benchmarks.gpu_check import clocks
from benchmarks.gpu_check.check import Check
from gpuprof.whatif.changes import batch_waits

_PRECISIONS: dict[str, tuple[torch.dtype, str]] = {
    "fp32": (torch.float32, "highest"),
    "tf32": (torch.float32, "high"),
    "bf16": (torch.bfloat16, "highest"),
    "fp16": (torch.float16, "highest"),
    "fp64": (torch.float64, "highest"),
}


class Empty(Dataset[torch.Tensor]):
    """Batches that take no time to make."""

    def __len__(self) -> int:
        return 400

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.zeros(16)


def run(check: Check) -> None:
    sizes = (64,) if check.small else (512, 2048, 8192)
    for name in _PRECISIONS:
        check.note(**{name: {str(n): _product(check, name, n) for n in sizes}})
    check.note(bandwidth=_bandwidth(check))
    check.note(used={"hand_over_ns": batch_waits.HAND_OVER_NS}, hand_over_ns=_hand_over(check))
    check.expect("matrix products are timed on a device", True if check.on_device else None)


def _product(check: Check, name: str, n: int) -> dict[str, Any]:
    dtype, precision = _PRECISIONS[name]
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(precision)
    try:
        a, b = (torch.randn(n, n, device=check.device).to(dtype) for _ in range(2))
        taken = clocks.repeated(lambda: clocks.device_ns(lambda: a @ b, check.device), 5 if check.small else 10)
    finally:
        torch.set_float32_matmul_precision(before)
    return {"device_ns": taken, "tflop_per_s": 2 * n**3 / taken["median"] / 1e3}


def _bandwidth(check: Check) -> dict[str, Any]:
    """Of an elementwise operator: bytes read and written over its time."""
    x = torch.zeros((1 << 16) if check.small else (1 << 28), device=check.device)
    taken = clocks.repeated(lambda: clocks.device_ns(lambda: x.add_(1), check.device), 10)
    return {"bytes": 8 * len(x), "device_ns": taken, "gb_per_s": 8 * len(x) / taken["median"]}


def _hand_over(check: Check) -> dict[str, float]:
    """From one worker's batch to the next, where making them takes no time: what the hand-over costs."""
    waits = []
    loader = DataLoader(Empty(), batch_size=4, num_workers=1, prefetch_factor=2)
    before = time.perf_counter_ns()
    for number, _ in enumerate(loader):
        now = time.perf_counter_ns()
        if number >= 10:
            waits.append(float(now - before))
        before = now
    return clocks.spread(waits)
