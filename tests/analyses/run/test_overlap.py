"""What compute hides of copies and collectives."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.run.overlap import Hidden, Overlap
from tests.support.trace_builder import TraceBuilder


def test_hidden_and_exposed_by_wall_clock():
    trace = (
        TraceBuilder()
        .kernel("gemm", 0, 50)
        .copy("h2d", 30, 40, stream=8)
        .copy("d2h", 60, 20, stream=9)
        .kernel("ncclKernel_AllReduce", 40, 60, stream=10)
        .build()
    )
    found = Results(trace).get(Overlap)
    assert found.copies == Hidden(total_ns=50_000, hidden_ns=20_000, exposed_ns=30_000)
    assert found.collectives == Hidden(total_ns=60_000, hidden_ns=10_000, exposed_ns=50_000)
    assert found.copies.hidden_share_of_total == pytest.approx(0.4)
    assert found.exposed_collectives_share_of_span == pytest.approx(0.5)


def test_nothing_to_hide_has_no_share():
    found = Results(TraceBuilder().kernel("gemm", 0, 50).build()).get(Overlap)
    assert found.copies == Hidden(0, 0, 0)
    assert found.copies.hidden_share_of_total is None


def test_unknown_without_device_activity():
    assert Results(TraceBuilder().operator("aten::mm", 0, 5).build()).get(Overlap) == Overlap(None, None, None, None)
