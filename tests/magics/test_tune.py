"""`%gputune`: its line, what it says where nothing can be tried, and what `%gpufix` then inserts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gpuprof.errors import UsageError
from gpuprof.magics import tune as module
from gpuprof.magics.fix import best_tuned
from gpuprof.magics.progress import ProgressLine
from gpuprof.model.context import Cell, Loader
from gpuprof.model.tuned import Tuned
from gpuprof.verification.tuning.setting import GROUPS


def run_of(cell: Cell | None = None, *, loaders: tuple[Loader, ...] = (), **more: Any) -> Any:
    context = SimpleNamespace(cell=cell, loaders=loaders, optimizers=())
    return SimpleNamespace(
        trace=SimpleNamespace(context=context), report_data=SimpleNamespace(title="a trace"), measured=[], **more
    )


def tuned(ratio: float, *settings: str) -> Tuned:
    return Tuned(settings=settings, source="x = 2\n", ratio=ratio, text="", tuning={}, created_ns=1)


def measured(ratio: float, outcome: str = "faster", status: str = "passed") -> Any:
    return SimpleNamespace(measurement={"outcome": outcome, "ratio": ratio, "guard": {"status": status}})


def test_the_line_is_understood() -> None:
    given = module._parse("--seconds 90 --only workers,threads --allow-autocast")
    assert given.seconds == 90 and module._groups(given) == ("workers", "threads")
    assert module._groups(module._parse("--allow-autocast --only tf32")) == ("tf32",)
    assert module._parse("").seconds == 60


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("--seconds 1", "--seconds 1: expected 5 s or more"),
        ("--seconds nan", "expected 5 s or more"),
        ("--only worker", "--only worker: expected one of batches, workers"),
        ("--only tf32", "it changes results; add --allow-autocast"),
        ("more", "unrecognized arguments: more; %gputune"),
    ],
)
def test_a_wrong_line_is_one_line(line: str, reason: str) -> None:
    with pytest.raises(UsageError) as caught:
        module._groups(module._parse(line))
    assert reason in str(caught.value) and "\n" not in str(caught.value)


def test_the_help_names_every_group() -> None:
    assert all(group in module._arguments.__doc__ for group in GROUPS)


def test_a_run_of_no_cell_is_refused(tmp_path: Any) -> None:
    with pytest.raises(UsageError, match="the last run \\(a trace\\) is of no cell; profile a cell first"):
        module._source(run_of())
    script = tmp_path / "train.py"
    script.write_text("x = 1")
    with pytest.raises(UsageError, match=r"profiled .*train\.py, which is no cell"):
        module._source(run_of(Cell(source="x = 1", filename=str(script))))


def test_why_nothing_can_be_tried() -> None:
    assert module._nothing_to_try(run_of(), ("workers",)) == "the cell has no setting of workers that could be tried"
    elsewhere = run_of(loaders=(Loader(workers=0, line=3),))
    assert "changed only where the cell itself makes it" in module._nothing_to_try(elsewhere, ())


@pytest.mark.parametrize(
    ("found", "changes", "inserted"),
    [
        (tuned(1.5, "fused=True"), [], True),
        (tuned(1.5, "fused=True"), [measured(1.4)], True),
        (tuned(1.5, "fused=True"), [measured(1.6)], False),
        (tuned(1.5, "fused=True"), [measured(1.6, status="failed"), measured(1.7, outcome="slower")], True),
        (tuned(1.1), [], False),
        (None, [], False),
    ],
)
def test_the_fastest_of_all_that_was_measured_is_inserted(
    found: Tuned | None, changes: list[Any], inserted: bool
) -> None:
    run = run_of()
    run.tuned, run.measured = found, changes
    assert best_tuned(run) == (found if inserted else None)


def test_progress_is_one_line_that_is_blank_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressLine() as progress:
        progress.say("x" * 200)
        progress.say("too soon to be shown")
    said = capsys.readouterr().out
    assert said.startswith("\rxxx") and "…" in said and "soon" not in said and said.endswith(" \r") and "\n" not in said
