from __future__ import annotations

import gc
import tarfile
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.errors import RecordingError, UnreadableError
from gpuprof.ingest.kineto import collector_paused
from gpuprof.ingest.load import load_captured, load_ranks, load_trace
from gpuprof.ingest.looked import calm_times, with_look, without_names
from gpuprof.ingest.numbering import whole
from gpuprof.model.context import Environment, RunContext, Window
from gpuprof.model.device import Device
from gpuprof.model.look import Look, LookedPlace
from gpuprof.model.look_schema import LOOKED_OPERATORS, LOOKED_READS, LOOKED_RESULTS, LOOKED_VALUES
from gpuprof.model.readings import ReadingLog
from gpuprof.model.recording import KINETO, read_large_table, write_context, write_large_table, write_table
from gpuprof.model.schema import DEVICE_READINGS, HOST_READINGS, LINE_EVENTS
from gpuprof.model.table import Table
from gpuprof.model.trace import empty_tables
from gpuprof.report import Report
from tests.ingest.kineto_text import EVENTS, call, compact, operator, save, span
from tests.support.shared import shared_file

CONTEXT = RunContext(run_id="r1", environment=Environment(torch="2.13.0", devices=(Device(id=0, name="Test GPU"),)))


def _recording(folder: Path, context: RunContext = CONTEXT, *, kineto: str | None = compact(EVENTS)) -> Path:
    write_context(folder, context)
    write_table(folder, Table(DEVICE_READINGS, {"time_ns": [1, 2], "power_mw": [-1, 250_000]}))
    write_table(folder, Table(HOST_READINGS, {"time_ns": [5], "resident_bytes": [1024]}))
    if kineto is not None:
        save(folder, kineto, KINETO)
    return folder


def test_a_recording_is_its_trace_its_samples_and_its_context(tmp_path: Path) -> None:
    trace = load_trace(_recording(tmp_path))
    assert (trace.source.kind, trace.source.path, trace.source.torch) == ("recording", str(tmp_path), "2.13.0")
    assert trace.context == CONTEXT
    assert trace.device_readings["power_mw"].tolist() == [-1, 250_000]
    assert trace.host_readings["resident_bytes"].tolist() == [1024]
    assert trace.device(0).name == "Test GPU"
    assert trace.steps_from == "ProfilerStep"


@pytest.mark.parametrize(
    ("kineto", "says"), [(None, "No kernel recording was saved"), ('{"traceEv', "could not be read: the file ends")]
)
def test_a_recording_without_its_trace_still_counts(kineto: str | None, says: str, tmp_path: Path) -> None:
    trace = load_trace(_recording(tmp_path, kineto=kineto))
    assert len(trace.operators) == 0
    assert len(trace.device_readings) == 2
    assert trace.device_recorded is None
    assert says in trace.source.notes[0]


def test_a_recording_of_another_format_is_refused(tmp_path: Path) -> None:
    (_recording(tmp_path) / "recording.json").write_text('{"format": 99, "context": {}}')
    with pytest.raises(RecordingError, match="format 99"):
        load_trace(tmp_path)


def test_a_recording_that_began_with_a_step_counts_its_first_one(tmp_path: Path) -> None:
    events = [span("Optimizer.step#SGD.step", ts, 10) for ts in (50, 150)]
    window = Window(start_ns=5_000, end_ns=200_000, first_step=2, started_late=True)
    late = load_trace(_recording(tmp_path, RunContext(window=window), kineto=compact(events)))
    assert late.steps["start_ns"].tolist() == [5_000, 60_000]
    write_context(tmp_path, RunContext(window=Window(start_ns=5_000, end_ns=200_000)))
    assert load_trace(tmp_path).steps["start_ns"].tolist() == [60_000]


@dataclass
class Captured:
    folder: Path | None
    kineto: Path | None
    context: RunContext = CONTEXT
    device_readings: ReadingLog = field(
        default_factory=lambda: ReadingLog(table=Table(DEVICE_READINGS, {"time_ns": [3]}))
    )
    host_readings: Table = field(default_factory=lambda: Table(HOST_READINGS))
    large: tuple[Table, ...] = (Table(LINE_EVENTS),)


def test_what_could_not_be_saved_is_read_all_the_same(tmp_path: Path) -> None:
    trace = load_captured(Captured(None, save(tmp_path, compact(EVENTS), KINETO)))
    assert (len(trace.operators), len(trace.device_readings)) == (2, 1)
    assert trace.source.kind == "recording"
    assert len(load_captured(Captured(tmp_path, None)).operators) == 0


