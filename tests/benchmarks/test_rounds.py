"""What counts as located, as a false alarm and as an all-clear."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.rounds.score import Score, score, table

FAULTY = {
    "KIND": "time",
    "FAULT": "a fault",
    "FAULT_LINES": ["slow(x)", "return y"],
    "FAULT_CALLS": ["roc_auc_score", "aten::cat"],
    "FAULTY": "\nimport torch\nfor x in y:\n    slow(x)\n",
}


def told(**said: Any) -> dict[str, Any]:
    nothing = {"findings": [], "hot_spots": [], "gpu_idle": [], "process_memory": None}
    return {"json": {**nothing, **said}}


def spot(
    line: int | None,
    *,
    cell_line: int | None = None,
    what: str = "",
    profiled: bool = True,
    lines: tuple[int, ...] = (),
) -> dict[str, Any]:
    several = [{"line": each, "share": 0.03} for each in lines]
    return {"line": line, "lines": several, "cell_line": cell_line, "what": what, "profiled": profiled}


def finding(*lines: int, severity: str = "medium") -> dict[str, Any]:
    return {"rule": "input_stall", "severity": severity, "where": {"lines": list(lines)}}


@pytest.mark.parametrize(
    ("said", "by"),
    [
        # the magic above the cell is line 1, the fault is line 4
        (told(hot_spots=[spot(2), spot(4)]), "hot spot 2, its line"),
        (told(hot_spots=[spot(4, profiled=False)]), ""),
        (told(hot_spots=[spot(9, cell_line=4)]), "hot spot 1, its line"),
        (told(hot_spots=[spot(9, lines=(4, 9))]), "hot spot 1, one of its 2 lines"),
        (told(hot_spots=[spot(9, lines=(4, 9), profiled=False)]), ""),
        (told(hot_spots=[spot(2, what="sklearn.metrics._ranking.roc_auc_score")]), "hot spot 1, its call"),
        (told(hot_spots=[spot(2, what="torch.cat")]), "hot spot 1, its call"),
        (told(hot_spots=[spot(2, what="concatenate")]), ""),
        (told(findings=[finding(4)]), "finding input_stall"),
        (told(findings=[finding(3)]), ""),
        (told(gpu_idle=[{"what": "aten::cat"}]), "GPU idle"),
        (told(process_memory={"grown": [{"line": 4, "profiled": True}]}), "where memory grew"),
        ({"error": "NameError"}, "the cell failed"),
    ],
)
def test_a_fault_is_located_by_its_line_or_its_call(said: dict[str, Any], by: str) -> None:
    found = score("f01", FAULTY, said)
    assert found.by == by and found.located is (bool(by) and "failed" not in by)


def test_a_healthy_cell_may_have_minor_findings_only() -> None:
    good = {"KIND": None, "FAULT": None, "GOOD": "pass"}
    assert score("g01", good, told(findings=[finding(severity="low")])).alarms == ()
    assert score("g01", good, told(findings=[finding()])).alarms == ("input_stall",)


def test_an_all_clear_names_no_place() -> None:
    assert score("f01", FAULTY, told()).all_clear
    assert not score("f01", FAULTY, told(hot_spots=[spot(2)])).all_clear


def test_the_table_adds_up() -> None:
    scored = [
        Score("f01", "time", True, "hot spot 1, its line", (), False),
        Score("f02", "time", False, "", (), True),
        Score("g01", "healthy", False, "", ("input_stall",), False),
    ]
    text = table(scored)
    assert "| f01 | time | yes | hot spot 1, its line |  |  |" in text
    assert text.endswith("Located 1 of 2; false alarms on 1 of 1 healthy cells; false all-clears 1.")


@pytest.mark.parametrize(("line", "located"), [(3, True), (6, True), (7, False), (8, True), (9, False)])
def test_a_line_may_be_given_by_its_beginning_and_a_function_by_its_def(line: int, located: bool) -> None:
    source = "\nimport torch\ndef slow(x):\n    y = 1\n\n    return y\nz = 2\n" + "out = slow(x, len(x))\nx = out\n"
    cell = {"KIND": "time", "FAULT": "a fault", "FAULT_LINES": ["def slow", "out = slow("], "FAULTY": source}
    # with the magic, `def slow` is line 3 and the call line 8
    assert score("cell", cell, told(hot_spots=[spot(line)])).located is located
