"""Communication that no compute overlaps: its kinds, and where the report shows them."""

from __future__ import annotations

from gpuprof.analyses.accounts.hot_spots import HotSpots
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.ranks.exposed_exchanges import ExposedExchanges
from gpuprof.model.collectives import CollectiveKind
from gpuprof.model.trace import Trace
from gpuprof.report.headline import headline
from tests.support.trace_builder import TraceBuilder


def exchanged() -> TraceBuilder:
    """60 µs of compute, an all-reduce that ends 5 µs after it, then 30 µs of all-to-all."""
    builder = TraceBuilder().operator("aten::mm", 0, 90)
    builder.kernel("gemm", 0, 60).collective("AllReduce", 20, 45).collective("AllToAll", 65, 30)
    return builder.copy("D2D", 60, 10, stream=7)


def test_each_kind_counts_where_nothing_is_computed() -> None:
    found = Results(exchanged().build()).get(ExposedExchanges)
    assert [(kind, part.total_ns) for kind, part in found.parts] == [
        (CollectiveKind.ALL_TO_ALL, 30_000),
        (CollectiveKind.ALL_REDUCE, 5_000),
    ]


def test_the_headline_and_the_hot_spots_name_the_kind() -> None:
    results = Results(exchanged().build())
    assert "37 % in exposed communication, nearly all of it all-to-all" in headline(results.trace, results)
    spots = {spot.what: spot.ns for spot in results.get(HotSpots).spots}
    # the copy overlaps the communication, so it has no time of its own
    assert spots == {"gemm": 60_000, "exposed all-to-all": 30_000, "exposed all-reduce": 5_000}


def test_without_a_device_nothing_is_exposed(empty_trace: Trace) -> None:
    assert Results(empty_trace).get(ExposedExchanges).parts == ()
