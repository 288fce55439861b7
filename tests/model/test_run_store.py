from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpuprof.model.context import RunContext
from gpuprof.model.recording import write_context
from gpuprof.model.run_store import is_run_id, list_runs, make_run_folder, new_run_id, runs_folder


def saved_run(runs: Path, name: str, age_s: int) -> Path:
    folder = make_run_folder(runs, name)
    write_context(folder, RunContext(run_id=name))
    os.utime(folder, (1_700_000_000 - age_s, 1_700_000_000 - age_s))
    return folder


def test_where_runs_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GPUPROF_FOLDER", raising=False)
    assert runs_folder() == tmp_path / ".gpuprof"
    monkeypatch.setenv("GPUPROF_FOLDER", "/elsewhere")
    assert runs_folder() == Path("/elsewhere")
    assert runs_folder(tmp_path / "mine") == tmp_path / "mine"


def test_a_relative_folder_is_fixed_where_it_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert runs_folder(Path("mine")) == tmp_path / "mine"


def test_a_deleted_working_directory_is_not_made_again(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        make_run_folder(tmp_path / "gone" / ".gpuprof", "a")
    assert make_run_folder(tmp_path / "chosen" / "runs", "a").is_dir()


def test_names_are_unique_and_sort_by_time() -> None:
    assert len({new_run_id(0) for _ in range(100)}) == 100
    assert new_run_id(1_700_000_000_000_000_000) < new_run_id(1_700_000_001_000_000_000)


def test_only_such_a_name_is_a_run_id() -> None:
    assert is_run_id(new_run_id())
    others = ("", "20260301-142530", "20260301-142530-9F3A1C", "20260301-142530-9f3a1c ", "20260301-142530-9f3a1c\n")
    assert not any(map(is_run_id, (*others, "x20260301-142530-9f3a1c", "２０260301-142530-9f3a1c")))


def test_newest_first_and_only_recordings(tmp_path: Path) -> None:
    old, new = saved_run(tmp_path, "a", 10), saved_run(tmp_path, "b", 1)
    (tmp_path / "notes").mkdir()
    assert list_runs(tmp_path) == [new, old]
    assert list_runs(tmp_path / "missing") == []


def test_version_control_ignores_it(tmp_path: Path) -> None:
    saved_run(tmp_path, "a", 1)
    assert (tmp_path / ".gitignore").read_text() == "*\n"
