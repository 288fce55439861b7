"""Visible devices, and which of them worked."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import gpuprof
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.ranks.device_usage import DeviceUsage
from gpuprof.model.context import Environment
from gpuprof.model.device import Device
from gpuprof.model.readings import DeviceFacts, DeviceProcess, ReadingLog
from tests.support.trace_builder import TraceBuilder


def several(builder: TraceBuilder) -> DeviceUsage:
    return Results(builder.build()).get(DeviceUsage)


def test_a_peer_is_known_by_torchs_number() -> None:
    """GIVEN devices that the sampler lists in another order than torch."""
    process = (DeviceProcess(pid=1), DeviceProcess(pid=2))
    log = ReadingLog(
        static=(DeviceFacts(torch_index=1, processes_end=process), DeviceFacts(torch_index=0, processes_end=()))
    )
    devices = (Device(id=0, name="A"), Device(id=1, name="B"))
    builder = TraceBuilder().context(environment=Environment(devices=devices), sampling=log.facts_dict())
    builder.kernel("gemm", 0, 10, device=0)
    for at in range(4):
        builder.sample(at, device=0, utilisation_percent=50.0 if at == 0 else 0.0, memory_used_bytes=5000)
        builder.sample(at, device=1, utilisation_percent=90.0)
    found = several(builder)
    (peer,) = found.peers
    assert (found.visible, found.used, found.distributed) == (2, (0,), False)
    assert (peer.device, peer.name, peer.readings, peer.idle_share) == (1, "B", 4, 0.75)
    assert (peer.processes, peer.used_bytes) == (2, 5000)


def test_without_samples_nothing_is_known_of_a_peer() -> None:
    (peer,) = several(TraceBuilder().device(0).device(1).kernel("gemm", 0, 10)).peers
    assert (peer.readings, peer.idle_share, peer.processes) == (0, None, None)


@pytest.mark.parametrize(
    "builder",
    [
        TraceBuilder().source(rank=0),
        TraceBuilder().kernel("ncclKernel_AllReduce_RING", 0, 5),
        TraceBuilder().span("DistributedDataParallel.forward", 0, 5),
    ],
)
def test_a_rank_of_several_is_known(builder: TraceBuilder) -> None:
    found = several(builder)
    assert found.distributed and not found.data_parallel_calls


def test_torchs_own_data_parallel_range_is_found(tmp_path: Any) -> None:
    module = torch.nn.DataParallel(torch.nn.Linear(2, 2))
    with gpuprof.profile(folder=tmp_path, no_nvml=True) as run:
        for _ in range(3):
            module(torch.ones(1, 2))
    found = run.report_data.results.get(DeviceUsage)
    assert found.data_parallel_calls == 3
    assert found.data_parallel.total_ns > 0


def test_the_recorded_ranks(shared_trace: Any) -> None:
    found = Results(shared_trace("a100-ddp-rank3-healthy")).get(DeviceUsage)
    assert (found.visible, found.used, found.distributed, len(found.peers)) == (8, (3,), True, 7)
