"""A capture on a real device: what was launched is what was recorded."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

import gpuprof
from gpuprof.analyses.run.launches import Launches
from gpuprof.analyses.transfers.copies import Copies
from gpuprof.analyses.transfers.sync_waits import SyncKind, SyncWaits
from gpuprof.model.kinds import CopyKind, DeviceEventKind, HostMemory

pytestmark = pytest.mark.gpu
ADDS = 100


@pytest.fixture
def x():
    value = torch.zeros(4096, device="cuda")
    value.add_(1)
    torch.cuda.synchronize()
    return value


def profiled(work, tmp_path, **options):
    with gpuprof.profile(folder=tmp_path, **options) as run:
        work()
    return run


def add(x, times=ADDS):
    for _ in range(times):
        x.add_(1)


def test_every_kernel_is_recorded_and_linked_to_its_launch(x, tmp_path):
    run = profiled(lambda: add(x), tmp_path, no_nvml=True)
    kernels = run.trace.device_events["kind"] == DeviceEventKind.KERNEL
    assert int(kernels.sum()) == ADDS
    assert run.report_data.results.get(Launches).launches_with_kernel_share == 1
    assert run.report_data.results.get(Launches).clock_ok is True
    assert run.trace.device_recorded is True


def test_kernels_know_their_operator(x, tmp_path):
    run = profiled(lambda: add(x), tmp_path, no_nvml=True)
    events = run.trace.device_events
    assert set(run.trace.names_of(run.trace.operators.take(events["operator"]))) == {"aten::add_"}


def test_later_profiles_of_a_process_are_as_complete_as_the_first(x, tmp_path):
    for _ in range(3):
        run = profiled(lambda: add(x), tmp_path, no_nvml=True)
        assert len(run.trace.device_events) == ADDS
        assert run.report_data.results.get(Launches).clock_ok is True


def test_pinned_and_pageable_copies_are_told_apart(tmp_path):
    pageable, pinned = torch.zeros(1 << 20), torch.zeros(1 << 20).pin_memory()
    run = profiled(lambda: (pageable.to("cuda"), pinned.to("cuda", non_blocking=True)), tmp_path, no_nvml=True)
    copies = run.report_data.results.get(Copies).of_direction(CopyKind.H2D)
    kinds = run.trace.device_events["host_memory"][run.trace.device_events["copy"] == CopyKind.H2D]
    assert sorted(kinds.tolist()) == sorted([HostMemory.PAGEABLE, HostMemory.PINNED])
    assert copies["bytes"].tolist() == [4 << 20, 4 << 20]


def test_waits_of_the_host_are_explicit_or_inside_an_operator(x, tmp_path):
    def work():
        add(x)
        torch.cuda.synchronize()
        x[0].item()

    run = profiled(work, tmp_path, no_nvml=True)
    window = run.trace.context.window
    waits = run.report_data.results.get(SyncWaits).table
    # gpuprof's own wait, when the recording ends, lies behind the window
    kinds = waits["kind"][waits["start_ns"] < window.end_ns].tolist()
    assert SyncKind.EXPLICIT in kinds
    assert SyncKind.IMPLICIT in kinds
    assert len(run.trace.syncs)


def test_a_graph_is_one_launch_of_many_kernels(x, tmp_path):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        add(x, 10)
    run = profiled(graph.replay, tmp_path, no_nvml=True)
    events = run.trace.device_events
    assert len(events) == 10
    assert len(set(events["correlation"].tolist())) == 1


def test_a_side_stream_is_another_stream(x, tmp_path):
    side = torch.cuda.Stream()

    def work():
        add(x, 1)
        with torch.cuda.stream(side):
            torch.zeros(1 << 20, device="cuda")
        torch.cuda.synchronize()

    run = profiled(work, tmp_path, no_nvml=True)
    assert len(set(run.trace.device_events["stream"].tolist())) == 2


def test_a_cell_that_uses_no_device_does_not_initialise_it(tmp_path):
    code = (
        "import torch, gpuprof\n"
        f"with gpuprof.profile(folder={str(tmp_path)!r}) as run:\n"
        "    torch.ones(8, 8) @ torch.ones(8, 8)\n"
        "print(torch.cuda.is_initialized())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == "False"
