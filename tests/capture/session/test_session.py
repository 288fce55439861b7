from __future__ import annotations

import errno
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest
import torch

from gpuprof.capture.session.session import Session
from gpuprof.errors import CaptureError, ProfilerBusyError
from gpuprof.model.recording import read_context, read_table
from gpuprof.model.schema import HOST_READINGS
from tests.capture.cells import events, loader, named, step, train, train_from

NewSession = Callable[..., Session]


def test_three_runs_in_a_row_each_hold_their_own_steps(new_session: NewSession) -> None:
    for steps in (3, 5, 4):
        session = new_session()
        session.start()
        train(steps)
        captured = session.stop()
        assert captured.unsaved is None
        assert captured.context.window is not None
        assert captured.context.window.steps_recorded == captured.context.window.steps_seen == steps
        assert len(named(events(captured.kineto), "Optimizer.step#SGD.step")) == steps
        assert not torch.autograd._profiler_enabled()


def test_the_recording_on_disk_is_what_was_returned(new_session: NewSession) -> None:
    session = new_session(name="mine", steps=7)
    session.start()
    train(2)
    captured = session.stop()
    assert captured.folder is not None
    assert captured.kineto == captured.folder / "kineto.json.gz"
    saved = read_context(captured.folder)
    assert msgspec.json.encode(saved) == msgspec.json.encode(captured.context)
    assert saved.options["steps"] == 7
    assert saved.options["name"] == "mine"
    assert saved.environment is not None
    assert saved.environment.torch == torch.__version__
    # NaN, where something was not read, is like itself
    np.testing.assert_equal(
        read_table(captured.folder, HOST_READINGS).to_dict(), captured.host_readings.to_dict(), strict=True
    )


def test_stop_twice_gives_the_same(new_session: NewSession) -> None:
    session = new_session()
    session.start()
    assert session.stop() is session.stop()


def test_stop_without_start_is_refused(new_session: NewSession) -> None:
    with pytest.raises(CaptureError, match="never started"):
        new_session().stop()


def test_a_second_session_is_refused_and_the_first_unharmed(new_session: NewSession) -> None:
    first = new_session()
    first.start()
    with pytest.raises(ProfilerBusyError, match="already profiling"):
        new_session().start()
    train(2)
    assert len(named(events(first.stop().kineto), "Optimizer.step#SGD.step")) == 2


def test_a_foreign_profiler_is_left_unharmed(new_session: NewSession) -> None:
    with torch.profiler.profile() as theirs:
        torch.ones(2)
        with pytest.raises(ProfilerBusyError, match="another torch profiler"):
            new_session().start()
        torch.ones(2)
    assert sum(event.name == "aten::ones" for event in theirs.events()) == 2


def test_another_thread_may_not_start(new_session: NewSession) -> None:
    raised: list[BaseException] = []

    def start() -> None:
        try:
            new_session().start()
        except ProfilerBusyError as error:
            raised.append(error)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert "main thread" in str(raised[0])
    session = new_session()
    session.start()
    session.stop()


def profiled_by_the_user() -> list[str]:
    with torch.profiler.profile() as profiler:
        train(3)
    return sorted(event.name for event in profiler.events())


def test_a_profiler_inside_the_cell_keeps_its_events_and_ours_keeps_those_before(new_session: NewSession) -> None:
    plain = profiled_by_the_user()
    session = new_session()
    session.start()
    train(2)
    inside = profiled_by_the_user()
    train(4)
    captured = session.stop()
    # THEN the user's profiler has all that it has without us, and ours what ran until then
    assert inside == plain
    assert len(named(events(captured.kineto), "Optimizer.step#SGD.step")) == 2
    window = captured.context.window
    assert window is not None
    assert (window.ended_by, window.steps_recorded) == ("profiler", 2)
    assert any("starts a profiler of its own" in note for note in captured.context.notes)
    # AND the next cell is recorded as ever
    again = new_session()
    again.start()
    train(3)
    assert len(named(events(again.stop().kineto), "Optimizer.step#SGD.step")) == 3


