"""What a part of an iteration shows often enough is told, by the share of its lines in the cell."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.needless.hardly_read import HardlyRead
from tests.analyses.accounts.cells import line
from tests.rules.cases.needless.hardly_read import looked
from tests.support.look_builder import LookBuilder
from tests.support.trace_builder import TraceBuilder


def judged(line_ms: float, times: int = 3) -> Finding | Abstention | None:
    """Line 3 makes 40 positions, line 4 reads one; line 3 has so much of a second. A part of an iteration was seen."""
    builder = TraceBuilder().operator("aten::mm", 0, 1_000)
    builder.stack(0, 1_000 * line_ms, line(3)).stack(1_000 * line_ms, 1_000 * (1_000 - line_ms), line(4))
    look = LookBuilder(builder).tensor("weight", shape=(64, 100))
    for each in range(times):
        look.tensor("hidden", shape=(320, 64))
        look.operator("aten::mm", 50, reads="hidden weight", makes="logits", shape=(320, 100), line=3, iteration=0)
        look.part("last", "logits", shape=(8, 100), strides=(4000, 1), offset=3900)
        look.operator("aten::exp", 50, reads="last", makes=f"y{each}", shape=(8, 100), line=4, iteration=0)
        look.free("logits")
    return HardlyRead().check(Results(look.build(operators_share=0.3, ended_by="seconds")))


def test_a_part_of_an_iteration_that_shows_it_three_times() -> None:
    found = judged(400)
    assert isinstance(found, Finding) and found.saving is not None and found.saving.of_cell
    assert found.severity is Severity.HIGH
    assert found.saving.share == pytest.approx(0.4 * 39 / 40, rel=0.01)


def test_lines_that_take_little_of_the_cell() -> None:
    assert isinstance(judged(40), Abstention)
    few = judged(80)
    assert isinstance(few, Finding) and few.severity is Severity.LOW


def test_twice_is_not_often() -> None:
    assert isinstance(judged(400, times=2), Abstention)


def test_without_samples_the_share_is_not_known() -> None:
    assert isinstance(HardlyRead().check(Results(looked(50, operators_share=0.3))), Abstention)
