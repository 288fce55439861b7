"""Pruning keeps a folder of runs within its limits, and takes nothing that gpuprof did not write."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpuprof
from gpuprof.model import pruning
from gpuprof.model.context import Environment, RunContext
from gpuprof.model.pruning import MAX_BYTES, MAX_RUNS, Limits, prune
from gpuprof.model.recording import FILES, FORMAT, MANIFEST, PRODUCER, write_context
from gpuprof.model.run_store import list_runs, make_run_folder
from gpuprof.report.summary import FILE as SUMMARY

NONE = Limits(runs=0, bytes=0)
ALL = Limits(runs=None, bytes=None)


def run_id(number: int) -> str:
    return f"20260301-142530-{number:06x}"


def saved_run(runs: Path, number: int, size: int = 0) -> Path:
    """The higher the number, the older."""
    folder = make_run_folder(runs, run_id(number))
    write_context(folder, RunContext(run_id=folder.name))
    (folder / "kineto.json.gz").write_bytes(b"x" * size)
    os.utime(folder, (1_700_000_000 - number, 1_700_000_000 - number))
    return folder


def test_too_many_runs(tmp_path: Path) -> None:
    runs = [saved_run(tmp_path, number) for number in range(5)]
    assert prune(tmp_path, limits=Limits(runs=3)).deleted == tuple(runs[3:])
    assert list_runs(tmp_path) == runs[:3]


def test_too_many_bytes(tmp_path: Path) -> None:
    runs = [saved_run(tmp_path, number, size=1000) for number in range(4)]
    size = sum(path.stat().st_size for path in runs[0].iterdir())
    done = prune(tmp_path, limits=Limits(bytes=2 * size))
    assert list_runs(tmp_path) == runs[:2]
    assert done.deleted_bytes == 2 * size


def test_the_run_just_made_stays_and_counts_as_the_newest(tmp_path: Path) -> None:
    newer, mine = saved_run(tmp_path, 1), saved_run(tmp_path, 100)
    assert prune(tmp_path, keep=mine, limits=Limits(runs=2)).deleted == ()
    assert prune(tmp_path, keep=mine, limits=NONE).deleted == (newer,)
    assert mine.is_dir()


def test_within_the_limits_nothing_is_said(tmp_path: Path) -> None:
    saved_run(tmp_path, 1, size=1000)
    assert prune(tmp_path, limits=ALL).note is None
    assert prune(tmp_path).note is None


def test_what_was_deleted_is_said_in_one_line(tmp_path: Path) -> None:
    for number in range(3):
        saved_run(tmp_path, number, size=5 * 1024**2)
    note = prune(tmp_path, limits=Limits(runs=1, bytes=None)).note
    assert note == (
        f"2 older runs deleted ({run_id(1)} and 1 more, 10.0 MiB). "
        "GPUPROF_KEEP_RUNS and GPUPROF_KEEP_BYTES set how much is kept, now 1 run and any size."
    )


def test_a_file_of_the_user_in_a_run_s_folder_stays(tmp_path: Path) -> None:
    run = saved_run(tmp_path, 1)
    (run / "notes.txt").write_text("mine")
    done = prune(tmp_path, limits=NONE)
    assert done.left == (run,)
    assert done.note is not None and f"files that gpuprof did not write stay in {run.name}" in done.note
    assert [path.name for path in run.iterdir()] == ["notes.txt"]
    assert prune(tmp_path, limits=NONE).note is None, "it is no run any more"


def test_a_run_that_cannot_be_deleted_does_not_keep_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stuck, other = saved_run(tmp_path, 1), saved_run(tmp_path, 2)
    unlink = Path.unlink

    def refuse(path: Path, missing_ok: bool = False) -> None:
        if path.parent == stuck:
            raise PermissionError(13, "Permission denied", str(path))
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    done = prune(tmp_path, limits=NONE)
    assert (done.deleted, done.failed) == ((other,), (stuck,))
    assert done.note is not None and f"1 older run could not be deleted ({stuck.name})" in done.note
    assert (stuck / MANIFEST).exists()


def test_where_deleting_stops_halfway_the_run_is_still_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = saved_run(tmp_path, 1)
    unlinked: list[str] = []
    monkeypatch.setattr(Path, "unlink", lambda path, missing_ok=False: unlinked.append(path.name))
    prune(tmp_path, limits=NONE)
    assert unlinked[-1] == MANIFEST and run.is_dir()


def test_recordings_older_than_the_producer_mark_are_known_by_their_environment(tmp_path: Path) -> None:
    run = saved_run(tmp_path, 1)
    ours = RunContext(run_id=run.name, environment=Environment(gpuprof="0.1.0"))
    (run / MANIFEST).write_bytes(msgspec.json.encode({"format": FORMAT, "context": ours}))
    assert prune(tmp_path, limits=NONE).deleted == (run,)


@pytest.mark.parametrize(
    ("environment", "limits"),
    [
        ({}, Limits(MAX_RUNS, MAX_BYTES)),
        ({"GPUPROF_KEEP_RUNS": "", "GPUPROF_KEEP_BYTES": " "}, Limits(50, 2 * 1024**3)),
        ({"GPUPROF_KEEP_RUNS": " 7 ", "GPUPROF_KEEP_BYTES": "1000"}, Limits(7, 1000)),
        ({"GPUPROF_KEEP_BYTES": "3 GiB"}, Limits(MAX_RUNS, 3 * 1024**3)),
        ({"GPUPROF_KEEP_BYTES": "10mib"}, Limits(MAX_RUNS, 10 * 1024**2)),
        ({"GPUPROF_KEEP_RUNS": "all", "GPUPROF_KEEP_BYTES": "all"}, Limits(None, None)),
    ],
)
def test_the_environment_sets_the_limits(environment: dict[str, str], limits: Limits) -> None:
    assert Limits.of(environment) == limits


BAD = ("0", "-1", "fifty", "1.5", "1e3", "٥", "None", "\x1b[2J", "9" * 5000)


@pytest.mark.parametrize(
    ("variable", "value"),
    [(variable, value) for variable in ("GPUPROF_KEEP_RUNS", "GPUPROF_KEEP_BYTES") for value in BAD]
    + [("GPUPROF_KEEP_RUNS", "3 GiB"), ("GPUPROF_KEEP_BYTES", "3 GB"), ("GPUPROF_KEEP_BYTES", "GiB")],
)
def test_a_bad_limit_is_one_clear_line_and_nothing_is_deleted(
    variable: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUPROF_KEEP_RUNS", "1")
    monkeypatch.setenv(variable, value)
    runs = [saved_run(tmp_path, number) for number in range(3)]
    done = prune(tmp_path)
    assert done.deleted == () and list_runs(tmp_path) == runs
    assert done.note is not None and done.note.startswith(f"No older run was deleted: {variable} is '")
    assert "; expected a number of" in done.note
    assert done.note.isprintable() and done.note.isascii() and len(done.note) < 250


def test_the_environment_counts_where_no_limits_are_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUPROF_KEEP_RUNS", "1")
    runs = [saved_run(tmp_path, number) for number in range(3)]
    assert prune(tmp_path).deleted == tuple(runs[1:])


def test_every_file_of_a_profiled_run_is_known(tmp_path: Path) -> None:
    with gpuprof.profile(folder=tmp_path, no_nvml=True) as run:
        sum(range(1000))
    assert run.folder is not None and run.summary is not None
    assert SUMMARY in FILES and pruning.FILES is FILES
    assert {path.name for path in run.folder.iterdir()} <= set(FILES)
    assert prune(tmp_path, limits=NONE).deleted == (run.folder,)
    assert not run.folder.exists()


# Foreign: everything that some other program, or a person, may have put there.

GOOD = {"format": FORMAT, "producer": PRODUCER, "context": {"run_id": run_id(1)}}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
OTHER_MANIFESTS = st.one_of(
    st.binary(max_size=40),
    JSON.map(msgspec.json.encode),
    st.fixed_dictionaries({"format": st.just(FORMAT), "fps": st.integers(1, 60)}).map(msgspec.json.encode),
    st.integers(0, len(msgspec.json.encode(GOOD)) - 1).map(lambda end: msgspec.json.encode(GOOD)[:end]),
    st.sampled_from(
        [
            {**GOOD, "context": {"run_id": run_id(2)}},
            {**GOOD, "context": {"run_id": None}},
            {**GOOD, "context": {}},
            {**GOOD, "format": FORMAT + 98},
            {**GOOD, "producer": "obs-studio"},
            {"format": FORMAT, "context": {"run_id": run_id(1)}},
            {"producer": PRODUCER, "context": {"run_id": run_id(1)}},
        ]
    ).map(msgspec.json.encode),
)
NAMES = st.sampled_from(
    [run_id(1), run_id(1).upper(), "run-1", "recordings", "20260301-142530", ".obs", f"{run_id(1)}a"]
)
FILE_NAMES = st.sampled_from([*FILES, "movie.mkv", "notes.txt", ".hidden"])


@st.composite
def foreign_folders(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """(name, what is in it); a str is where a link leads, a dict a folder."""
    name = draw(NAMES)
    files: dict[str, Any] = draw(st.dictionaries(FILE_NAMES, st.binary(max_size=3), max_size=4))
    kind = draw(st.sampled_from(["manifest", "good manifest", "linked manifest", "folder as manifest", "link", "none"]))
    if kind == "good manifest" and name == run_id(1):
        name = "renamed"
    if kind == "manifest":
        files[MANIFEST] = draw(OTHER_MANIFESTS)
    elif kind == "good manifest":
        files[MANIFEST] = msgspec.json.encode(GOOD)
    elif kind == "linked manifest":
        files[MANIFEST] = "outside"
    elif kind == "folder as manifest":
        files[MANIFEST] = {"a": b"1"}
    elif kind == "none":
        files.pop(MANIFEST, None)
    if draw(st.booleans()):  # a whole run of ours, but somewhere inside
        files["nested"] = {run_id(1): {MANIFEST: msgspec.json.encode(GOOD)}}
    if kind == "link":
        return name, {"": "outside"}
    return name, files


def build(folder: Path, content: dict[str, Any], outside: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in content.items():
        path = folder / name
        if isinstance(value, dict):
            build(path, value, outside)
        elif isinstance(value, str):
            path.symlink_to(outside / MANIFEST)
        else:
            path.write_bytes(value)


def everything(folder: Path) -> dict[str, Any]:
    return {
        str(path.relative_to(folder)): (
            str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        )
        for path in folder.rglob("*")
    }


@given(foreign=st.lists(foreign_folders(), max_size=4, unique_by=lambda each: each[0]), ours=st.integers(0, 3))
def test_nothing_foreign_vanishes(foreign: list[tuple[str, dict[str, Any]]], ours: int) -> None:
    with tempfile.TemporaryDirectory() as made:
        runs, outside = Path(made) / "runs", Path(made) / "outside" / run_id(1)
        build(runs, {}, outside)
        build(outside, {MANIFEST: msgspec.json.encode(GOOD), "kineto.json.gz": b"x"}, outside)
        for name, content in foreign:
            if "" in content:
                (runs / name).symlink_to(outside)
            else:
                build(runs / name, content, outside)
        before, before_outside = everything(runs), everything(outside)
        mine = [saved_run(runs, 0x100 + number) for number in range(ours)]
        done = prune(runs, limits=NONE)
        assert set(done.deleted) == set(mine)
        assert everything(outside) == before_outside
        assert {name: value for name, value in everything(runs).items() if name != ".gitignore"} == before


def test_a_folder_that_many_programs_use(tmp_path: Path) -> None:
    """The measured fault: 60 folders, each with a `recording.json` and films; 11 vanished."""
    for number in range(60):
        folder = tmp_path / f"session-{number}"
        build(folder, {MANIFEST: msgspec.json.encode({"fps": 30, "takes": number}), "film.mkv": b"x"}, tmp_path)
    before = everything(tmp_path)
    assert prune(tmp_path).note is None
    assert everything(tmp_path) == before
