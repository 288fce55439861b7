"""A dataset that decodes the same archive for each sample: a real kernel names its line and its call."""

from __future__ import annotations

import json

import pytest

from tests.support.kernel import LiveKernel

pytestmark = pytest.mark.kernel
DATA = """
import io
import numpy as np
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
kept = io.BytesIO()
np.savez_compressed(kept, x=np.random.default_rng(0).integers(0, 9, (200, 64, 64), dtype=np.uint8))
kept.seek(0)
net = nn.Linear(64 * 64, 4)
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
"""
CELL = """%%gpuprofile --display none
class Archive(Dataset):
    def __init__(self):
        self.archive = np.load(kept)

    def __len__(self):
        return 200

    def __getitem__(self, i):
        x = self.archive["x"][i]
        return torch.from_numpy(x).float().flatten()

for x in DataLoader(Archive(), batch_size=8):
    opt.zero_grad()
    net(x).sum().backward()
    opt.step()
"""


# asked by itself: beside other work a report would rightly withhold it
JUDGED = """
import json
from gpuprof.analyses.basics.result import Results
from gpuprof.rules.loading.input_stall import InputStall
found = InputStall().check(Results(gpuprof.last().trace))
print(json.dumps([found.where.lines, found.evidence, found.explanation, found.change]))
"""


def test_the_line_that_takes_the_wait_is_named(kernel: LiveKernel) -> None:
    assert not kernel.run(DATA).failed
    for cell in (CELL, JUDGED):
        ran = kernel.run(cell)
        assert not ran.failed, ran.traceback
    lines, evidence, explanation, change = json.loads(ran.stream("stdout"))
    assert lines[0] == 10 and evidence["line_share"] > 0.5
    assert evidence["call"].startswith("numpy.lib.") and "Line 10 takes" in explanation
    assert change.startswith("Make line 10 cheaper first. It reads or decodes stored data each time")
