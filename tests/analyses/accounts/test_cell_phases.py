from __future__ import annotations

import pytest

from gpuprof.analyses.accounts.cell_phases import CellPhases
from gpuprof.analyses.accounts.phase import Phase
from gpuprof.analyses.basics.result import Results
from tests.analyses.accounts.cells import cell, line
from tests.analyses.accounts.test_sample_phases import BACKWARD, CALL, ENDS, libraries
from tests.support.trace_builder import TraceBuilder

__all__ = ["libraries"]  # a fixture


def test_phases_add_up_and_say_what_is_nowhere() -> None:
    builder = TraceBuilder().stack(30_000, 60_000, line(5), CALL).stack(90_000, 30_000, line(6), BACKWARD)
    builder.stack(120_000, 10_000)
    found = Results(cell(builder, ends_ms=ENDS)).get(CellPhases)
    assert found.sampled and found.total_ns == 100_000_000
    assert [(each.phase, each.share) for each in found.phases] == [
        (Phase.FORWARD, pytest.approx(0.6)),
        (Phase.BACKWARD, pytest.approx(0.3)),
        (Phase.OTHER, pytest.approx(0.1)),
    ]
    assert found.unplaced_share == pytest.approx(0.1)
    assert found.share(Phase.FORWARD, Phase.BACKWARD) == pytest.approx(0.9)
    assert found.phases[0].error == pytest.approx((4 / 7 * 3 / 7 / 5) ** 0.5)


def test_a_recording_has_the_phases_of_its_ranges() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 40).data_wait(45, 10)
    builder.optimizer_step("Adam", 60, 20).operator("aten::add", 60, 20)
    builder.operator("aten::relu", 90, 10)
    found = Results(builder.build()).get(CellPhases)
    assert not found.sampled and found.unplaced_share is None
    assert {each.phase: each.share for each in found.phases} == pytest.approx(
        {Phase.DATA: 0.1, Phase.FORWARD: 0.5, Phase.OPTIMIZER: 0.2, Phase.OTHER: 0.2}
    )
    assert Results(TraceBuilder().build()).get(CellPhases).phases == ()
