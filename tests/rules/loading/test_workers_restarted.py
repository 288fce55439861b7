"""Starts of workers that lie outside of the recorded part, or only touch it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.registry import rule
from tests.rules.cases.loading.workers_restarted import fires

MS = 1_000_000


@pytest.mark.parametrize(
    ("span_ms", "ranges_ms"),
    [
        ((0, 1000), [(300, 361), (600, 661)]),
        # where the one ends, or the other begins
        ((361, 1000), [(600, 661)]),
        ((360, 1000), [(360, 361), (600, 661)]),
        ((0, 600), [(300, 361)]),
        ((0, 601), [(300, 361), (600, 601)]),
    ],
)
def test_the_starts_within_the_recorded_part(span_ms: tuple[int, int], ranges_ms: list[tuple[int, int]]) -> None:
    trace = replace(fires(), span_start_ns=span_ms[0] * MS, span_end_ns=span_ms[1] * MS)
    found = rule("workers_restarted").check(Results(trace))
    assert isinstance(found, Finding)
    assert [(begin / MS, end / MS) for begin, end in found.where.ranges_ns] == ranges_ms