def _ranks(folder: Path) -> Path:
    for rank in (2, 0, 11):
        save(folder, compact([operator(f"rank {rank}", 1, 2)], {"distributedInfo": {"rank": rank}}), f"w{rank}.json.gz")
    save(folder, compact([operator("rank 5", 1, 2)]), "trace_rank5.json")
    save(folder, '{"unrelated": 1}', "settings.json")
    (folder / "readme.txt").write_text("x")
    return folder


def test_a_folder_of_ranks(tmp_path: Path) -> None:
    folder = _ranks(tmp_path)
    assert [trace.source.rank for trace in load_ranks(folder)] == [0, 2, 5, 11]
    assert load_trace(folder).source.rank == 0
    assert "rank 11" in load_trace(folder, rank=11).names
    with pytest.raises(UnreadableError, match="no rank 3 in this folder; expected one of 0, 2, 5, 11"):
        load_trace(folder, rank=3)


def test_a_file_of_another_rank_is_refused(tmp_path: Path) -> None:
    path = _ranks(tmp_path) / "w2.json.gz"
    assert load_trace(path, rank=2).source.rank == 2
    with pytest.raises(UnreadableError, match="this is rank 2; expected rank 0"):
        load_trace(path, rank=0)


@pytest.mark.recordings
def test_eight_ranks_of_one_step(tmp_path: Path) -> None:
    with tarfile.open(shared_file("ranks/v100-dlrm-8ranks.tar.gz")) as archive:
        for member in archive:
            if (file := archive.extractfile(member)) is not None:
                save(tmp_path, file.read(), Path(member.name).name)
    traces = load_ranks(tmp_path)
    assert [trace.source.rank for trace in traces] == list(range(8))
    assert [trace.device_ids for trace in traces] == [(rank,) for rank in range(8)]


def test_launches_without_device_work_were_not_captured(tmp_path: Path) -> None:
    launched = load_trace(save(tmp_path, compact([operator("aten::mm", 1, 9), call("cudaLaunchKernel", 2, 3, 4)])))
    assert launched.device_recorded is False
    waited = load_trace(save(tmp_path, compact([call("cudaDeviceSynchronize", 2, 3, 4)])))
    assert waited.device_recorded is None


def test_the_main_thread_is_not_the_engine_s(tmp_path: Path) -> None:
    engine = [operator(f"autograd::engine::evaluate_function: N{i}", 10 * i, 9, tid=2) for i in range(20)]
    own = [operator("aten::mm", 10 * i, 3) for i in range(5)]
    trace = load_trace(save(tmp_path, compact([*engine, *own])))
    assert trace.threads["tid"][trace.main_thread] == 10


def test_an_empty_kineto_file_is_an_empty_trace(tmp_path: Path) -> None:
    trace = load_trace(save(tmp_path, compact([], {"schemaVersion": 1})))
    assert (trace.span_ns, trace.main_thread, trace.device_recorded) == (0, -1, None)
    assert trace.source.notes == ("The trace holds no operator, call or device event.",)


def test_an_accelerator_that_is_not_read_is_named(tmp_path: Path) -> None:
    work = {"ph": "X", "cat": "hpu_op", "name": "gemm", "pid": 1, "tid": 1, "ts": 5, "dur": 10}
    with_it = load_trace(save(tmp_path, compact([operator("aten::mm", 0, 20), work]), "a.json"))
    without = load_trace(save(tmp_path, compact([operator("aten::mm", 0, 20)]), "b.json"))
    assert (with_it.source.unread, without.source.unread) == ("hpu", None)
    headline = Report.of(with_it).verdict.headline
    assert headline.startswith("This trace has work of an accelerator (hpu) that gpuprof does not read.")
    assert "No GPU" not in headline


def test_of_two_such_accelerators_that_with_the_most_events_is_named(tmp_path: Path) -> None:
    events = [
        {"ph": "X", "cat": cat, "name": "gemm", "pid": 1, "tid": 1, "ts": 5 + at, "dur": 1}
        for at, cat in enumerate(("npu_op", "hpu_op", "hpu_op"))
    ]
    trace = load_trace(save(tmp_path, compact([operator("aten::mm", 0, 20), *events])))
    assert trace.source.unread == "hpu"


@pytest.mark.parametrize(
    ("text", "number"), [("12345678901234567890", 1234567890123456789), ("GPU 0 stream 17", 17), ("", -1)]
)
def test_a_thread_whose_name_is_a_text_has_the_last_number_in_it(text: str, number: int) -> None:
    assert whole(text) == number


