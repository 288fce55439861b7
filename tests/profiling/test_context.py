from __future__ import annotations

import errno
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import gpuprof
from gpuprof.capture.profiler import trace_file
from gpuprof.errors import GpuprofError, ProfilerBusyError, UsageError
from gpuprof.model import half_written
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


def test_our_own_failure_leaves_the_block_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(captured: Any) -> Run:
        raise ValueError("not today")

    monkeypatch.setattr(gpuprof.run, "load_captured", broken)
    with gpuprof.profile() as run:
        value = work()
    assert value[0, 0] == 32
    assert run.folder is not None and run.folder.is_dir()
    for _ in range(2):
        with pytest.raises(GpuprofError, match="cannot be read: ValueError: not today"):
            _ = run.findings


def test_the_trace_is_read_when_it_is_asked_for_and_packed_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Any] = []
    original = gpuprof.run.load_captured
    monkeypatch.setattr(gpuprof.run, "load_captured", lambda captured: read.append(captured) or original(captured))
    # GIVEN a block that has ended
    with gpuprof.profile() as run:
        work()
    assert not read and run.folder is not None
    raw = _packing().readable
    # WHEN it is looked at, before or after it was packed
    assert count_of(run, "aten::mm") == 1 and count_of(run, "aten::mm") == 1
    # THEN it was read once, and what is read from disk is whole
    assert len(read) == 1
    assert count_of(Run.load(run.folder), "aten::mm") == 1
    assert not raw.exists()


@pytest.mark.parametrize("what", ["another block", "the end of the process"])
def test_a_block_that_nobody_looks_at_is_saved_whole(what: str) -> None:
    with gpuprof.profile() as run:
        work()
    raw = _packing().readable
    assert raw.exists()
    if what == "another block":
        with gpuprof.profile():
            assert not raw.exists()
    else:
        half_written.finish_all()
    assert not raw.exists() and count_of(run, "aten::mm") == 1


def test_a_run_that_cannot_be_packed_is_read_while_it_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(raw: Path, packed: Path) -> None:
        packed.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device", str(packed))

    monkeypatch.setattr(trace_file, "pack", full)
    with gpuprof.profile() as run:
        work()
    half_written.finish_all()
    assert run.unsaved is not None and "the disk is full" in run.unsaved
    assert run.folder is not None and not (run.folder / "kineto.json.gz").exists()
    assert count_of(run, "aten::mm") == 1


def _packing() -> trace_file.Packing:
    (finish,) = half_written._finishing.values()
    return finish.args[1]  # type: ignore[attr-defined]
