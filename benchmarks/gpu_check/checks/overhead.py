"""What gpuprof costs a training step: plain and profiled blocks in turn (ABBA), inside the recording and after it.

The argument is the size of the training step. Each way is compared with plain blocks of its own: `window` the whole
default capture inside its recording, `after` the same once the recording has ended, `no_lines` and `no_nvml` without
those, `nvml_only` the device sampler alone.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.gpu_check import cells, clocks, training
from benchmarks.gpu_check.check import Check
from gpuprof.capture.base.options import CaptureOptions
from gpuprof.capture.nvml.device_sampler import DeviceSampler
from gpuprof.capture.session.session import Session
from gpuprof.model.context import Cell

_WAYS = ("window", "after", "no_lines", "no_nvml", "nvml_only")
_WINDOW_STEPS = 5


class Loop:
    """The training loop, ready to run any number of steps."""

    def __init__(self, check: Check, size: str):
        self._device = check.device
        self._namespace = training.sized(size, check.device)
        cells.enter(training.SETUP, self._namespace)

    @property
    def namespace(self) -> dict[str, Any]:
        """The notebook's variables."""
        return self._namespace

    def block_ns(self, steps: int) -> int:
        """Wall clock of that many steps, run as a cell of its own name each time."""
        self._namespace["steps"] = steps
        self._namespace["losses"] = []
        return clocks.host_ns(lambda: cells.enter(training.CELL, self._namespace), self._device)


def run(check: Check) -> None:
    size = check.arguments[0] if check.arguments else "mini"
    loop = Loop(check, size)
    loop.block_ns(5)
    step_ns = loop.block_ns(5) / 5
    steps = 5 if check.small else max(8, min(400, round(2e8 / step_ns)))
    pairs = 2 if check.small else 12
    _way("window", loop, 3)()
    check.note(steps_per_block=steps, plain_step_ns=step_ns, pairs=pairs, size=size)
    for number, way in enumerate(_WAYS):
        # so that the first ways leave time for the last
        until = time.monotonic() + max(0.0, check.left_s - 10) / (len(_WAYS) - number)
        ratios: list[float] = []
        while len(ratios) < pairs and (len(ratios) < 2 or time.monotonic() < until):
            ratios.append(_ratio(loop, _way(way, loop, steps), steps, plain_first=len(ratios) % 2 == 1))
        check.note(**{way: clocks.spread(ratios), f"{way}_ratios": ratios})
        check.say(f"{size} {way}: {clocks.spread(ratios)['median']:.3f}")
    check.expect("overhead is measured on a device", True if check.on_device else None)


def _ratio(loop: Loop, profiled: Callable[[], int], steps: int, *, plain_first: bool) -> float:
    """One pair; which comes first alternates, so that whatever drifts is on both sides alike."""
    if plain_first:
        plain = loop.block_ns(steps)
        return profiled() / plain
    watched = profiled()
    return watched / loop.block_ns(steps)


def _way(way: str, loop: Loop, steps: int) -> Callable[[], int]:
    # more than the block has: ending the recording is not in its time
    options: dict[str, Any] = {"steps": steps + 10, "skip": 0, "max_seconds": 120.0}
    if way == "nvml_only":
        return lambda: _sampled(loop, steps)
    if way == "after":
        options["steps"] = _WINDOW_STEPS
        return lambda: _profiled(loop, steps, options, lead=_WINDOW_STEPS + 3)
    options |= {way: True} if way.startswith("no_") else {}
    return lambda: _profiled(loop, steps, options)


def _profiled(loop: Loop, steps: int, options: dict[str, Any], lead: int = 0) -> int:
    """A block inside a capture, after `lead` steps in it; starting and stopping are not in the time."""
    with tempfile.TemporaryDirectory() as folder:
        # the block's code has the name of a cell, and so its lines are followed
        session = Session(
            CaptureOptions(folder=Path(folder), **options), cell=Cell(source=training.CELL), namespace=loop.namespace
        )
        session.start()
        try:
            if lead:
                loop.block_ns(lead)
            return loop.block_ns(steps)
        finally:
            session.stop()


def _sampled(loop: Loop, steps: int) -> int:
    sampler = DeviceSampler(hz=10.0)
    sampler.start()
    try:
        return loop.block_ns(steps)
    finally:
        sampler.stop()
