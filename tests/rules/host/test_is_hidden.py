"""A stretch of the host is hidden where a device is busy for the share that is asked for, no less."""

from __future__ import annotations

import numpy as np
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.intervals import Intervals
from gpuprof.rules.host.loops import is_hidden
from tests.support.trace_builder import TraceBuilder


@pytest.mark.parametrize(("share", "hidden"), [(0.4, True), (0.5, True), (0.51, False)])
def test_a_device_that_is_busy_half_of_the_time(share: float, hidden: bool) -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 10).kernel("gemm", 100, 50, launch_at_us=2)
    results = Results(builder.operator("aten::mm", 190, 10).build())
    inside = Intervals(np.array([100_000]), np.array([200_000]))
    assert is_hidden(results, inside, share) is hidden


def test_without_a_device_nothing_is_hidden() -> None:
    results = Results(TraceBuilder().operator("aten::mm", 0, 10).build())
    assert not is_hidden(results, Intervals(np.array([0]), np.array([10_000])), 0.0)
