"""Copies: bandwidth, the exposed part, the time the host stands in them."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.transfers.copies import Copies
from gpuprof.model.kinds import CopyKind
from gpuprof.model.trace import Trace
from tests.analyses.random_runs import runs
from tests.support.trace_builder import TraceBuilder


def copies(trace: Trace) -> Copies:
    return Results(trace).get(Copies)


def test_bandwidth_is_bytes_over_device_time():
    table = copies(TraceBuilder().copy("h2d", 0, 100, bytes=1_000_000).build()).table
    assert table["bandwidth_bytes_per_s"].tolist() == [1e10]


def test_unknown_bytes_and_zero_durations_have_no_bandwidth():
    table = copies(TraceBuilder().copy("h2d", 0, 100, bytes=-1).copy("h2d", 200, 0, bytes=5).build()).table
    assert np.isnan(table["bandwidth_bytes_per_s"]).all()
    assert copies(TraceBuilder().copy("h2d", 0, 9, bytes=-1).build()).totals[CopyKind.H2D].bandwidth_bytes_per_s is None


def test_exposed_is_what_no_compute_covers_on_that_device():
    trace = (
        TraceBuilder()
        .copy("h2d", 0, 100, stream=9)
        .kernel("gemm", 60, 100)
        .kernel("ncclKernel", 0, 30, stream=8)
        .kernel("gemm", 0, 100, device=1)
        .build()
    )
    assert copies(trace).table["exposed_ns"].tolist() == [60_000]


def test_the_host_stands_in_the_call_and_in_the_synchronise_of_the_same_operator():
    # GIVEN a D2H copy inside aten::copy_ whose synchronise follows, a capture query between the two
    builder = TraceBuilder().operator("aten::copy_", 0, 50).copy("d2h", 10, 5, launch_at_us=2, launch_for_us=4)
    builder.call("cudaStreamIsCapturing", 7, 1).sync(9, 30)
    # AND a later synchronise of the user's own
    trace = builder.sync(60, 100, "cudaDeviceSynchronize").build()
    assert copies(trace).table["host_blocked_ns"].tolist() == [34_000]


def test_a_synchronise_belongs_to_the_last_copy_before_it():
    builder = TraceBuilder().operator("aten::_to_copy", 0, 90)
    builder.copy("d2h", 10, 5, launch_at_us=2, launch_for_us=4).copy("d2h", 20, 5, launch_at_us=12, launch_for_us=4)
    assert copies(builder.sync(18, 30).build()).table["host_blocked_ns"].tolist() == [4_000, 34_000]


def test_outside_operators_only_the_call_itself_counts():
    builder = TraceBuilder().copy("d2h", 10, 5, launch_at_us=2, launch_for_us=4).sync(9, 30)
    assert copies(builder.build()).table["host_blocked_ns"].tolist() == [4_000]


def test_without_a_matching_call_the_host_time_is_unknown():
    found = copies(TraceBuilder().copy("d2h", 10, 5).build())
    assert found.table["host_blocked_ns"].tolist() == [-1]
    assert found.totals[CopyKind.D2H].host_blocked_ns == 0


def test_totals_by_direction():
    trace = TraceBuilder().copy("h2d", 0, 10, bytes=100).copy("h2d", 20, 10, bytes=300).copy("d2h", 40, 5).build()
    found = copies(trace)
    assert set(found.totals) == {CopyKind.H2D, CopyKind.D2H}
    totals = found.totals[CopyKind.H2D]
    assert (totals.count, totals.bytes, totals.ns, totals.exposed_ns) == (2, 400, 20_000, 20_000)
    assert totals.bandwidth_bytes_per_s == 2e7
    assert len(found.of_direction(CopyKind.D2H)) == 1
    assert copies(TraceBuilder().build()).totals == {}


@given(runs())
def test_no_run_breaks_it(trace: Trace):
    table = copies(trace).table
    assert ((table["exposed_ns"] >= 0) & (table["exposed_ns"] <= table["duration_ns"])).all()


def test_pinned_copies_leave_the_host_free(shared_trace: Any):
    pinned, pageable = (copies(shared_trace(f"a100-copies-{kind}")) for kind in ("pinned", "pageable"))
    in_calls = [sum(each.host_blocked_ns for each in found.totals.values()) / 1e6 for found in (pinned, pageable)]
    assert in_calls[0] < 1
    assert in_calls[1] > 600


def test_what_called_the_operator_is_known_autograds_wrapper_looked_through():
    builder = TraceBuilder().operator("CompiledFunctionBackward", 0, 50)
    builder.operator("autograd::engine::evaluate_function: CloneBackward0", 1, 40).operator("aten::clone", 5, 20)
    builder.copy("d2d", 30, 10, launch_at_us=8).operator("aten::clone", 60, 20).copy("d2d", 82, 5, launch_at_us=64)
    found = copies(builder.build())
    assert [found.names[name] for name in found.table["operator_name"]] == ["aten::clone"] * 2
    assert found.table["caller_name"][1] == -1
    assert found.names[found.table["caller_name"][0]] == "CompiledFunctionBackward"
