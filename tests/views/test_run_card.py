"""The card of a run: its four states, what fits into its bar, and an advice cut to its first clause."""

from __future__ import annotations

import pytest

from gpuprof.analyses.accounts.hot_spots import HotSpots
from gpuprof.model.context import Cell, Window
from gpuprof.report import Report
from gpuprof.views.notebook_report import render_bundle
from gpuprof.views.run_card import RunCard, caution_rest, first_clause
from tests.analyses.accounts.cells import line
from tests.report.test_gate import waiting
from tests.support.reports import device_report, empty_report, host_report, with_findings
from tests.support.trace_builder import TraceBuilder

MS = 1_000_000


def test_a_bottleneck_has_its_first_action_with_place_and_gain() -> None:
    report = with_findings(device_report())
    card = RunCard.of(report)
    assert card.heading == report.verdict.headline and not card.note and not card.no_work
    assert card.first is not None and card.first.card.number == 1
    assert card.first.words.startswith("Load with DataLoader") and card.first.place == "In [7], line 4"
    assert card.first.gain == "saves 22–38%"
    assert card.first.commands == ("%gpufix 1", "%gputry 1")
    assert [number for number, _, _ in card.others] == [2]
    assert card.facts[1:3] == ("6 steps", "150 ms per step") and card.facts[-1] == "Tesla V100-SXM2-16GB"


def test_a_doubtful_recording_says_so_first_and_the_rest_below() -> None:
    report = Report.of(waiting(60, 40).build())
    card = RunCard.of(report)
    assert card.caution == report.gate.doubts[0].sentence
    assert f"{card.caution} {caution_rest(report)}" == report.verdict.caution
    assert RunCard.of(host_report()).caution == caution_rest(host_report()) == ""


def test_without_findings_the_advice_stands() -> None:
    card = RunCard.of(empty_report())
    assert card.first is None and card.note == "Nothing can be judged."
    assert [key for key, _ in card.links] == ["memory", "details"]


def test_a_cell_without_work_is_one_line() -> None:
    window = Window(cell_end_ns=200 * MS, end_ns=200 * MS, ended_by="cell")
    built = TraceBuilder().context(cell=Cell(source="print(1)", execution_count=1), window=window)
    report = Report.of(built.build())
    assert RunCard.of(report).no_work == "gpuprof: 200 ms, no torch work to profile."
    shown = render_bundle(report)
    assert shown["text/plain"] == "gpuprof: 200 ms, no torch work to profile.\n"
    assert shown["text/html"].count("<p") == 1 and "<details" not in shown["text/html"]


@pytest.mark.parametrize(("lasts_ms", "told"), [(200, False), (2_000, True)])
def test_the_lines_of_a_cell_without_work_are_told_of_a_long_one_only(lasts_ms: int, told: bool) -> None:
    # GIVEN a cell of which one sample knows the line
    window = Window(cell_end_ns=lasts_ms * MS, end_ns=lasts_ms * MS, ended_by="cell")
    built = TraceBuilder().context(cell=Cell(source="print(1)", execution_count=7), window=window)
    report = Report.of(built.stack(0, lasts_ms * 1_000, line(1)).build())
    assert report.results.get(HotSpots).spots[0].line == 1
    assert (RunCard.of(report).no_work == "") is told
    assert "the disk is full" in render_bundle(report, unsaved="the disk is full")["text/html"]
    elsewhere = built.context(cell=Cell(source="train()", execution_count=1), window=window, notes=("trained there",))
    assert not RunCard.of(Report.of(elsewhere.build())).no_work


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("Use `num_workers=2` for the DataLoader: so many make a batch.", "Use `num_workers=2` for the DataLoader"),
        ("Make it `SGD(..., fused=True)`. It is faster.", "Make it `SGD(..., fused=True)`"),
        ("Set `a.b=1` and 0.5 of it", "Set `a.b=1` and 0.5 of it"),
        ("", ""),
    ],
)
def test_an_advice_is_cut_to_its_first_clause(text: str, clause: str) -> None:
    assert first_clause(text) == clause


def test_a_long_clause_is_cut_outside_of_code() -> None:
    cut = first_clause("Call " + "one two " * 13 + "`some code that would be cut in the middle of it`")
    assert cut.endswith(" …") and "`" not in cut and len(cut) <= 122


def test_a_label_that_does_not_fit_is_left_out() -> None:
    labels = {part.row.kind.key: part.label for part in RunCard.of(device_report()).bar}
    assert labels["compute"] == "compute 41%" and labels["exposed_copy"] == "7.2%"
    assert "" in labels.values()
