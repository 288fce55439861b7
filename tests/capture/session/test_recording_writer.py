from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from gpuprof.capture.session import recording_writer
from gpuprof.capture.session.recording_writer import RunFolder
from gpuprof.model.context import RunContext
from gpuprof.model.pruning import Pruned
from gpuprof.model.recording import is_recording, read_context


def test_a_run_is_saved_and_older_ones_pruned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Path, Path | None]] = []

    def pruned(runs: Path, keep: Path | None) -> Pruned:
        asked.append((runs, keep))
        return Pruned(note="1 older run deleted.")

    monkeypatch.setattr(recording_writer, "prune", pruned)
    folder = RunFolder(tmp_path, "one")
    context = folder.write(RunContext(notes=("a",)), ())
    assert folder.path == tmp_path / "one" and is_recording(folder.path)
    assert folder.unsaved is None
    assert asked == [(tmp_path, folder.path)]
    assert context.notes == ("1 older run deleted.", "a")
    assert read_context(folder.path) == context


@pytest.mark.parametrize(
    ("number", "said"), [(errno.ENOSPC, "the disk is full"), (errno.EROFS, "read-only"), (errno.EIO, "Input/output")]
)
def test_a_folder_that_fails_is_cleared_and_the_trace_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, said: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(recording_writer, "write_context", fail)
    folder = RunFolder(tmp_path, "one")
    trace = tmp_path / "one" / "kineto.json.gz"
    trace.write_bytes(b"trace")
    folder.write(RunContext(), ())
    kept = folder.keep(trace)
    assert folder.path is None
    assert folder.unsaved is not None and said in folder.unsaved and "\n" not in folder.unsaved
    assert kept is not None and kept.read_bytes() == b"trace"
    assert not (tmp_path / "one").exists()


def test_a_trace_elsewhere_stays_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "elsewhere.gz"
    elsewhere.write_bytes(b"trace")
    folder = RunFolder(tmp_path / "runs", "one")
    folder.path = None
    assert folder.keep(elsewhere) == elsewhere
    assert elsewhere.exists()


def test_a_failed_pruning_does_not_lose_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EACCES, "Permission denied", "old")

    monkeypatch.setattr(recording_writer, "prune", fail)
    folder = RunFolder(tmp_path, "one")
    folder.write(RunContext(), ())
    assert folder.path is not None
    assert folder.unsaved is not None and "older runs could not be deleted" in folder.unsaved
