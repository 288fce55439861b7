"""Elements of recorded shapes, and the exchanges between ranks that Kineto describes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpuprof.ingest.load import load_trace
from gpuprof.ingest.shapes import elements, first_type
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


def raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(json.dumps(value).encode())


@pytest.mark.parametrize(
    ("dims", "number"),
    [
        ([[1000]], 1000),
        ([[2, 3], [4]], 10),
        ([[[1000]], [], []], 1000),
        ([[], []], -1),
        ([], -1),
        ("no list", -1),
        ([[-1]], -1),
        ([[1 << 40, 1 << 40]], 1 << 62),
    ],
)
def test_elements_of_all_tensors(dims: Any, number: int) -> None:
    assert elements(raw(dims)) == number


def test_what_is_no_json_has_none() -> None:
    assert elements(msgspec.Raw(b"")) == elements(msgspec.Raw(b"[[1")) == -1
    assert first_type(msgspec.Raw(b"")) is None


def test_first_type() -> None:
    assert first_type(raw(["TensorList", "", "Scalar", "float"])) == "float"
    assert first_type(raw(["Scalar"])) is None


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