def test_a_profiler_that_goes_on_after_the_cell_is_left_running(new_session: NewSession) -> None:
    session = new_session()
    session.start()
    train(2)
    profiler = torch.profiler.profile()
    profiler.start()
    train(1)
    session.stop()
    train(1)
    profiler.stop()
    assert len([event for event in profiler.events() if event.name == "Optimizer.step#SGD.step"]) == 2


@pytest.mark.parametrize("error", [ValueError("no such thing"), KeyboardInterrupt(), SystemExit(1)])
def test_what_the_cell_raised_is_kept(new_session: NewSession, error: BaseException) -> None:
    session = new_session()
    session.start()
    train(2)
    captured = session.stop(error)
    assert captured.context.outcome is not None
    assert captured.context.outcome.error == type(error).__name__
    assert captured.context.window is not None
    assert captured.context.window.ended_by == "error"
    assert captured.context.window.steps_recorded == 2


def test_a_file_in_place_of_the_folder(new_session: NewSession, tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("in the way")
    session = new_session()
    session.start()
    train(2)
    captured = session.stop()
    assert captured.folder is None
    assert captured.unsaved is not None
    assert "a file is in the place of the folder" in captured.unsaved
    assert len(named(events(captured.kineto), "Optimizer.step#SGD.step")) == 2


@pytest.mark.parametrize("function", ["write_table", "write_context"])
def test_a_disk_that_fills_up(new_session: NewSession, monkeypatch: pytest.MonkeyPatch, function: str) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(f"gpuprof.capture.session.recording_writer.{function}", full)
    session = new_session()
    session.start()
    train(2)
    captured = session.stop()
    assert captured.folder is None
    assert captured.unsaved is not None
    assert "the disk is full" in captured.unsaved
    assert len(named(events(captured.kineto), "Optimizer.step#SGD.step")) == 2
    assert captured.context.window is not None


def test_a_forked_child_neither_stops_nor_writes(new_session: NewSession, tmp_path: Path) -> None:
    session = new_session()
    session.start()
    train(2)
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()

    def child() -> None:
        step(2)
        captured = session.stop()
        answers.put((captured.folder, captured.kineto, captured.unsaved))

    process = context.Process(target=child)
    process.start()
    process.join(20)
    assert process.exitcode == 0
    folder, kineto, unsaved = answers.get()
    assert (folder, kineto) == (None, None)
    assert "forked" in unsaved
    assert not (tmp_path / "runs").exists()
    captured = session.stop()
    assert captured.context.window is not None
    assert captured.context.window.steps_seen == 2


def test_workers_are_forked_while_recording(new_session: NewSession) -> None:
    session = new_session()
    session.start()
    train_from(loader(6, num_workers=2))
    captured = session.stop()
    (found,) = captured.context.loaders
    assert (found.workers, found.batches_read, len(found.wait_ns)) == (2, 6, 6)
    assert len(named(events(captured.kineto), "Optimizer.step#SGD.step")) == 6


def test_an_error_of_the_device_leaves_what_was_recorded(
    new_session: NewSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def poisoned() -> None:
        raise RuntimeError("CUDA error: device-side assert triggered\nmore lines")

    session = new_session()
    session.start()
    train(3)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "synchronize", poisoned)
    monkeypatch.setattr(torch.cuda, "device_count", poisoned)
    session._watch._window.recording.with_device = True  # type: ignore[union-attr]
    captured = session.stop(RuntimeError("CUDA error: device-side assert triggered"))
    monkeypatch.undo()
    assert any("device-side assert triggered" in note for note in captured.context.notes)
    assert len(named(events(captured.kineto), "Optimizer.step#SGD.step")) == 3
    assert not torch.autograd._profiler_enabled()


@pytest.mark.usefixtures("ctrl_c")
def test_a_ctrl_c_while_stopping_waits_for_the_run(new_session: NewSession, monkeypatch: pytest.MonkeyPatch) -> None:
    session = new_session()
    session.start()
    train(2)
    monkeypatch.setattr(
        "gpuprof.capture.memory.allocator.read_allocators", lambda: signal.raise_signal(signal.SIGINT) or {}
    )
    captured = session.stop()
    assert captured.folder is not None
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("ctrl_c")
def test_a_second_ctrl_c_gives_up_saving(new_session: NewSession, monkeypatch: pytest.MonkeyPatch) -> None:
    def twice() -> dict[int, dict[str, object]]:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        return {}

    session = new_session()
    session.start()
    train(2)
    monkeypatch.setattr("gpuprof.capture.memory.allocator.read_allocators", twice)
    captured = session.stop()
    assert captured.unsaved is not None
    assert "interrupted" in captured.unsaved
    assert not torch.autograd._profiler_enabled()
    monkeypatch.undo()
    again = new_session()
    again.start()
    again.stop()


def test_a_glance_while_it_runs(new_session: NewSession) -> None:
    session = new_session()
    assert session.live().state == "ended"
    session.start()
    assert session.live().state == "recording"
    train(3)
    time.sleep(0.3)
    live = session.live()
    assert live.steps == 3
    assert live.elapsed_ns > 0.3e9
    assert live.resident_bytes is not None and live.resident_bytes > 0
    session.stop()
    assert session.live().state == "ended"


def test_nothing_of_the_profiler_reaches_standard_error(
    new_session: NewSession, capfd: pytest.CaptureFixture[str]
) -> None:
    session = new_session()
    session.start()
    os.write(2, b"the cell's own\n")
    session.stop()
    assert capfd.readouterr().err == "the cell's own\n"


def test_nothing_stays_installed(new_session: NewSession) -> None:
    from torch.optim import optimizer
    from torch.utils.data import dataloader

    before = (dataloader.DataLoader.__iter__, dataloader._BaseDataLoaderIter.__next__)
    hooks = len(optimizer._global_optimizer_post_hooks)
    session = new_session()
    session.start()
    assert dataloader.DataLoader.__iter__ is not before[0]
    session.stop()
    assert (dataloader.DataLoader.__iter__, dataloader._BaseDataLoaderIter.__next__) == before
    assert len(optimizer._global_optimizer_post_hooks) == hooks
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("gpuprof")]


