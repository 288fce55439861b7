"""A real run on the CPU, against a model of known size: what the peak is made of, to the byte."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import gpuprof
from gpuprof.analyses.memory.memory_composition import MemoryComposition
from gpuprof.analyses.memory.memory_growth import MemoryGrowth

F32 = 4
BATCH, IN, HIDDEN, OUT = 512, 128, 256, 64
ELEMENTS = IN * HIDDEN + HIDDEN + HIDDEN * OUT + OUT
LAST_LAYER = HIDDEN * OUT + OUT


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(IN, HIDDEN)
        self.last = torch.nn.Linear(HIDDEN, OUT)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(torch.relu(self.first(x)))


@pytest.mark.parametrize("zeroed", ["first", "last", "kept"])
def test_the_peak_of_a_training_run_is_made_of_known_parts(zeroed: str, tmp_path: Path) -> None:
    """WHEN backward reaches the hidden layer, live are its output, the gradients after and before the relu, and of the
    parameters' gradients those of the last layer, unless they are kept from step to step."""
    torch.manual_seed(0)
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), foreach=False)
    x = torch.randn(BATCH, IN)
    with gpuprof.profile(memory=True, folder=tmp_path, no_nvml=True) as run:
        for _ in range(6):
            if zeroed == "first":
                optimizer.zero_grad()
            net(x).sum().backward()
            optimizer.step()
            if zeroed != "first":
                optimizer.zero_grad(set_to_none=zeroed == "last")
    found = run.report_data.results.get(MemoryComposition).primary
    assert found is not None and found.device is None
    assert found.parameter_bytes == found.gradient_bytes == F32 * ELEMENTS
    assert found.state_bytes == 2 * F32 * ELEMENTS + F32 * 4
    assert found.buffer_bytes == 0
    assert {part.name for part in found.modules} == {"net.first", "net.last"}
    assert found.live_gradient_bytes == F32 * (ELEMENTS if zeroed == "kept" else LAST_LAYER)
    assert found.rest_low_bytes == found.rest_high_bytes
    assert found.kept_bytes is not None and found.rest_low_bytes is not None
    assert found.peak_bytes == found.kept_bytes + found.live_gradient_bytes + found.rest_low_bytes
    # the hidden layer, its gradients after and before the relu; the loss and its gradient are one value each
    assert found.rest_low_bytes == pytest.approx(3 * F32 * BATCH * HIDDEN, abs=64)


class Doubling(torch.nn.Module):
    """Its graph keeps 4 MiB."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x * self.weight).square()


@pytest.mark.parametrize("leaks", [True, False])
def test_a_list_of_losses_with_their_graphs_grows(leaks: bool, tmp_path: Path) -> None:
    net = Doubling()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
    losses = []
    with gpuprof.profile(memory=True, folder=tmp_path, no_nvml=True) as run:
        for _ in range(14):
            loss = net(torch.ones(1 << 20)).sum()
            optimizer.zero_grad()
            loss.backward(retain_graph=True)
            optimizer.step()
            if leaks:
                losses.append(loss)
    growth = run.report_data.results.get(MemoryGrowth)
    found = [each for each in run.findings if each.rule == "memory_grows_per_step"]
    if not leaks:
        assert growth.per_step_bytes == 0 and not found
        return
    assert growth.per_step_bytes == pytest.approx(2 * 4 * (1 << 20), rel=0.01)
    (grows,) = found
    source = Path(__file__).read_text().splitlines()
    assert [source[line - 1].strip() for line in grows.where.lines] == ["losses.append(loss)"]
