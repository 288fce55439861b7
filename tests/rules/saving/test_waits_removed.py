"""The saving over the number of waits removed, in findings about waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.transfers.sync_waits import SyncWaits
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.registry import rule
from gpuprof.rules.saving.waits_removed import wait_places
from tests.support.trace_builder import TraceBuilder


def steps(reads: int, *, lines: tuple[int, ...] = ()) -> Trace:
    """Ten steps of a kernel, `reads` reads of its result and 400 µs of host work with the device idle."""
    builder = TraceBuilder()
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).kernel("gemm", at + 8, 500, launch_at_us=at)
        now: float = at + 20
        for read in range(reads):
            if lines:
                builder.line(lines[read], now)
            held = 498 if read == 0 else 8
            builder.operator("aten::item", now, held).sync(now + 1, held - 2)
            now += held + 2
        if lines:
            builder.line(9, now)
        builder.operator("aten::work", now, at + 1000 - now)
    return builder.kernel("last", 10_008, 5, launch_at_us=10_000).sync(10_005, 30, "cudaDeviceSynchronize").build()


def found(trace: Trace, name: str = "sync_in_step") -> Finding:
    judged = rule(name).check(Results(trace))
    assert isinstance(judged, Finding) and judged.saving is not None
    return judged


def test_the_curve_says_that_only_all_of_them_help() -> None:
    finding = found(steps(4))
    curve = str(finding.evidence["saving_by_places_removed"])
    assert [each.split(": ")[0] for each in curve.split(", ")] == ["1", "2", "3", "all 4"]
    assert "They have to go together: without the costliest half of the 4 places that wait" in finding.explanation
    assert finding.saving is not None and curve.endswith(f"{finding.saving.central_ns / 1e6:.2f} ms")


def test_one_place_has_no_curve() -> None:
    assert "saving_by_places_removed" not in found(steps(1)).evidence
    assert "saving_by_places_removed" not in found(steps(3, lines=(4, 4, 4))).evidence


def test_places_are_lines_where_those_are_known() -> None:
    """The two reads of line 3 are one place."""
    results = Results(steps(3, lines=(3, 5, 3)))
    waits = results.get(SyncWaits).table
    places = wait_places(results, waits.take(waits["operator"] >= 0))
    assert [len(each) for each in places] == [20, 10]
    assert str(found(results.trace).evidence["saving_by_places_removed"]).startswith("1: ")


def test_a_copy_and_its_synchronise_are_one_place() -> None:
    builder = TraceBuilder()
    for at in (0, 1000):
        builder.step(at, 1000).operator("aten::item", at, 500)
        builder.copy("d2h", at + 400, 10, host_memory="pageable", launch_at_us=at + 5, launch_for_us=440)
        builder.sync(at + 450, 40)
    results = Results(builder.build())
    (place,) = wait_places(results, results.get(SyncWaits).table)
    assert len(place) == 4
    assert wait_places(results, results.get(SyncWaits).table.take(slice(0, 0))) == []


def test_waits_of_no_operator_are_places_of_their_own() -> None:
    """GIVEN steps of two reads, which are of the first operators, and two waits that no operator makes."""
    builder = TraceBuilder()
    for at in (0, 1000):
        builder.step(at, 1000)
        for read in (0, 100):
            builder.operator("aten::item", at + read, 50).sync(at + read + 1, 40)
            builder.sync(at + 500 + read, 30)
    results = Results(builder.build())
    places = wait_places(results, results.get(SyncWaits).table)
    assert [len(each) for each in places] == [2, 2, 2, 2]


def test_a_recorded_run_has_to_lose_all_ten_waits(shared_trace: Callable[[str], Any]) -> None:
    finding = found(shared_trace("a100-ddp-rank3-healthy"))
    curve = str(finding.evidence["saving_by_places_removed"])
    assert curve.startswith("1: ") and ", all 10: " in curve
    assert "without the costliest half of the 10 places" in finding.explanation
