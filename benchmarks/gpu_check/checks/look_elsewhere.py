"""Training and then a long evaluation: does the recording end, and is the evaluation looked at, beside a device?"""

from __future__ import annotations

from typing import Any

from benchmarks.gpu_check import cells, recorded
from benchmarks.gpu_check.check import Check

_SETUP = """\
import time, torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(n, n), torch.nn.ReLU(), torch.nn.Linear(n, n)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
x = torch.randn(n, n, device=device)
"""
_CELL = """\
for _ in range(30):
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()
ends, ranks = time.monotonic() + seconds, []
while time.monotonic() < ends:
    with torch.no_grad():
        ranks.append(model(x + len(ranks)).sort(dim=1).indices[0, 0].item())
"""


def run(check: Check) -> None:
    namespace: dict[str, Any] = {"__name__": "__main__", "device": check.device}
    namespace |= {"n": 64 if check.small else 2048, "seconds": 6}
    cells.enter(_SETUP, namespace)
    profiled = cells.play(_CELL, namespace, close_look=True).run
    recorded.keep(check, profiled, "look_elsewhere")
    trace, window, look = profiled.trace, profiled.trace.context.window, profiled.trace.context.look
    assert window is not None and look is not None
    names = set(trace.names_of(trace.looked_operators))
    check.note(
        window=str(window), look=str(look), operators=len(trace.looked_operators), findings=recorded.findings(profiled)
    )
    check.expect("the recording ends where no step comes", window.ended_by == "pause" and window.steps_recorded == 30)
    check.expect("the evaluation is looked at", look.skipped is None and "aten::sort" in names)
    check.expect("the look has no backward pass", not any("backward" in name for name in names))
    check.expect("it took less than a second", look.cost_ns < 1e9)
