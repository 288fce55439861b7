from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch.autograd import profiler as autograd_profiler

from gpuprof.capture.base.options import CaptureOptions
from gpuprof.capture.profiler import kineto
from gpuprof.capture.profiler.kineto import KinetoRecording
from gpuprof.capture.profiler.trace_file import save_trace
from tests.capture.cells import events, model


@pytest.fixture
def recording() -> Iterator[KinetoRecording]:
    recording = KinetoRecording(CaptureOptions())
    recording.start()
    yield recording
    recording.stop()


def test_never_reads_events_the_slow_way(recording: KinetoRecording, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: object) -> None:
        raise AssertionError("the profiler's Python events were built")

    monkeypatch.setattr(autograd_profiler.profile, "_ensure_function_events", slow, raising=False)
    monkeypatch.setattr(autograd_profiler.profile, "_parse_kineto_results", slow)
    torch.ones(2)
    recording.stop()
    assert recording.results is not None


def test_stop_twice(recording: KinetoRecording) -> None:
    recording.stop()
    end_ns, results = recording.end_ns, recording.results
    recording.stop()
    assert (recording.end_ns, recording.results) == (end_ns, results)


def test_a_device_that_reports_an_error_does_not_keep_the_profiler_on(
    recording: KinetoRecording, monkeypatch: pytest.MonkeyPatch
) -> None:
    def poisoned() -> None:
        raise RuntimeError("CUDA error: an illegal memory access\nsecond line")

    torch.ones(2)
    recording.with_device = True
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "synchronize", poisoned)
    recording.stop()
    assert not torch.autograd._profiler_enabled()
    assert recording.results is not None
    assert len(recording.problems) == 1
    assert "(CUDA error: an illegal memory access)" in recording.problems[0]


def test_torch_knows_that_it_has_stopped(recording: KinetoRecording) -> None:
    assert autograd_profiler._is_profiler_enabled
    recording.stop()
    assert not autograd_profiler._is_profiler_enabled


def test_cuda_is_not_initialised_to_stop(recording: KinetoRecording, monkeypatch: pytest.MonkeyPatch) -> None:
    def initialise() -> None:
        raise AssertionError("CUDA was initialised")

    monkeypatch.setattr(torch.cuda, "synchronize", initialise)
    recording.with_device = True
    recording._profiler.use_device = "cuda"
    recording.stop()
    assert recording.results is not None
    assert recording.problems == []


def test_a_device_is_recorded_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kineto, "device_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    recording = KinetoRecording(CaptureOptions())
    made = recording._make()
    assert made.use_device == "cuda"


def test_asking_for_a_device_leaves_the_environment_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    seen = []
    monkeypatch.delenv("PYTORCH_NVML_BASED_CUDA_CHECK", raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: seen.append(os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"]))
    assert kineto.device_available() is False
    assert seen == ["1"]
    assert "PYTORCH_NVML_BASED_CUDA_CHECK" not in os.environ


def test_options_that_this_torch_lacks_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    class Old:
        def __init__(self, *, use_kineto: bool, with_stack: bool):
            self.given = (use_kineto, with_stack)

    monkeypatch.setattr(autograd_profiler, "profile", Old)
    assert KinetoRecording(CaptureOptions(stacks=True, shapes=True))._make().given == (True, True)


def test_what_was_asked_for_is_recorded(tmp_path: Path) -> None:
    recording = KinetoRecording(CaptureOptions(shapes=True, memory=True, stacks=True))
    recording.start()
    model()(torch.ones(3, 8))
    recording.stop()
    saved, _ = save_trace(recording, tmp_path)
    found = events(saved.path)
    assert any(event.get("args", {}).get("Input Dims") for event in found)
    assert {"python_function", "cpu_instant_event"} <= set(saved.events)
