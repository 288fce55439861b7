from __future__ import annotations

from pathlib import Path

import pytest

from gpuprof.errors import GpuprofError, UsageError
from gpuprof.model.context import Cell, CellOutcome, RunContext, Window
from gpuprof.model.recording import MANIFEST, write_context
from gpuprof.profiling import runs
from gpuprof.profiling.runs import find_run, history, last, remember
from gpuprof.report.summary import Summary, write_summary
from gpuprof.units import NS_PER_S


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("GPUPROF_FOLDER", str(tmp_path))
    monkeypatch.setattr(runs, "_last", None)
    return tmp_path


def save(
    folder: Path,
    run_id: str,
    *,
    name: str | None = None,
    second: int = 0,
    error: str | None = None,
    number: int | None = None,
) -> Path:
    context = RunContext(
        run_id=run_id,
        run_number=number,
        created_ns=(1_700_000_000 + second) * NS_PER_S,
        cell=Cell(source="x", execution_count=4, name=name),
        window=Window(cell_start_ns=0, cell_end_ns=3 * NS_PER_S),
        outcome=CellOutcome(error=error),
    )
    path = folder / run_id
    path.mkdir()
    write_context(path, context)
    return path


def test_history_is_oldest_first_and_says_what_each_run_was(folder: Path) -> None:
    save(folder, "b", name="later", second=9, error="KeyError")
    save(folder, "a", second=1)
    known = history()
    assert [run.run_id for run in known] == ["a", "b"]
    first, second = repr(known).splitlines()
    assert first.startswith("a  2023-11-1") and first.endswith("In [4]  3.00 s")
    assert second.endswith("In [4]  “later”  3.00 s  raised KeyError")
    assert repr(known[0]) == f"<gpuprof.SavedRun {first}>"
    assert type(known[:1]).__name__ == "History" and len(known[:1]) == 1


@pytest.mark.parametrize(("plain_ns", "said"), [(None, "step 30.0 ms"), (1e7, "step 10.0 ms")])
def test_a_step_is_as_long_as_without_the_recording_where_that_is_known(
    folder: Path, plain_ns: float | None, said: str
) -> None:
    write_summary(save(folder, "a"), Summary(title="a", path="a", step_ns=3e7, plain_ns=plain_ns))
    assert said in history()[0].describe().replace("\u00a0", " ")


def test_a_broken_run_is_counted_and_the_others_are_listed(folder: Path) -> None:
    save(folder, "good")
    broken = folder / "broken"
    broken.mkdir()
    (broken / MANIFEST).write_text("{")
    known = history()
    assert [run.run_id for run in known] == ["good"] and known.unreadable == 1
    assert "1 folder of" in repr(known)


def test_nothing_saved_is_said_in_words(folder: Path) -> None:
    assert repr(history()) == f"No saved runs in {folder}."
    with pytest.raises(GpuprofError, match="nothing has been profiled yet"):
        last()
    with pytest.raises(UsageError, match="there is no last run"):
        find_run("last")


def test_a_name_means_the_newest_run_so_called(folder: Path) -> None:
    save(folder, "a", name="same", second=1)
    newer = save(folder, "b", name="same", second=2)
    assert find_run("same") == newer
    assert find_run("a") == folder / "a"


def test_a_path_is_found_and_nonsense_is_refused_with_the_names_there_are(folder: Path) -> None:
    known = save(folder, "a", name="mine")
    assert find_run(str(known)) == known
    with pytest.raises(UsageError, match=r"there is no run 'yours'; saved runs: mine"):
        find_run("yours")


def test_a_folder_that_is_named_has_to_be_there(folder: Path) -> None:
    save(folder, "a")
    with pytest.raises(GpuprofError, match=r"elsewhere: there is no such folder; expected one that holds saved runs"):
        history(folder / "elsewhere")
    assert len(history(folder)) == 1


def test_a_run_without_a_name_is_named_by_its_number(folder: Path) -> None:
    save(folder, "20231114-221320-aaaaaa", number=7)
    with pytest.raises(UsageError, match=r"there is no run '99'; saved runs: 7$"):
        find_run("99")


def test_the_last_run_is_read_when_it_is_asked_for(folder: Path) -> None:
    path = save(folder, "a", name="mine")
    remember(path)
    assert find_run("last") == path
    assert last().trace.context.run_id == "a"
    assert last() is last()


def test_without_a_run_of_this_process_the_newest_saved_one_is_last(folder: Path) -> None:
    save(folder, "a", second=1)
    save(folder, "b", second=2)
    assert last().trace.context.run_id == "b"


def test_of_many_runs_the_nearest_few_are_named(folder: Path) -> None:
    for number in range(12):
        save(folder, f"r{number}", name=f"other {number}", second=number)
    save(folder, "b", name="baseline", second=20)
    with pytest.raises(UsageError, match=r"'baselin'; nearest: baseline; %gpuhistory lists all$"):
        find_run("baselin")
    with pytest.raises(UsageError, match=r"saved runs: baseline, other 11, other 10 and 10 more; %gpuhistory"):
        find_run("nope")


def test_a_run_is_found_beside_the_last_one_after_a_change_of_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = save(folder, "a", name="mine")
    remember(save(folder, "b"))
    monkeypatch.setenv("GPUPROF_FOLDER", str(folder / "elsewhere"))
    assert find_run("mine") == known


def test_a_deleted_working_directory_is_said_in_one_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = save(folder, "a", name="mine")
    (folder / "gone").mkdir()
    monkeypatch.delenv("GPUPROF_FOLDER")
    monkeypatch.chdir(folder / "gone")
    (folder / "gone").rmdir()
    for look in (history, last, lambda: find_run("mine")):
        with pytest.raises(GpuprofError, match="the working directory has been deleted"):
            look()
    assert find_run(str(known)) == known


def test_a_folder_that_cannot_be_listed_is_said_in_one_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> list[Path]:
        raise PermissionError(13, "Permission denied", str(folder))

    monkeypatch.setattr("gpuprof.report.saved.list_runs", refuse)
    with pytest.raises(GpuprofError, match=r"cannot be listed \(Permission denied\)"):
        history()
