"""Lines that make the host wait for the device: is each wait put down to its own line, and to no other?"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from benchmarks.gpu_check import cells, recorded
from benchmarks.gpu_check.check import Check
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.transfers.sync_waits import SyncWaits
from gpuprof.model.table import Array
from gpuprof.run import Run

# the mark says how often each round waits there; `cpu`: the line also reads a value where there is no device
_CELL = """\
total = 0.0
for step in range(rounds):
    y = (x @ x) * 1e-3
    total += y[0, 0].item()  # waits 1 cpu
    z = y + 1
    if (z[0, 0] > 5).item():  # waits 1 cpu
        z = z - 1
    if z[0, 1] > 5:  # waits 1 cpu
        z = z * 2
    picked = z[z > 1.5]  # waits 1
    rows = torch.nonzero(z[0] > 2)  # waits 1
    host = z[:4].cpu()  # waits 1
    more = read(y)
    scale = float(z[1, 1])  # waits 1 cpu
    w = z * 0.5 + y
    synchronize()  # waits 1
    v = w.relu() @ x
"""
_NOWHERE = (-1, -1)
_SETUP = """\
import torch
x = torch.randn(n, n, device=device)
synchronize = torch.cuda.synchronize if device == "cuda" else (lambda: None)

def read(t):
    u = t * 2
    return u[2, 2].item()  # waits 1 cpu
"""


def run(check: Check) -> None:
    rounds = 5 if check.small else 40
    namespace: dict[str, Any] = {"__name__": "__main__", "device": check.device, "rounds": rounds}
    namespace["n"] = 64 if check.small else 4096
    cells.enter(_SETUP, namespace)
    cells.enter(_CELL, {**namespace, "rounds": 2})
    profiled = cells.play(_CELL, namespace).run
    recorded.keep(check, profiled, "sync_lines")
    truth, read_line = _truth(check.on_device)
    found = _found(profiled, check.on_device)
    rows = [{"file": file, "line": line, "waits": times} for (file, line), times in sorted(found.items())]
    check.note(rounds=rounds, how=recorded.describe(profiled)["lines"], found=rows)
    expected = {(0, line) for line in truth} | {(1, read_line)}
    right = sum(times for place, times in found.items() if place in expected)
    check.note(truth=sorted(expected), placed_right_share=right / max(sum(found.values()), 1))
    followed = profiled.trace.context.lines
    if followed is not None and followed.how == "monitoring":
        check.expect("every line that waits is found", expected <= set(found))
        check.expect("each as often as it waited", all(found[place] >= rounds for place in expected))
    # lines learned from looks at the stack may leave a wait without one, but never give it another's
    check.expect("no other line is", set(found) <= expected | {_NOWHERE})


def _truth(on_device: bool) -> tuple[set[int], int]:
    def marked(line: str) -> bool:
        return "# waits" in line and (on_device or line.endswith("cpu"))

    lines = {number for number, line in enumerate(_CELL.splitlines(), 1) if marked(line)}
    inner = next(number for number, line in enumerate(_SETUP.splitlines(), 1) if marked(line))
    return lines, inner


def _found(run_of_it: Run, on_device: bool) -> Counter[tuple[int, int]]:
    """How many waits (without a device: reads of a value) lie on each line, by file and line."""
    results, trace = run_of_it.report_data.results, run_of_it.trace
    places = results.get(LinePlaces)
    if on_device:
        waits = results.get(SyncWaits).table
        window = trace.context.window
        if window is not None:  # gpuprof itself waits for the device once, when the recording ends
            waits = waits.take(waits["start_ns"] < window.end_ns)
        threads, times = waits["thread"], waits["start_ns"]
    else:
        reads = trace.operators.take(trace.names_of(trace.operators) == "aten::_local_scalar_dense")
        threads, times = reads["thread"], reads["start_ns"]
    rows: Array = places.at(threads, times)
    known = rows[rows >= 0]
    files, lines = places.events["source_file"][known], places.events["line"][known]
    found = Counter(zip(files.tolist(), lines.tolist(), strict=True))
    if lost := int(np.sum(rows < 0)):
        found[_NOWHERE] = lost
    return found
