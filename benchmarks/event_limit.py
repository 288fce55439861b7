"""A cell of five million operators: what the profiler keeps of it, and what ending the recording takes.

python benchmarks/event_limit.py [operators]

Runs it twice in one process. The second time the memory that the first one freed is used again, so that resident memory
hardly grows: what is counted must not depend on it.
"""

from __future__ import annotations

import gzip
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil
import torch

from gpuprof.capture.base.options import CaptureOptions
from gpuprof.capture.session.session import Session

_PERIOD_S = 0.02


class Peak:
    """The most resident memory that this process has had since `start`, above what it had then, bytes."""

    def __init__(self) -> None:
        self._process = psutil.Process()
        self._before = self.bytes = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._before = self._process.memory_info().rss
        self._thread.start()

    def stop(self) -> int:
        """The most seen, bytes."""
        self._ended.set()
        self._thread.join()
        return self.bytes

    def _watch(self) -> None:
        while not self._ended.wait(_PERIOD_S):
            self.bytes = max(self.bytes, self._process.memory_info().rss - self._before)


def cell(operators: int) -> None:
    """Small additions in a loop."""
    ones = torch.ones(4)
    for _ in range(operators):
        torch.add(ones, ones)


def measure(operators: int, folder: Path) -> str:
    """One line: the events kept, the most memory, and the time to end the recording, on the wall and on the CPU."""
    session, peak = Session(CaptureOptions(folder=folder, no_nvml=True, no_lines=True)), Peak()
    session.start()
    recording = session._watch._window.recording if session._watch else None
    spent_s = [0.0]
    if recording is not None:
        disable = recording._disable

        def timed() -> object:
            began = time.thread_time()
            results = disable()
            spent_s[0] = time.thread_time() - began
            return results

        recording._disable = timed  # type: ignore[method-assign]
    peak.start()
    cell(operators)
    captured = session.stop()
    assert recording is not None and captured.kineto is not None and captured.context.window is not None
    events = gzip.decompress(captured.kineto.read_bytes()).count(b'"cat": "cpu_op"')
    window = captured.context.window
    return (
        f"{operators:,} operators: {events:,} events in {(window.end_ns - window.start_ns) / 1e9:.1f} s, "
        f"ended by {window.ended_by}; most memory {peak.stop() / 2**20:,.0f} MiB; "
        f"profiler stopped in {recording.stop_cost_ns / 1e9:.2f} s ({spent_s[0]:.2f} s of CPU)"
    )


def main() -> None:
    """Measure twice and print."""
    operators = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000
    cell(10)
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            print(measure(operators, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
