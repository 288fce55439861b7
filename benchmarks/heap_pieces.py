"""What a recording does to steps whose tensors come and go on the host, with and without small pieces of heap.

    python benchmarks/heap_pieces.py [--width 1024] [--steps 14]

One step adds up 24 gradients of width × width float32, one after another. For plain steps, for torch's profiler as
it is, and with `gpuprof.capture.heap.SmallPieces` laid out before (each in its own process): the median step, the pages
that it took anew from the system, and what the process grew by, as a Markdown table.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[1]
KINDS = {"plain": "plain", "profiler": "torch’s profiler", "pieces": "the same, with small pieces"}
VECTORS = 24


def measure(kind: str, width: int, steps: int) -> str:
    """`ms of the median step|its page faults|MB that the process grew by`."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    from gpuprof.capture.heap import SmallPieces

    torch.set_num_threads(1)
    torch.manual_seed(0)
    weights = torch.nn.Parameter(torch.randn(width, width) / width**0.5)
    rows = torch.randn(VECTORS, width)

    def step() -> None:
        weights.grad = None
        losses = [torch.tanh(row @ weights).square().mean() for row in rows]
        torch.stack(losses).mean().backward()

    step()
    if kind == "pieces":
        SmallPieces().lay_out()
    seconds, faults, before = [], [], psutil.Process().memory_info().rss
    with nullcontext() if kind == "plain" else profile(activities=[ProfilerActivity.CPU]):
        for _ in range(steps):
            faulted, began = resource.getrusage(resource.RUSAGE_SELF).ru_minflt, time.perf_counter()
            step()
            seconds.append(time.perf_counter() - began)
            faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faulted)
        grown = psutil.Process().memory_info().rss - before
    return f"{1e3 * statistics.median(seconds):.1f}|{statistics.median(faults):.0f}|{grown / 1e6:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description="what a recording does to the heap")
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--kind", choices=tuple(KINDS), help="measure this in this process")
    chosen = parser.parse_args()
    if chosen.kind:
        print(measure(chosen.kind, chosen.width, chosen.steps))
        return
    print("| steps | median step, ms | ratio | pages anew a step | process grew by, MB |\n|---|---|---|---|---|")
    plain = None
    for kind, name in KINDS.items():
        command = [sys.executable, "-m", "benchmarks.heap_pieces", "--kind", kind]
        command += ["--width", str(chosen.width), "--steps", str(chosen.steps)]
        told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()[-1]
        ms, faults, grown = (float(each) for each in told.split("|"))
        plain = plain or ms
        print(f"| {name} | {ms:.1f} | {ms / plain:.2f} | {faults:.0f} | {grown:.0f} |")


if __name__ == "__main__":
    main()
