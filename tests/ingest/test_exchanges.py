"""Process groups and messages, as Kineto writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpuprof.ingest.load import load_trace
from tests.analyses.validity.test_cut_off import WINDOW_END
from tests.ingest.kineto_text import call, compact, kernel, operator, save, span

MESSAGE = {
    "Collective name": "allreduce",
    "In msg nelems": 53120,
    "Out msg nelems": 53120,
    "Group size": 2,
    "dtype": "Float",
    "Process Group Name": "0",
    "Process Group Description": "default_pg",
    "Process Group Ranks": "[0, 1]",
    "Seq": 7,
}


def described(event: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**event, "args": {**event.get("args", {}), **more}}


def test_kernels_operators_and_ranges_that_describe_an_exchange(tmp_path: Path) -> None:
    """GIVEN all three of them THEN each makes a row here besides its own; kernels add no host thread."""
    events = [
        described(operator("record_param_comms", 50, 40), **MESSAGE),
        described(span("gloo:all_reduce", 60, 20), **{"Input Dims": [[10, 10]], "Input type": ["float"]}),
        span("gloo:barrier", 85, 2),
        described(span("mine", 90, 5), **{"Input Dims": [[3]]}),
        call("cudaLaunchKernel", 55, 5, 1),
        described(kernel("ncclDevKernel_AllReduce_Sum_f32", 100, 30, 1), **MESSAGE),
        WINDOW_END,
    ]
    info = {"distributedInfo": {"rank": 1, "world_size": 2, "pg_count": 3}}
    trace = load_trace(save(tmp_path, compact(events, info), "rank1.json"))
    assert (trace.source.rank, trace.source.world_size, trace.source.process_groups) == (1, 2, 3)
    found = trace.collectives
    assert [trace.names[name] for name in found["name"]] == ["allreduce", "gloo:all_reduce", "allreduce"]
    assert found["in_elements"].tolist() == [53120, 100, 53120]
    assert found["number"].tolist() == [7, -1, 7]
    assert [trace.names[each] for each in found["group_ranks"][[0, 2]]] == ["[0, 1]"] * 2
    assert [trace.names[each] for each in found["element_type"]] == ["Float", "float", "Float"]
    assert found["correlation"].tolist()[2] == 1 and found["thread"].tolist()[2] == -1
    assert len(trace.threads) == 1 and len(trace.device_events) == 1 and len(trace.user_ranges) == 3
