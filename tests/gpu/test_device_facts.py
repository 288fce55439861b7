"""What the driver, the allocator and the model's own tensors say of a real device."""

from __future__ import annotations

import time

import pytest
import torch

import gpuprof
from gpuprof.capture.nvml.device_sampler import DeviceSampler

pytestmark = pytest.mark.gpu
WIDTH = 64


@pytest.fixture
def log():
    torch.zeros(1, device="cuda")
    sampler = DeviceSampler(hz=20.0)
    sampler.start()
    time.sleep(0.5)
    return sampler.stop()


def test_nvml_names_the_device_that_torch_drives(log):
    assert log.unavailable is None
    assert [facts.name for facts in log.static if facts.torch_index == 0] == [torch.cuda.get_device_name(0)]


def test_memory_and_clocks_are_read(log):
    assert len(log.table) >= 2
    assert log.table["memory_used_bytes"].max() > 0
    assert log.table["sm_clock_mhz"].max() > 0


def train(model, optimizer):
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randn(8, WIDTH, device="cuda")).sum().backward()
        optimizer.step()


def test_the_composition_is_exact(tmp_path):
    model = torch.nn.Linear(WIDTH, WIDTH).to("cuda")
    optimizer = torch.optim.Adam(model.parameters())
    with gpuprof.profile(folder=tmp_path) as run:
        train(model, optimizer)
    (found,) = [each for each in run.trace.context.compositions if each.device == "cuda:0"]
    size = 4 * (WIDTH * WIDTH + WIDTH)
    assert (found.parameter_bytes, found.gradient_bytes, found.state_bytes) == (size, size, 2 * size)


def test_the_peak_is_the_allocators(tmp_path):
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    with gpuprof.profile(folder=tmp_path) as run:
        block = torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
        del block
    (found,) = [each for each in run.trace.context.allocators if each.device == 0]
    assert found.peak_allocated_bytes == torch.cuda.max_memory_allocated()


def test_an_error_of_the_cell_passes_and_the_run_is_there(tmp_path):
    with pytest.raises(torch.OutOfMemoryError), gpuprof.profile(folder=tmp_path) as run:
        torch.zeros(8, device="cuda").add_(1)
        torch.empty(1 << 50, dtype=torch.uint8, device="cuda")
    assert run.trace.context.outcome.error == "OutOfMemoryError"
    assert len(run.trace.device_events)
