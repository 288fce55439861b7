"""Validation that keeps its graphs on a device: does the allocator's growth show in its phase, and is it explained?"""

from __future__ import annotations

from typing import Any

from benchmarks.gpu_check import cells, recorded
from benchmarks.gpu_check.check import Check
from gpuprof.analyses.accounts.memory_by_phase import MemoryByPhase
from gpuprof.analyses.memory.kept_memory import KeptMemory

_SETUP = """\
import torch
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.ReLU(), torch.nn.Linear(width, 8)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
loader = DataLoader(TensorDataset(torch.randn(40 * batch, width)), batch_size=batch)
outputs = []
"""
_CELL = """\
for (x,) in loader:
    optimizer.zero_grad()
    model(x.to(device)).square().mean().backward()
    optimizer.step()
for (x,) in loader:
    outputs.append(model(x.to(device)).cpu())
"""
_LINE = 6
# the graphs are gone when the function returns: its variables are looked at while the device fills up
_IN_FUNCTION = """\
import time
def spread(x):
    outputs = []
    for _ in range(40):
        outputs.append(model(x))
        time.sleep(0.05)
    return torch.stack(outputs).std(0).mean().item()
print(spread(torch.randn(batch, width).to(device)))
"""
_LINE_IN_FUNCTION = 5


def run(check: Check) -> None:
    width, batch = (32, 64) if check.small else (1024, 8192)
    namespace: dict[str, Any] = {"__name__": "__main__", "device": check.device, "width": width, "batch": batch}
    cells.enter(_SETUP, namespace)
    profiled = cells.play(_CELL, namespace).run
    results = profiled.report_data.results
    kept = {each.device: each for each in results.get(KeptMemory).devices}
    places = {each.place: each for each in results.get(MemoryByPhase).places}
    # the input and the result of the ReLU of each batch, in fp32
    expected = 40 * 2 * 4 * batch * width
    check.note(kept=str(kept), places=str(places), expected_bytes=expected, findings=recorded.findings(profiled))
    recorded.keep(check, profiled, "kept")
    readings = {each.device: each for each in profiled.trace.context.device_memory}
    read = len(readings[0].time_ns) if 0 in readings else 0
    check.only_on_device("the allocator is read in training and evaluation", read > 5)
    graphs = next((sum(row.graph_bytes for row in each.kept) for name, each in kept.items() if name != "cpu"), 0)
    check.only_on_device("what the graphs keep on the device within 5 %", abs(graphs / expected - 1) <= 0.05)
    grown = getattr(places.get("cuda:0"), "grown_bytes", 0)
    check.only_on_device("the device's growth by phase covers it", grown >= 0.9 * expected)
    lines = [each.where.lines for each in profiled.findings if each.rule == "memory_kept_by_hooks_or_graphs"]
    check.only_on_device("memory_kept_by_hooks_or_graphs names the line", lines == [(_LINE,)])
    _in_function(check, namespace)


def _in_function(check: Check, namespace: dict[str, Any]) -> None:
    namespace["outputs"].clear()
    profiled = cells.play(_IN_FUNCTION, namespace).run
    recorded.keep(check, profiled, "in_function")
    kept = {each.device: each for each in profiled.report_data.results.get(KeptMemory).devices}
    check.note(in_function=str(kept), in_function_findings=recorded.findings(profiled))
    rows = [row for name, each in kept.items() if name != "cpu" for row in each.kept if row.function == "spread"]
    check.only_on_device("variables of a running function are seen as the device fills up", bool(rows))
    lines = [each.where.lines for each in profiled.findings if each.rule == "memory_kept_by_hooks_or_graphs"]
    check.only_on_device("and their line is named", any(_LINE_IN_FUNCTION in each for each in lines))
