"""A prefix that is read anew for each token, and the same with the state kept: real cells in a real kernel."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.kernel import LiveKernel, live_kernel

MODEL = """
import torch
from torch import nn

torch.manual_seed(0)


class Speller(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 48)
        self.memory = nn.GRU(48, 48, batch_first=True)
        self.head = nn.Linear(48, 50)

    def forward(self, ids, state=None):
        x, state = self.memory(self.embedding(ids), state)
        return self.head(x[:, -1]), state


model, prompt = Speller().eval(), torch.randint(0, 50, (8, 4))
"""
READ_AGAIN = """%%gpuprofile
ids = prompt
with torch.no_grad():
    for t in range(150):
        logits, _ = model(ids)
        ids = torch.cat([ids, logits.argmax(-1)[:, None]], dim=1)
"""
KEPT = """%%gpuprofile
last, state, found = prompt, None, [prompt]
with torch.no_grad():
    for t in range(150):
        logits, state = model(last, state)
        last = logits.argmax(-1)[:, None]
        found.append(last)
assert torch.equal(torch.cat(found, 1), ids)
"""


def told(kernel: LiveKernel, cell: str) -> dict[str, Any]:
    ran = kernel.run(cell)
    assert not ran.failed, ran.traceback
    shown = kernel.run("import json, gpuprof; print(json.dumps(gpuprof.last().to_dict()))")
    assert not shown.failed, shown.traceback
    found: dict[str, Any] = json.loads(shown.stream("stdout"))
    return found


def _grows(run: dict[str, Any]) -> bool:
    return any(each["rule"] == "growing_iterations" for each in run["findings"])


def test_a_prefix_that_is_read_again_grows_and_a_kept_state_does_not(tmp_path: Path) -> None:
    with live_kernel(tmp_path) as kernel:
        assert not kernel.run(MODEL).failed
        # beside other work the times may be too uneven to say that they grow
        tries = (told(kernel, READ_AGAIN) for _ in range(3))
        again = next((each for each in tries if _grows(each)), {})
        kept = told(kernel, KEPT)
        text = kernel.run("print(gpuprof.last().text())").stream("stdout")

    assert again["iterations"]["count"] >= 60 and again["iterations"]["line"] == 4
    (finding,) = (each for each in again["findings"] if each["rule"] == "growing_iterations")
    # beside other work the growing part is a smaller share
    assert finding["where"]["lines"] == [5, 6] and finding["severity"] in ("medium", "high")
    assert finding["saving"]["grade"] == "C"
    # by the times of the iterations, else by the text and the samples
    assert any(each in finding["change"] for each in ("use_cache=True", "Keep the state that the model returns"))

    # the first one has no state; so short a cell may end before its line was looked at
    assert kept["iterations"]["count"] in (149, 150) and kept["iterations"]["line"] in (4, None)
    assert "growing_iterations" not in {each["rule"] for each in kept["findings"]}
    assert f"{kept['iterations']['count']} iterations, median" in " ".join(text.split())
