"""Ranks side by side, as tables and as text."""

from __future__ import annotations

from gpuprof.model.trace import Trace
from gpuprof.report import Report
from gpuprof.report.contract import to_dict
from gpuprof.views.blocks import Sentence, TableBlock, TableCell
from gpuprof.views.notebook_report import render_bundle
from gpuprof.views.rank_blocks import late_words, rank_blocks, rank_lines
from gpuprof.views.sections.ranks import SECTION
from gpuprof.views.text import render_text
from tests.analyses.ranks.rank_runs import a_rank
from tests.support.reports import device_report, empty_report

SIZED = {"in_elements": 1_000_000, "element_type": "Float", "group": "0", "group_size": 2, "group_description": "ddp"}


def report(*traces: Trace) -> Report:
    return Report.of(traces[0], tuple(range(len(traces))), others=traces[1:])


def two() -> Report:
    slow, late = [[900], [500], [600]], [[900], [100], [100]]
    return report(a_rank(0, slow, **SIZED), a_rank(1, late, **SIZED))


def texts(table: TableBlock) -> list[list[str]]:
    return [[value.text if isinstance(value, TableCell) else str(value) for value in row] for row in table.rows]


def test_tables_and_the_late_rank() -> None:
    by_rank, by_kind, late = rank_blocks(two().results)
    assert isinstance(by_rank, TableBlock) and isinstance(by_kind, TableBlock) and isinstance(late, Sentence)
    assert texts(by_rank) == [["rank 0", "1.10 ms", "900 µs"], ["rank 1", "1.10 ms", "0 ns"]]
    assert texts(by_kind) == [
        ["all-reduce", "ddp", "data parallel", "3", "11.4 MiB", "1.10 ms", "450 µs", "900 µs (rank 0)", "10.9 GB/s"]
    ]
    assert late.text.startswith("Rank 1 came last at 2 of 2 collectives after the first")


def test_the_same_as_text_and_on_the_page() -> None:
    told = two()
    assert rank_lines(told.results)[1].split() == ["rank", "0", "1.10", "ms", "transfer", "900", "µs", "waiting"]
    text = " ".join(render_text(told).split())
    assert "Collectives of all ranks:" in text and late_words(told.results) in text
    assert SECTION.known(told)
    assert any("Collectives by rank" in str(part) for part in render_bundle(told, embed=True).values())


def test_the_same_as_json() -> None:
    told = to_dict(two())["rank_collectives"]
    assert (told["transfer_ms"], told["waiting_ms"]) == ([1.1, 1.1], [0.9, 0.0])
    (row,) = told["collectives"]
    assert (row["kind"], row["bytes"], row["parallelism"]) == ("all-reduce", 12_000_000, "data parallel")
    assert (told["late_rank"]["rank"], told["late_rank"]["last"], told["unmatched"]) == (1, 2, [])


def test_what_was_not_compared_is_said() -> None:
    about = {"group": "1", "group_ranks": "[0, 1]", "group_size": 2}
    told = report(a_rank(0, [[10]], **about), a_rank(1, []))
    (sentence,) = rank_blocks(told.results)
    assert isinstance(sentence, Sentence) and sentence.text.startswith("Not compared: 1 exchange of group 1 [0, 1], ")
    cut = report(a_rank(0, [[10], [20], [30]]), a_rank(1, [[15], [25]], first_step=1))
    assert any("1 collective at the ends" in getattr(block, "text", "") for block in rank_blocks(cut.results))


def test_one_rank_has_no_such_tab() -> None:
    for told in (device_report(), empty_report()):
        assert not SECTION.known(told) and rank_lines(told.results) == []
        assert to_dict(told)["rank_collectives"] is None
