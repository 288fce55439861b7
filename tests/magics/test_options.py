from __future__ import annotations

from pathlib import Path

import pytest

from gpuprof.errors import UsageError
from gpuprof.magics.options import parse, with_arguments


def test_nothing_given_is_every_default() -> None:
    options = parse("")
    assert (options.display, options.quiet, options.into, options.compare, options.report) == (
        "auto",
        False,
        None,
        None,
        None,
    )
    assert options.capture.steps is None and options.capture.nvml_hz == 10.0 and not options.capture.memory


def test_every_option_arrives() -> None:
    options = parse(
        "--name 'a name' --steps 3 --skip 0 --max-seconds 1.5 --memory --stacks --shapes --nvml-hz 5 --no-nvml "
        '--compare last --report "out file.html" --display text --quiet --into run'
    )
    capture = options.capture
    assert (capture.name, capture.steps, capture.skip, capture.max_seconds) == ("a name", 3, 0, 1.5)
    assert capture.memory and capture.stacks and capture.shapes and capture.no_nvml and capture.nvml_hz == 5.0
    assert parse("").try_seconds is None and parse("--try").try_seconds == 60
    assert parse("--try --try-seconds 20").try_seconds == 20
    assert not capture.inspect and parse("--inspect").capture.inspect
    assert options.report == Path.cwd() / "out file.html"
    assert (options.compare, options.display, options.quiet, options.into) == ("last", "text", True, "run")


@pytest.mark.parametrize(
    "line",
    [
        "--into class",
        "--into a.b",
        "--steps -1",
        "--nvml-hz 0",
        "--inspect --no-close-look",
        "--max-seconds 0",
        "--try-seconds 20",
        "--try --try-seconds 0",
        "--try --try-seconds nan",
        "loose",
    ],
)
def test_nonsense_is_a_usage_error(line: str) -> None:
    with pytest.raises(UsageError):
        parse(line)


@pytest.mark.parametrize(("line", "hinted"), [("--name my run", True), ("baseline", True), ("--stepz 3", False)])
def test_loose_words_are_taken_for_a_name_that_was_meant(line: str, hinted: bool) -> None:
    with pytest.raises(UsageError, match="unrecognized arguments") as caught:
        parse(line)
    assert ("--name 'my run'" in str(caught.value)) == hinted


def test_the_report_may_not_be_a_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected a file"):
        parse(f"--report '{tmp_path}'")


@pytest.mark.parametrize("named", ["train.py", "data.csv", "noending", "notebook.ipynb"])
def test_the_report_overwrites_nothing_but_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"ends in \.html"):
        parse(f"--report {named}")


@pytest.mark.parametrize("named", ["a.html", "A.HTM"])
def test_a_page_may_be_named_either_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    monkeypatch.chdir(tmp_path)
    assert parse(f"--report {named}").report == tmp_path / named


def test_a_relative_page_in_a_deleted_folder_is_a_usage_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(UsageError, match="the working directory has been deleted"):
        parse("--report a.html")


def test_the_help_names_the_magic_and_every_option() -> None:
    @with_arguments
    def gpuprofile(line: str, cell: str) -> None:
        """Say what it does."""

    text = gpuprofile.__doc__ or ""
    assert "%%gpuprofile [--name NAME]" in text and "Say what it does." in text
    assert "%gpuhistory" in text and "%%gpuhistory" not in text
    for name in ("steps", "skip", "max-seconds", "memory", "stacks", "shapes", "nvml-hz", "no-nvml", "compare"):
        assert f"--{name}" in text
