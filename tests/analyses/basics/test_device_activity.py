"""Busy and idle time, kernels and copies, by device; the figures of facts.json."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from gpuprof.analyses.basics.device_activity import CopyTotals, DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.model.trace import Trace
from tests.analyses.random_runs import runs
from tests.support.shared import NAMES, shared_facts
from tests.support.trace_builder import TraceBuilder


def activity(trace: Trace) -> DeviceActivity:
    return Results(trace).get(DeviceActivity)


def test_busy_is_a_union_and_kernel_time_a_sum():
    trace = TraceBuilder().kernel("a", 0, 40).kernel("b", 20, 40, stream=8).memset(80, 20).build()
    use = activity(trace).primary
    assert use is not None
    assert (use.busy_ns, use.idle_ns, use.kernel_ns, use.kernels) == (80_000, 20_000, 80_000, 2)
    assert use.busy_share == pytest.approx(0.8)
    assert use.compute.total_ns == 60_000


def test_copies_are_not_kernels_and_collectives_are_not_compute():
    trace = TraceBuilder().kernel("ncclKernel_AllReduce", 0, 10).copy("h2d", 10, 10).build()
    use = activity(trace).primary
    assert use is not None
    assert (use.kernels, use.compute.total_ns, use.busy_ns) == (1, 0, 20_000)


def test_copies_by_direction_and_host_memory():
    trace = (
        TraceBuilder()
        .copy("h2d", 0, 10, bytes=100, host_memory="pageable")
        .copy("h2d", 10, 10, bytes=50, host_memory="pinned")
        .copy("d2h", 20, 5, bytes=7, host_memory="unknown")
        .copy("d2d", 30, 5, bytes=-1)
        .copy("p2p", 40, 5, bytes=9)
        .build()
    )
    use = activity(trace).primary
    assert use is not None
    assert use.h2d == CopyTotals(count=2, bytes=150, ns=20_000, pageable=1, pinned=1)
    assert use.d2h == CopyTotals(count=1, bytes=7, ns=5_000, unknown=1)
    assert use.d2d == CopyTotals(count=1, ns=5_000)
    assert use.other == CopyTotals(count=1, bytes=9, ns=5_000)


def test_each_device_has_its_own_row():
    trace = TraceBuilder().device(3, "A100").kernel("a", 0, 10, device=3).kernel("b", 0, 20, device=5).build()
    found = activity(trace)
    assert [(use.id, use.name, use.busy_ns) for use in found.devices] == [(3, "A100", 10_000), (5, None, 20_000)]


def test_nothing_recorded_is_not_idle():
    found = activity(TraceBuilder().call("cudaLaunchKernel", 0, 5).build())
    assert found.devices == ()
    assert found.primary is None
    assert found.recorded is False


@given(runs())
def test_busy_and_idle_fill_the_span(trace: Trace):
    for use in activity(trace).devices:
        assert use.busy_ns + use.idle_ns == trace.span_ns
        assert 0 <= use.busy_share <= 1


@pytest.mark.parametrize("name", NAMES)
def test_reproduces_the_recorded_facts(shared_trace: Any, name: str):
    facts, found = shared_facts(name), activity(shared_trace(name))
    assert [use.id for use in found.devices] == [fact["id"] for fact in facts["devices"]]
    for use, fact in zip(found.devices, facts["devices"], strict=True):
        assert use.kernels == fact["kernels"]
        assert use.busy_share == pytest.approx(fact["busy_share"], abs=2e-5)
        assert use.busy_ns / 1e6 == pytest.approx(fact["busy_ms"], abs=2e-3)
        assert use.kernel_ns / 1e6 == pytest.approx(fact["kernel_ms"], abs=2e-3)
        for mine, theirs in ((use.h2d, fact["h2d"]), (use.d2h, fact["d2h"])):
            counted = {key: getattr(mine, key) for key in ("count", "bytes", "pageable", "pinned", "unknown")}
            assert counted == {key: theirs[key] for key in counted}
            assert mine.ns / 1e6 == pytest.approx(theirs["ms"], abs=2e-3)