def test_a_run_is_saved_where_the_cell_began(
    new_session: NewSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GPUPROF_FOLDER", raising=False)
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    session = new_session(folder=None)
    session.start()
    os.chdir("sub")
    captured = session.stop()
    assert captured.folder is not None and captured.folder.parent == tmp_path / ".gpuprof"
    assert not (tmp_path / "sub" / ".gpuprof").exists()


def test_the_recording_is_not_held_after_it_was_saved(new_session: NewSession) -> None:
    session = new_session()
    session.start()
    watch = session._watch
    assert watch is not None
    train(2)
    session.stop()
    # the watch is part of cycles: what it holds would stay until the next garbage collection
    assert watch._window.recording.results is None


def test_a_limit_that_cannot_be_read_costs_the_cell_nothing(
    new_session: NewSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = new_session()
    session.start()

    def unreadable() -> None:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr("psutil.virtual_memory", unreadable)
    session._watch._recording_began()  # type: ignore[union-attr]
    monkeypatch.undo()
    assert session.stop().folder is not None


def test_a_long_evaluation_before_the_training_is_not_recorded_for_long(
    new_session: NewSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GIVEN a limit of 6,000 events before the first step, which such a loop passes well within a second."""
    monkeypatch.setattr("gpuprof.capture.session.steps_ahead._EVENTS_BEFORE_STEPS", 6_000)
    train(1)  # an optimizer was made
    session = new_session()
    session.start()
    values, began = torch.zeros(4), time.monotonic()
    with torch.no_grad():
        while session.live().state == "recording" and time.monotonic() - began < 8:
            values[0] = 1.0
    assert time.monotonic() - began < 8
    train(3)
    captured = session.stop()
    window = captured.context.window
    assert window is not None and window.started_late and window.steps_seen == 3


def test_each_recording_has_its_heap_counted_at_once(new_session: NewSession) -> None:
    session = new_session()
    session.start()
    watch = session._watch
    assert watch is not None
    never = watch._heap_at_ticks._due_ns = 1 << 62
    watch._recording_began()
    assert watch._heap_at_ticks._due_ns < never
    session.stop()
