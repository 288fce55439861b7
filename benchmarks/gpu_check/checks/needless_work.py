"""Cells with needless work, each seen by another mechanism: is it found where a device does the work?"""

from __future__ import annotations

from typing import Any

from benchmarks.gpu_check import cells, recorded
from benchmarks.gpu_check.check import Check

_SETUP = """\
import numpy as np, time, torch
torch.manual_seed(0)
body = torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.GELU(), torch.nn.Linear(width, width)).to(device)
head = torch.nn.Linear(width, width).to(device)
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=1e-4)
x = torch.randn(rows, 16, width, device=device)
raw = np.random.default_rng(0).standard_normal((600, 400))

def scores(states):
    return head(body(states))
"""
# one line that training reads in full, and the evaluation a sixteenth of
_BY_PATH = """\
for turn in range(turns):
    optimizer.zero_grad()
    scores(x).square().mean().backward()
    optimizer.step()
    with torch.no_grad():
        for _ in range(4):
            print(scores(x)[:, -1].mean().item())
"""
# nothing that is decoded after the third token is taken
_MASKED = """\
ends, turn = time.monotonic() + seconds, 0
while time.monotonic() < ends:
    turn += 1
    state, done = x[:, 0] + turn, torch.zeros(rows, dtype=torch.bool, device=device)
    with torch.no_grad():
        for token in range(12):
            state = torch.where(done[:, None], state, scores(state))
            done = done | (token >= 2)
    print(state.mean().item())
"""
# the graphs of eight parts wait for one backward pass
_SUMMED = """\
wide = x.repeat(8, 1, 1)
for turn in range(turns):
    optimizer.zero_grad()
    loss = 0.0
    for part in wide.chunk(8):
        loss = loss + scores(part).square().mean() / 8
    loss.backward()
    optimizer.step()
    print(loss.item())
"""
# NumPy makes the same features for each trial, while the device waits
_REMADE = """\
def features(table):
    return torch.from_numpy(np.linalg.svd(table, full_matrices=False)[0][:, :width].astype("float32"))

def trial(rate):
    inputs = features(raw)
    weight = torch.zeros(inputs.shape[1], 1, device=device, requires_grad=True)
    steps = torch.optim.SGD([weight], lr=rate)
    for _ in range(50):
        steps.zero_grad()
        (inputs.to(device) @ weight - 1).square().mean().backward()
        steps.step()
    return weight.sum().item()

for number in range(trials):
    print(trial(0.1 / (number + 1)))
"""
# a table in fp32 widens queries and keys of a model in bf16
_WIDENED = """\
half = torch.bfloat16
projection = torch.nn.Linear(width, 3 * width).to(device, half)
sequences = torch.randn(max(rows // 64, 1), 1024 if rows > 64 else 16, width, device=device, dtype=half)
positions = torch.rand(sequences.shape[1], 1, device=device)
for turn in range(turns):
    q, k, v = projection(sequences).unflatten(2, (3, -1, 32)).permute(2, 0, 3, 1, 4)
    q, k = q * positions, k * positions
    torch.nn.functional.scaled_dot_product_attention(q, k, v.to(q.dtype)).square().mean().backward()
    projection.zero_grad()
print(torch.isfinite(projection.weight).all().item())
"""
_CELLS = {
    "hardly_read": _BY_PATH,
    "masked_results": _MASKED,
    "losses_summed": _SUMMED,
    "value_made_again": _REMADE,
    "fp32_beside_half": _WIDENED,
}


def run(check: Check) -> None:
    sizes = {"width": 32, "rows": 16, "turns": 40, "seconds": 1, "trials": 4}
    if not check.small:
        sizes = {"width": 1024, "rows": 1024, "turns": 200, "seconds": 16, "trials": 30}
    for rule, cell in _CELLS.items():
        namespace: dict[str, Any] = {"__name__": "__main__", "device": check.device, **sizes}
        cells.enter(_SETUP, namespace)
        played = cells.play(cell, namespace, close_look=True)
        recorded.keep(check, played.run, rule)
        look = played.run.trace.context.look
        found = recorded.findings(played.run)
        check.note(**{rule: {"look": str(look), "findings": found}})
        check.expect(f"the cell of {rule} runs through", played.error is None)
        check.only_on_device(f"{rule} is found", any(each["rule"] == rule for each in found))
