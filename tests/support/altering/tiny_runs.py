"""Runs of a few events: `tiny_run(number)` is always the same Trace.

All begins and lengths come from few values, nothing among them, so that much happens at the same instant; what is
usually there (calls, launches, streams, steps, a second event of a kind) is missing in many. What simulation makes of
them is kept in tests/data/figures/tiny.json.
"""

from __future__ import annotations

import functools
import json
import random
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpuprof.analyses.basics.result import Results
from gpuprof.model.trace import Trace
from tests.support.figures import Plain, brief
from tests.support.simulated import of_whatif
from tests.support.trace_builder import TraceBuilder

FILE = Path(__file__).parents[2] / "data" / "figures" / "tiny.json"
WRITE = "python -m tests.support.altering.tiny_runs"
TINY = 90
PAUSES = (0, 0, 1, 1, 5, 8, 20, 100, 130)
LENGTHS = (0, 1, 5, 10, 30, 100, 400)
LAGS = (-3, 0, 1, 7, 8, 8, 9, 40)
Event = Callable[["_Run"], None]


class _Run:
    """One in the making: a host that issues, and streams on which that begins when they are free."""

    def __init__(self, number: int) -> None:
        self._random = random.Random(number)
        self.builder = TraceBuilder()
        self.now = 0.0
        self.free: dict[tuple[int, int], float] = defaultdict(float)
        self.devices = self.of((0,), (0,), (0, 1), (3,))
        self.streams = self.of((7,), (7, 20), (7, 20, 21))

    def of(self, *values: Any) -> Any:
        """One of them."""
        return values[int(self._random.random() * len(values))]

    def on_device(self, launched: bool) -> tuple[dict[str, Any], float, float]:
        """Where and when it runs, and for how long."""
        device, stream = self.of(*self.devices), self.of(*self.streams)
        begin = max(self.now + self.of(*LAGS), self.free[device, stream] + self.of(0, 0, 1, 2))
        lasting = self.of(*LENGTHS)
        self.free[device, stream] = begin + lasting
        place = {"device": device, "stream": stream}
        return (
            place | ({"launch_at_us": self.now, "launch_for_us": self.of(0, 2, 5)} if launched else {}),
            begin,
            lasting,
        )


def _kernel(run: _Run) -> None:
    place, begin, lasting = run.on_device(run.of(True, True, True, False))
    run.builder.kernel(run.of("gemm", "add", "ncclDevKernel_AllReduce"), begin, lasting, **place)


def _copy(run: _Run) -> None:
    place, begin, lasting = run.on_device(run.of(True, True, False))
    way, memory = run.of("h2d", "h2d", "d2h", "d2d"), run.of("pageable", "pinned", "unknown")
    if "launch_at_us" in place and memory == "pageable":
        place["launch_for_us"] = max(begin + lasting + run.of(-5, 0, 10) - run.now, 0)
    run.builder.copy(way, begin, lasting, bytes=run.of(0, 1, 4096, 1 << 20), host_memory=memory, **place)


def _memset(run: _Run) -> None:
    place, begin, lasting = run.on_device(True)
    run.builder.memset(begin, lasting, **place)


def _wait(run: _Run) -> None:
    """For one stream, or for all; or it comes back too early."""
    until = max(run.free.values(), default=0.0) + run.of(-20, 0, 3, 10)
    lasting = max(until - run.now, run.of(0, 4))
    run.builder.sync(run.now, lasting, run.of("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize"))
    run.now += lasting


def _event(run: _Run) -> None:
    run.builder.call(run.of("cudaEventRecord", "cudaStreamWaitEvent"), run.now, run.of(0, 1))


def _memory(run: _Run) -> None:
    run.builder.call(run.of("cudaMalloc", "cudaFree"), run.now, run.of(0, 1, 200))


def _operator(run: _Run) -> None:
    lasting = run.of(*LENGTHS)
    run.builder.operator(run.of("aten::mm", "aten::add", "aten::cat", "aten::item"), run.now, lasting)
    run.now += run.of(0, 0, lasting)


def _wait_for_batch(run: _Run) -> None:
    lasting = run.of(*LENGTHS)
    run.builder.data_wait(run.now, lasting, workers=run.of(0, 2))
    run.now += lasting


def _optimizer(run: _Run) -> None:
    run.builder.optimizer_step("SGD", run.now, run.of(*LENGTHS))


def _thread(run: _Run) -> None:
    run.builder.thread(run.of("main", "other"))


EVENTS: tuple[Event, ...] = (
    _kernel, _kernel, _kernel, _copy, _copy, _wait, _wait, _operator, _memset, _event, _event, _memory, _wait_for_batch,
    _optimizer, _thread,
)  # fmt: skip


def tiny_run(number: int) -> Trace:
    """The run of that number."""
    run = _Run(number)
    chosen = [run.of(*EVENTS) for _ in range(run.of(1, 2, 3, 5))]
    for _ in range(run.of(1, 1, 2, 4)):
        begin = run.now
        for event in chosen:
            event(run)
            run.now += run.of(*PAUSES)
        if run.of(True, True, False):
            run.builder.step(begin, run.now - begin)
    return run.builder.build()


def told(number: int) -> dict[str, Plain]:
    """What simulation makes of it, in brief."""
    whole = json.loads(json.dumps(of_whatif(Results(tiny_run(number)))))
    return {name: _short(brief(fields)) for name, fields in whole.items()}


def _short(said: Plain) -> Plain:
    """Of a text that was cut the checksum only."""
    return said.rpartition(" ")[2] if isinstance(said, str) else said


@functools.cache
def kept() -> dict[str, dict[str, Plain]]:
    """As it was when the file was written."""
    content: dict[str, dict[str, Plain]] = json.loads(FILE.read_text())
    return content


def write() -> None:
    """The file anew."""
    rows = [
        f"{json.dumps(str(number))}: {json.dumps(told(number), ensure_ascii=False, separators=(',', ':'))}"
        for number in range(TINY)
    ]
    FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    write()
