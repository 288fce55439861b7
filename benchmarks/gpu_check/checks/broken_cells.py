"""Cells that end badly: out of memory, and an assertion on the device. The error passes, the report appears.

Each kind is a check of its own, since a device assertion leaves its process without a device.
"""

from __future__ import annotations

from typing import Any

from benchmarks.gpu_check import cells, recorded
from benchmarks.gpu_check.check import Check

KINDS = ("out_of_memory", "device_assert")
_CELLS = {
    "out_of_memory": """\
import torch
held = []
for step in range(10_000):
    x = torch.randn(64, 64, device=device)
    (x @ x).sum().item()
    held.append(torch.empty(block if step < 8 else 1 << 50, dtype=torch.uint8, device=device))
""",
    "device_assert": """\
import torch
x = torch.randn(64, 64, device=device)
for step in range(20):
    y = (x @ x).sum().item()
z = x[torch.tensor([100], device=device)]
z.cpu()
""",
}
_ERRORS = {"out_of_memory": ("OutOfMemoryError", "RuntimeError"), "device_assert": ("AcceleratorError", "RuntimeError")}


def run(check: Check) -> None:
    kind = check.arguments[0] if check.arguments else KINDS[0]
    block = 1 << 20 if check.small else 1 << 30
    namespace: dict[str, Any] = {"__name__": "__main__", "device": check.device, "block": block}
    played = cells.play(_CELLS[kind], namespace)
    error = type(played.error).__name__
    wanted = (*_ERRORS[kind], *(() if check.on_device else ("IndexError",)))
    check.note(error=error, message=str(played.error)[:300])
    check.expect("the cell's own error passes through", error in wanted)
    _judge(check, played.run, kind)
    _profiler_free(check)


def _judge(check: Check, run_of_it: Any, kind: str) -> None:
    facts, text = recorded.describe(run_of_it), run_of_it.text()
    outcome = run_of_it.trace.context.outcome
    check.note(run=facts, notes=list(run_of_it.trace.context.notes), text=text[:3000])
    recorded.keep(check, run_of_it, kind)
    check.expect("the report appears", len(text) > 200)
    check.expect("the report knows of the error", outcome is not None and outcome.error is not None)
    check.expect("operators until then are kept", facts["operators"] > 10)
    if kind == "out_of_memory":
        allocators = run_of_it.trace.context.allocators
        check.note(ooms=[each.ooms for each in allocators])
        check.only_on_device("the allocator's failure is counted", any(each.ooms > 0 for each in allocators))
        check.only_on_device("kernels until then are kept", facts["device_events"]["kernel"] > 0)


def _profiler_free(check: Check) -> None:
    import torch

    check.expect("the profiler is free again", not torch._C._autograd._profiler_enabled())
