"""A model whose memory can be worked out: what it keeps to the byte, its activations within 5 %."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from benchmarks.gpu_check import cells, recorded
from benchmarks.gpu_check.check import Check
from gpuprof.analyses.memory.memory_composition import MemoryComposition
from gpuprof.analyses.memory.memory_peak import MemoryPeak

_SETUP = """\
import torch
torch.manual_seed(0)
parts = []
for _ in range(size.layers):
    parts += [torch.nn.Linear(size.width, size.width), torch.nn.ReLU()]
model = torch.nn.Sequential(*parts, torch.nn.Linear(size.width, 1)).to(device)
optimizer = torch.optim.Adam(model.parameters(), foreach=True)
x = torch.randn(size.batch, size.width, device=device)
"""
_CELL = """\
for step in range(8):
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
"""
_FLOAT, _NEAR = 4, 0.05


def run(check: Check) -> None:
    size = SimpleNamespace(layers=8, width=64, batch=4096) if check.small else SimpleNamespace(**_LARGE)
    for with_rows in (False, True):
        namespace: dict[str, Any] = {"__name__": "__main__", "device": check.device, "size": size}
        cells.enter(_SETUP, namespace)
        if check.on_device:
            import torch

            torch.cuda.reset_peak_memory_stats()
        _judge(check, "rows" if with_rows else "statistics", size, cells.play(_CELL, namespace, memory=with_rows).run)
        namespace.clear()


_LARGE = {"layers": 8, "width": 1024, "batch": 65536}


def _judge(check: Check, source: str, size: SimpleNamespace, run_of_it: Any) -> None:
    weights = size.layers * (size.width * size.width + size.width) + size.width + 1
    activation = size.batch * size.width * _FLOAT
    key = "cuda:0" if check.on_device else "cpu"
    found = next((each for each in run_of_it.trace.context.compositions if each.device == key), None)
    results = run_of_it.report_data.results
    part = results.get(MemoryComposition).primary
    peak = results.get(MemoryPeak)
    use = next(iter(peak.devices), None) if check.on_device else peak.host
    facts: dict[str, Any] = {
        "parameters": weights,
        "composition": None if found is None else {n: getattr(found, n) for n in found.__struct_fields__[:7]},
        "part": None if part is None else {n: getattr(part, n) for n in part.__dataclass_fields__ if n != "modules"},
        "activations_bytes": None if use is None else use.activations_bytes,
        "one_activation_bytes": activation,
    }
    check.note(**{source: facts})
    recorded.keep(check, run_of_it, source)
    # on a device Adam's step counters stay on the host; here they lie beside the state
    counters = 0 if check.on_device else (2 * size.layers + 2) * _FLOAT
    exact = {"parameter_bytes": weights * _FLOAT, "gradient_bytes": weights * _FLOAT}
    exact["state_bytes"] = 2 * weights * _FLOAT + counters
    for name, wanted in exact.items():
        check.expect(f"{source}: {name} to the byte", found is not None and getattr(found, name) == wanted)
    if source == "rows":
        # forward keeps each layer's output once, ReLU and the next layer share it
        kept = size.layers * activation
        got = facts["activations_bytes"]
        check.expect(f"{source}: activations within 5 %", got is not None and abs(got / kept - 1) <= _NEAR)
    _judge_peak(check, source, size, activation, part)


def _judge_peak(check: Check, source: str, size: SimpleNamespace, activation: int, part: Any) -> None:
    """The batch, each layer's output and two gradients of one are live in backward's first large layer."""
    at_peak = (size.layers + 3) * activation
    low: int | None = None if part is None else part.rest_low_bytes
    high: int | None = None if part is None else part.rest_high_bytes
    near = low is not None and high is not None and low * (1 - _NEAR) <= at_peak <= high * (1 + _NEAR)
    check.note(**{f"{source}_rest": {"low": low, "high": high, "worked_out": at_peak}})
    check.only_on_device(f"{source}: activations and temporaries at the peak within 5 %", near)
