"""What profiling costs a CPU training loop: profiled and plain runs in turn, the ratio of each pair, its median.

    python benchmarks/capture_overhead.py [--pairs 12] [--steps 100] [--stacks] [--shapes] [--memory]

Both runs of a pair do the same steps on one torch thread; their order alternates. `loop` is the time inside the cell
(recording, hooks and samplers running), `whole` adds starting, stopping and saving. The recording covers all of the
loop. Times are of the processor (all threads of the process), so that other work on the machine disturbs them little;
the wall-clock ratio stands beside them.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch.utils.data import DataLoader, TensorDataset

from gpuprof.capture.base.options import CaptureOptions
from gpuprof.capture.session.captured import Captured
from gpuprof.capture.session.session import Session

Seconds = npt.NDArray[np.float64]  # of the processor, of the wall clock


def train(steps: int) -> None:
    """Steps of 1 to 2 ms: a small convolutional network on batches of 16 pictures of 8 × 8."""
    net = torch.nn.Sequential(
        torch.nn.Conv2d(1, 16, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.Conv2d(16, 16, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(16 * 64, 10),
    )
    optimizer = torch.optim.AdamW(net.parameters())
    pictures = TensorDataset(torch.randn(16 * steps, 1, 8, 8), torch.randint(0, 10, (16 * steps,)))
    for x, y in DataLoader(pictures, batch_size=16):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()


def now() -> Seconds:
    return np.array([time.process_time(), time.perf_counter()])


def plain(steps: int) -> Seconds:
    began = now()
    train(steps)
    return now() - began


def profiled(steps: int, options: CaptureOptions) -> tuple[Seconds, Seconds, Captured]:
    """Inside the cell, and with starting and stopping."""
    session = Session(options)
    before = now()
    session.start()
    began = now()
    train(steps)
    ended = now()
    captured = session.stop()
    return ended - began, now() - before, captured


def spread(values: Iterable[float]) -> str:
    """Median and quartiles."""
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.3f} ({low:.3f} to {high:.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--steps", type=int, default=100)
    for flag in ("stacks", "shapes", "memory"):
        parser.add_argument(f"--{flag}", action="store_true")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    inside: list[Seconds] = []
    whole: list[Seconds] = []
    stop_ns: list[int] = []
    events = 0
    with tempfile.TemporaryDirectory() as folder:
        options = CaptureOptions(
            folder=Path(folder),
            steps=chosen.steps,
            stacks=chosen.stacks,
            shapes=chosen.shapes,
            memory=chosen.memory,
            no_nvml=True,
        )
        plain(20)
        profiled(20, options)
        for pair in range(chosen.pairs):
            if pair % 2:
                base = plain(chosen.steps)
                loop, all_of_it, captured = profiled(chosen.steps, options)
            else:
                loop, all_of_it, captured = profiled(chosen.steps, options)
                base = plain(chosen.steps)
            inside.append(loop / base)
            whole.append(all_of_it / base)
            assert captured.kineto is not None and captured.context.cost is not None
            stop_ns.append(captured.context.cost.stop_ns)
            events = count_events(captured.kineto)
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, {chosen.pairs} pairs of {chosen.steps} steps")
    print(f"plain step          {base[1] / chosen.steps * 1e3:.2f} ms (last run)")
    for clock, name in enumerate(("processor", "wall clock")):
        loop_ratio, whole_ratio = spread(r[clock] for r in inside), spread(r[clock] for r in whole)
        print(f"profiled ÷ plain    {name}: loop {loop_ratio}, whole {whole_ratio}: median (quartiles)")
    print(
        f"stop and save       {statistics.median(stop_ns) / 1e6:.0f} ms, {events} events: "
        f"{statistics.median(stop_ns) / 1e3 / events:.1f} µs an event"
    )


def count_events(kineto: Path) -> int:
    import gzip

    return gzip.decompress(kineto.read_bytes()).count(b'"ph": "X"')


if __name__ == "__main__":
    main()
