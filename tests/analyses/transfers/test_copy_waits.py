"""Which waits belong to a copy."""

from __future__ import annotations

from typing import Any

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.transfers.copies import Copies
from gpuprof.analyses.transfers.copy_waits import CopyWaits
from gpuprof.analyses.transfers.sync_waits import SyncWaits
from tests.support.trace_builder import TraceBuilder


def test_the_synchronise_in_the_copying_operator_is_joined() -> None:
    """GIVEN a copy and its synchronise in one operator, and a synchronise in another."""
    builder = TraceBuilder().operator("aten::copy_", 0, 100)
    builder.copy("d2h", 5, 40, host_memory="pageable", launch_at_us=2, launch_for_us=6).sync(20, 60)
    trace = builder.operator("aten::nonzero", 200, 50).sync(210, 30).build()
    results = Results(trace)
    joined = results.get(CopyWaits)
    assert joined.copy_call.tolist() == [0, -1]
    assert (joined.calls.starts.tolist(), joined.calls.ends.tolist()) == ([2000], [8000])


def test_rows_match_those_of_the_tables(any_shared_trace: Any) -> None:
    results = Results(any_shared_trace)
    joined = results.get(CopyWaits)
    assert len(joined.copy_call) == len(results.get(SyncWaits).table)
    assert len(joined.calls.starts) == len(results.get(Copies).table)


def test_a_copy_without_a_recorded_call_holds_up_nobody() -> None:
    results = Results(TraceBuilder().operator("aten::mm", 0, 10).copy("h2d", 5, 40).build())
    calls = results.get(CopyWaits).calls
    assert (calls.ends - calls.starts).tolist() == [0]
