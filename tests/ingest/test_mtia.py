"""Events of Meta's accelerators: work on the device, calls of the host, and what is neither."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gpuprof.ingest.load import load_trace
from gpuprof.ingest.vocabulary import call_kind
from gpuprof.model.kinds import CallKind, CopyKind, DeviceEventKind
from gpuprof.model.trace import Trace
from tests.ingest.test_load import compact, operator, save
from tests.support.shared import shared_file

HOST, DEVICE = 865, 17


def on_device(name: str, ts: int, dur: int, **args: Any) -> dict[str, Any]:
    args = {"stream": 108, **args}
    return {"ph": "X", "cat": "mtia_ccp_events", "name": name, "pid": DEVICE, "tid": 3774, "ts": ts, "dur": dur} | {
        "args": args
    }


def call(name: str, ts: int, dur: int, *, pid: int = HOST, **args: Any) -> dict[str, Any]:
    args = {"device": DEVICE, "stream_id": "108", **args}
    return {"ph": "X", "cat": "mtia_runtime", "name": name, "pid": pid, "tid": 5, "ts": ts, "dur": dur, "args": args}


def request(tmp_path: Path) -> Trace:
    """A copy to the device, an executable, the copy back, and a wait for it."""
    events = [
        operator("aten::mm", 0, 5),
        call("enqueueCommand memcpyHtoDAsync", 10, 1, correlation=1),
        call("runFunction - job_prep_and_submit_for_execution", 12, 1, correlation=2),
        call("recordEvent", 14, 1, correlation=3),
        call("synchronizeStream", 16, 200, correlation=9),
        call("synchronize", 16, 200, pid=DEVICE, correlation=9),
        on_device("event_wait", 11, 9, wait_on_stream=104),
        on_device("dma_request", 20, 10, correlation=1, direction="HOST_TO_DEVICE", size=4096),
        on_device("merge", 40, 100, correlation=2, row="0", column="0"),
        on_device("event_record", 140, 1, correlation=3),
        on_device("dma_request", 150, 5, direction="DEVICE_TO_HOST", size=64),
    ]
    return load_trace(save(tmp_path, compact(events, {"deviceProperties": [{"id": DEVICE, "name": "ARTEMIS"}]})))


def test_executables_are_kernels_and_requests_are_copies(tmp_path: Path) -> None:
    trace = request(tmp_path)
    table = trace.device_events
    assert [trace.names[each] for each in table["name"]] == ["dma_request HtoD", "merge", "dma_request DtoH"]
    assert table["kind"].tolist() == [DeviceEventKind.COPY, DeviceEventKind.KERNEL, DeviceEventKind.COPY]
    assert table["copy"].tolist() == [CopyKind.H2D, CopyKind.NONE, CopyKind.D2H]
    assert table["bytes"].tolist() == [4096, -1, 64]
    assert set(table["device"].tolist()) == {DEVICE} and set(table["stream"].tolist()) == {108}
    assert (trace.source.unread, trace.device_recorded) == (None, True)


def test_work_has_the_call_that_enqueued_it(tmp_path: Path) -> None:
    trace = request(tmp_path)
    called = [trace.names[trace.calls["name"][row]] if row >= 0 else "" for row in trace.device_events["call"].tolist()]
    assert called == ["enqueueCommand memcpyHtoDAsync", "runFunction - job_prep_and_submit_for_execution", ""]


def test_the_device_s_side_of_a_call_is_no_call_of_the_host(tmp_path: Path) -> None:
    trace = request(tmp_path)
    names = [trace.names[each] for each in trace.calls["name"]]
    assert names.count("synchronizeStream") == 1 and "synchronize" not in names


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("enqueueCommand memcpyDtoHAsync", CallKind.COPY),
        ("enqueueCommand waitOnEvent", CallKind.EVENT_WAIT),
        ("runFunction - job_prep_and_submit_for_execution", CallKind.KERNEL),
        ("recordEvent", CallKind.EVENT_RECORD),
        ("synchronizeStream", CallKind.SYNCHRONIZE),
        ("predictor_executor::run gif_thread_id:1573", CallKind.OTHER),
    ],
)
def test_what_calls_do(name: str, kind: CallKind) -> None:
    assert call_kind(name) is kind


@pytest.mark.recordings
def test_in_a_public_trace_launches_have_their_work() -> None:
    trace = load_trace(shared_file("expert/mtia-inference.json.gz"))
    launches = trace.calls["kind"] == CallKind.KERNEL
    linked = trace.device_events["call"]
    work = set(linked[linked >= 0].tolist())
    assert sum(row in work for row in launches.nonzero()[0].tolist()) == 73
    starts = trace.device_events["start_ns"][linked >= 0]
    assert (starts >= trace.calls["start_ns"][linked[linked >= 0]]).all()
