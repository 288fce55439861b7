"""Two runs of a cell in a real kernel: what is compared is the work, without the recording."""

from __future__ import annotations

import pytest

from tests.support.kernel import LiveKernel

pytestmark = pytest.mark.kernel

BATCHES = """\
%%gpuprofile --display text --steps 4 --skip 0 --max-seconds 1
from torch.utils.data import DataLoader, TensorDataset
data = TensorDataset(torch.randn(32_768, 8), torch.randn(32_768, 8))
model = torch.nn.Sequential(*[torch.nn.Linear(8, 8) for _ in range(40)])
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for x, y in DataLoader(data, batch_size={size}):
    opt.zero_grad()
    (model(x) - y).square().mean().backward()
    opt.step()
"""
OPTIMIZER = """\
%%gpuprofile --display text --steps 4 --skip 0
model = torch.nn.Sequential(*[torch.nn.Linear(16, 16) for _ in range(40)])
opt = torch.optim.Adam(model.parameters(), {how})
for step in range(60):
    opt.zero_grad()
    model(torch.ones(4, 16)).square().mean().backward()
    opt.step()
"""
COMPARED = "(lambda c: (c.basis, c.measure.plain, c.sentence()))(gpuprof.last().compare(gpuprof.history()[-2].load()))"


def test_a_larger_batch_is_compared_by_samples_per_second(kernel: LiveKernel) -> None:
    assert not kernel.run(BATCHES.format(size=32)).failed
    assert not kernel.run(BATCHES.format(size=256)).failed
    basis, plain, sentence = eval(kernel.value(COMPARED), {})
    assert (basis, plain) == ("samples per second", True)
    # eight times as many steps of 40 layers for the same data: far beyond what the load of the machine changes
    assert "faster than run" in sentence and "No difference" not in sentence
    assert "batch size 32 → 256" in sentence and "whole cell" in sentence


def test_a_fused_optimizer_is_compared_by_steps_without_the_recording(kernel: LiveKernel) -> None:
    assert not kernel.run(OPTIMIZER.format(how="foreach=False")).failed
    assert not kernel.run(OPTIMIZER.format(how="fused=True")).failed
    basis, plain, sentence = eval(kernel.value(COMPARED), {})
    assert (basis, plain) == ("unrecorded step", True)
    window = "gpuprof.last().trace.context.window"
    assert float(kernel.value("gpuprof.last().summary.plain_ns")) == float(kernel.value(f"{window}.plain_step_ns"))
    assert "unrecorded step" in sentence
