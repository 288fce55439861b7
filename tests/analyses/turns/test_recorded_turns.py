"""When loops of the look ran in the recording."""

from __future__ import annotations

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.turns.recorded_turns import RecordedTurns
from tests.rules.cases.needless.pieces_one_by_one import looked


def test_the_time_at_the_lines_of_the_turns() -> None:
    """600 µs of each of ten steps."""
    within = Results(looked(60)).get(RecordedTurns).within
    assert within.total_ns == 10 * 600_000 and within.starts[0] == Results(looked(60)).trace.steps["start_ns"][0]


def test_lines_that_were_not_recorded() -> None:
    assert Results(looked(60, line=5)).get(RecordedTurns).within.total_ns == 0


def test_no_loop() -> None:
    assert Results(looked(60, turns=5)).get(RecordedTurns).within.total_ns == 0
