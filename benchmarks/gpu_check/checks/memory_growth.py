"""Memory that grows by the step, and a snapshot of the allocator: are both read right?"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import gpuprof
from benchmarks.gpu_check import cells, recorded
from benchmarks.gpu_check.check import Check
from gpuprof.analyses.memory.memory_growth import MemoryGrowth
from gpuprof.analyses.memory.memory_peak import MemoryPeak

_SETUP = """\
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.ReLU(), torch.nn.Linear(width, 1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
x = torch.randn(batch, width, device=device)
kept = []
"""
_CELL = """\
total = 0
for step in range(40):
    optimizer.zero_grad()
    y = model(x)
    loss = y.square().mean()
    loss.backward()
    optimizer.step()
    kept.append(torch.empty(grown, device=device))
    total = total + loss.detach()
"""


def run(check: Check) -> None:
    width, batch, grown = (32, 64, 1024) if check.small else (1024, 4096, 16 * 1024**2)
    namespace: dict[str, Any] = {"__name__": "__main__", "device": check.device}
    namespace |= {"width": width, "batch": batch, "grown": grown}
    cells.enter(_SETUP, namespace)
    profiled = cells.play(_CELL, namespace, memory=check.small).run
    growth = profiled.report_data.results.get(MemoryGrowth)
    found = {name: getattr(growth, name) for name in growth.__dataclass_fields__}
    check.note(growth=found, grown_bytes=4 * grown, findings=recorded.findings(profiled))
    recorded.keep(check, profiled, "growth")
    per_step = growth.per_step_bytes
    near = per_step is not None and abs(per_step / (4 * grown) - 1) <= 0.02
    check.only_on_device("the growth of a step within 2 %", near)
    fired = [each.rule for each in profiled.findings]
    check.only_on_device("memory_grows_per_step fires", "memory_grows_per_step" in fired)
    _snapshot(check)


def _snapshot(check: Check) -> None:
    if not check.on_device:
        check.expect("a snapshot of the allocator is read", None)
        return
    import torch

    torch.cuda.memory._record_memory_history(max_entries=100_000, stacks="python")
    try:
        blocks = [torch.empty(1024**2 * size, device="cuda", dtype=torch.uint8) for size in range(1, 20)]
        live = torch.cuda.memory_allocated()
        del blocks
        path = check.folder / "snapshot.pickle"
        torch.cuda.memory._dump_snapshot(str(path))  # type: ignore[no-untyped-call]
    finally:
        torch.cuda.memory._record_memory_history(enabled=None)
    held = _held_in(path) + 1024**2 * sum(range(1, 20))
    use = next(iter(gpuprof.load(path).report_data.results.get(MemoryPeak).devices), None)
    peak = None if use is None else use.peak_allocated_bytes
    check.note(snapshot={"bytes": path.stat().st_size, "peak_bytes": peak, "live_bytes": live, "held_bytes": held})
    check.expect("a snapshot of the allocator is read", peak is not None)
    # of the statistics it may differ: those of torch 2.11 count 5 MiB that no segment of the snapshot has
    check.expect("its peak is what the snapshot holds", peak == held)


def _held_in(snapshot: Path) -> int:
    """Bytes in use when it was written, by its segments."""
    with snapshot.open("rb") as file:
        return sum(segment["active_size"] for segment in pickle.load(file)["segments"])
