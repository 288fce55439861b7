from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import gpuprof
from gpuprof.errors import GpuprofError, ProfilerBusyError, UsageError
from gpuprof.run import Run


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("GPUPROF_FOLDER", str(tmp_path / "runs"))
    return tmp_path / "runs"


def work() -> torch.Tensor:
    return torch.ones(32, 32) @ torch.ones(32, 32)


def count_of(run: Run, operator: str) -> int:
    return int(run.tables["operators"].name.eq(operator).sum())


def test_the_handle_becomes_the_run() -> None:
    with gpuprof.profile(name="block") as run:
        work()
    assert type(run) is Run and run is not None
    assert count_of(run, "aten::mm") == 1
    assert run.trace.context.cell.name == "block"
    assert gpuprof.last().trace is run.trace


def test_the_source_is_the_file_around_the_block() -> None:
    with gpuprof.profile() as run:
        work()
    cell = run.trace.context.cell
    assert cell.filename == __file__ and "def test_the_source_is_the_file" in cell.source


def test_before_its_end_the_handle_says_so() -> None:
    with gpuprof.profile() as run:
        with pytest.raises(GpuprofError, match="still being recorded"):
            _ = run.findings
        assert "still being recorded" in repr(run)
        assert not hasattr(run, "_no_such_thing")
    assert run.findings is not None


def test_an_exception_passes_and_the_run_is_kept() -> None:
    with pytest.raises(ZeroDivisionError), gpuprof.profile() as run:
        work()
        _ = 1 / 0
    assert run.report_data.error == "ZeroDivisionError"
    assert count_of(run, "aten::mm") == 1


def test_an_outer_profiler_keeps_its_events() -> None:
    began = False
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as outer:
        work()
        with pytest.raises(ProfilerBusyError), gpuprof.profile():
            began = True
    assert not began
    assert any(event.key == "aten::mm" for event in outer.key_averages())


def test_nesting_is_refused_and_the_outer_run_is_whole() -> None:
    with gpuprof.profile() as outer:
        with pytest.raises(ProfilerBusyError), gpuprof.profile():
            pass
        work()
    assert count_of(outer, "aten::mm") == 1


def test_the_same_profile_can_be_entered_again() -> None:
    twice = gpuprof.profile()
    with twice as first:
        work()
    with twice as second:
        work()
        work()
    assert type(first) is type(second) is Run and first is not second
    assert (count_of(first, "aten::mm"), count_of(second, "aten::mm")) == (1, 2)


@pytest.mark.parametrize(
    "options",
    [
        {"steps": 0},
        {"nvml_hz": -1.0},
        {"steps": "a"},
        {"steps": True},
        {"max_seconds": "1"},
        {"memory": "yes"},
        {"name": 3},
        {"folder": 3},
    ],
)
def test_a_wrong_option_is_refused_at_once(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        gpuprof.profile(**options)


def test_a_folder_may_be_text(tmp_path: Path) -> None:
    with gpuprof.profile(folder=str(tmp_path / "chosen"), nvml_hz=5, steps=None) as run:
        work()
    assert run.folder is not None and run.folder.parent == tmp_path / "chosen"


def _interrupting(original: Callable[..., Any]) -> Callable[..., Any]:
    once = iter([True])

    def interrupted(*arguments: Any) -> Any:
        if next(once, False):
            signal.raise_signal(signal.SIGINT)
        return original(*arguments)

    return interrupted


def test_an_interrupt_while_it_stops_arrives_after_the_run_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    from gpuprof.capture.profiler.kineto import KinetoRecording

    monkeypatch.setattr(KinetoRecording, "stop", _interrupting(KinetoRecording.stop))
    with pytest.raises(KeyboardInterrupt), gpuprof.profile() as run:
        work()
    assert type(run) is Run and count_of(run, "aten::mm") == 1


def test_our_own_failure_leaves_the_block_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(captured: Any) -> Run:
        raise ValueError("not today")

    monkeypatch.setattr(Run, "_from_captured", broken)
    with gpuprof.profile() as run:
        value = work()
    assert value[0, 0] == 32
    assert capsys.readouterr().err.count("\n") == 1
    with pytest.raises(GpuprofError, match="not today"):
        _ = run.findings
