from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from gpuprof.analyses.accounts.phase import Phase
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.run.examined import Examined
from gpuprof.model.context import Window
from gpuprof.model.look import Look, LookedPlace
from tests.analyses.accounts.cells import cell, line
from tests.support.trace_builder import CELL_FILE, TraceBuilder

MS = 1_000_000


def examined(end_ms: int, *looked: LookedPlace, share: float | None = 1.0) -> Examined:
    """100 ms of set-up, ten steps of 20 ms, and 100 ms of evaluation."""
    builder = TraceBuilder().operator("aten::mm", 100_000, 100_000)
    builder.stack(0, 100_000, line(1)).stack(100_000, 200_000, line(5)).stack(300_000, 100_000, line(9, "evaluate"))
    trace = cell(builder, ends_ms=tuple(100 + 20 * number for number in range(11)))
    window = Window(cell_end_ns=400 * MS, start_ns=100 * MS, end_ns=end_ms * MS)
    look = Look(iterations=1, places=looked, operators_share=share) if looked else None
    context = msgspec.structs.replace(trace.context, window=window, look=look)
    return Results(replace(trace, context=context)).get(Examined)


def test_what_was_recorded_and_what_is_like_it_counts() -> None:
    found = examined(160)
    assert found.recorded == pytest.approx(0.5) and found.placed == 1.0 and found.looked is None
    assert dict(found.left) == {Phase.SET_UP: pytest.approx(0.25), Phase.EVALUATION: pytest.approx(0.25)}


def test_what_is_left_is_what_was_not_recorded() -> None:
    found = examined(400)
    assert found.left == ((Phase.SET_UP, pytest.approx(0.25)),)


def test_a_line_that_was_looked_at_was_examined() -> None:
    line_9 = LookedPlace(CELL_FILE, 9, "evaluate")
    found = examined(160, line_9, LookedPlace("other.py", 1, ""))
    assert examined(160, line_9, share=None).left_share == pytest.approx(0.5)
    assert found.left == ((Phase.SET_UP, pytest.approx(0.25)),) and found.left_share == pytest.approx(0.25)


def test_without_samples_what_was_not_recorded_was_not_examined() -> None:
    trace = TraceBuilder().operator("aten::mm", 0, 10).context(window=Window(cell_end_ns=40 * MS, end_ns=10 * MS))
    assert Results(trace.build()).get(Examined).left_share == pytest.approx(0.75)


def test_a_trace_of_no_cell_is_recorded_whole() -> None:
    found = Results(TraceBuilder().operator("aten::mm", 0, 10).build()).get(Examined)
    assert found == Examined(1.0, None, None, ())
