"""When a variant has settled: compilation, autotuning and growing allocators are over, the device's clock is steady."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Self

WINDOW = 5
SETTLED_SHARE = 0.02
_TREND = 8  # of the ten ordered pairs among five blocks
# NVML's reasons for lower clocks that are slowdowns: power cap, hardware and software thermal, hardware brake
_THROTTLED = 0x4 | 0x8 | 0x20 | 0x40 | 0x80


def settled(units_ns: Sequence[float]) -> bool:
    """Whether the last five blocks lie within 2 %, or (on a noisy machine) fall no further.

    The second: eight blocks or more, and among the last five at most eight of ten pairs grow or shrink the same way.
    """
    last = list(units_ns[-WINDOW:])
    if len(last) < WINDOW:
        return False
    middle = sorted(last)[WINDOW // 2]
    if max(last) - min(last) <= SETTLED_SHARE * middle:
        return True
    falls = sum(last[a] > last[b] for a in range(WINDOW) for b in range(a + 1, WINDOW))
    return len(units_ns) >= WINDOW + 3 and 10 - _TREND < falls < _TREND


class DeviceClocks:
    """The clocks of the devices in use, from NVML; says nothing where there is no device or no NVML."""

    def __init__(self) -> None:
        self._sampler: Any = None
        self._seen: list[int] = []

    def __enter__(self) -> Self:
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_initialized():
            from gpuprof.capture.nvml.device_sampler import DeviceSampler

            self._sampler = DeviceSampler(hz=5.0)
            self._sampler.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._sampler is not None:
            self._sampler.stop()

    def note(self) -> None:
        """Read once, at the end of a block."""
        clocks = [sample.sm_clock_mhz for sample in self._latest() if sample.sm_clock_mhz]
        self._seen.append(min(clocks, default=0))

    def forget(self) -> None:
        """The next variant begins."""
        self._seen.clear()

    def steady(self) -> bool:
        """Whether the last five readings lie within 2 % and nothing holds the clocks down."""
        last = [clock for clock in self._seen[-WINDOW:] if clock]
        return (not last or max(last) - min(last) <= SETTLED_SHARE * max(last)) and not self.throttled()

    def throttled(self) -> bool:
        """Whether power or heat holds a device's clocks down right now."""
        return any((sample.clock_reasons or 0) & _THROTTLED for sample in self._latest())

    def _latest(self) -> list[Any]:
        return [] if self._sampler is None else self._sampler.latest()