def test_names_of_the_look_are_numbered_with_those_of_the_trace():
    tables = empty_tables()
    tables["looked_operators"] = Table(LOOKED_OPERATORS, {"name": [1, 0, -1, 7]})
    tables["looked_values"] = Table(LOOKED_VALUES, {"shape": [2], "dtype": [0]})
    look = Look(names=("aten::mm", "aten::add", "[2, 3]"))
    renumbered, names = with_look(tables, ("x", "aten::add", "x"), look)
    assert names == ("x", "aten::add", "x", "aten::mm", "[2, 3]")
    assert renumbered["looked_operators"]["name"].tolist() == [1, 3, -1, -1]
    assert renumbered["looked_values"]["shape"].tolist() == [4]
    assert renumbered["looked_values"]["dtype"].dtype == np.int32
    assert renumbered["operators"] is tables["operators"]


def looked(*durations_ns: int, elements: list[int] | None = None, places: list[int] | None = None) -> list[int]:
    """What operators of one name are taken to last."""
    count = len(durations_ns)
    operators = Table(LOOKED_OPERATORS, {"duration_ns": list(durations_ns), "place": places or [0] * count})
    made = Table(LOOKED_RESULTS, {"operator": list(range(count)), "elements": elements or [64] * count})
    times: list[int] = calm_times(operators, Table(LOOKED_READS, {}), made).tolist()
    return times


def test_an_operator_of_the_look_that_waited_for_a_core_is_timed_without_that() -> None:
    assert looked(100, 110, 9_000, 90) == [100, 110, 300, 90]
    assert looked(100, 9_000) == [100, 300]
    assert looked(9_000) == [9_000]
    assert looked(100, 299, 300, 100) == [100, 299, 300, 100]
    # others of that name tell nothing of another size, or of another line
    assert looked(100, 110, 9_000, 120, elements=[64, 64, 6400, 64]) == [100, 110, 9_000, 120]
    assert looked(100, 110, 9_000, 120, places=[0, 0, 1, 0]) == [100, 110, 9_000, 120]
    assert looked() == []


@given(st.lists(st.integers(0, 10**9), max_size=12))
def test_no_operator_of_the_look_is_timed_longer(durations_ns: list[int]) -> None:
    times = looked(*durations_ns)
    assert all(0 <= each <= before for each, before in zip(times, durations_ns, strict=True))
    assert min(times, default=0) == min(durations_ns, default=0)
    if times:
        assert max(times) <= 3 * sorted(durations_ns)[(len(durations_ns) - 1) // 2]


def test_a_run_without_a_look_is_as_it_was():
    tables = empty_tables()
    for look in (None, Look(skipped="the cell was too short")):
        same, names = with_look(tables, ["a"], look)
        assert same == tables
        assert names == ("a",)


def test_a_trace_keeps_no_names_of_the_look_apart():
    place = LookedPlace("cell.py", 3, "train")
    context = RunContext(look=Look(iterations=2, places=(place,), names=("aten::mm",)))
    assert without_names(context).look == Look(iterations=2, places=(place,))
    assert without_names(RunContext()) == RunContext()


def test_what_the_look_says_of_itself_survives_the_file():
    look = Look(iterations=2, places=(LookedPlace("cell.py", 3, "train"),), ended_by="bytes")
    assert msgspec.json.decode(msgspec.json.encode(look), type=Look) == look


@pytest.mark.parametrize("on", [True, False])
def test_the_garbage_collector_is_off_and_then_as_it_was(on: bool, tmp_path: Path) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if on else gc.disable)()
        with collector_paused():
            assert not gc.isenabled()
        assert gc.isenabled() is on
        with pytest.raises(ValueError, match="broken"), collector_paused():
            raise ValueError("broken")
        assert gc.isenabled() is on
        load_trace(save(tmp_path, compact(EVENTS)))
        assert gc.isenabled() is on
    finally:
        (gc.enable if before else gc.disable)()


def test_a_look_from_before_zeros_were_counted(tmp_path):
    """Its tables lack those columns: nothing was counted."""
    values = Table(LOOKED_VALUES, {"storage": [1, 2], "zeros_share": [0.99, 0.5], "zero_pattern": [1, 0]})
    write_large_table(tmp_path, values)
    assert read_large_table(tmp_path, LOOKED_VALUES)["zeros_share"].tolist() == [0.99, 0.5]
    with np.load(tmp_path / "looked_values.npz") as stored:
        before = {name: stored[name] for name in stored.files if not name.startswith("zero")}
    np.savez(tmp_path / "looked_values.npz", **before)
    read = read_large_table(tmp_path, LOOKED_VALUES)
    assert np.isnan(read["zeros_share"]).all() and read["zero_pattern"].tolist() == [0, 0]
    assert read["storage"].tolist() == [1, 2]
