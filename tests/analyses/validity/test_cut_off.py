"""A recording that ends too early is told from a whole one, however it was cut."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.validity.cut_off import CutOff
from gpuprof.analyses.validity.lost_launches import LostLaunches
from gpuprof.analyses.validity.validity import Validity
from gpuprof.ingest.load import load_trace
from gpuprof.model.trace import EndMark, Trace
from tests.ingest.kineto_text import Event, call, compact, kernel, operator, save, span
from tests.support.shared import NAMES, shared_path
from tests.support.trace_builder import TraceBuilder

WINDOW_END: Event = {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 10_001}
PROFILER: Event = {
    "ph": "X",
    "cat": "Trace",
    "name": "PyTorch Profiler (0)",
    "pid": "Spans",
    "tid": 0,
    "ts": 0,
    "dur": 1,
}
WITHOUT_GPU = {"cpu-only-rank34", "no-gpu-activity"}
DEVICES = {"deviceProperties": [{"id": 0, "name": "Tesla V100"}]}


def gpu_events() -> list[Event]:
    """Ten steps in the order in which Kineto writes them: operators, then calls and kernels by turns, then the end."""
    host, device = [], []
    for step in range(10):
        at = 1000 * step
        host += [span(f"ProfilerStep#{step}", at, 1000), operator("aten::mm", at + 10, 900)]
        device += [call("cudaLaunchKernel", at + 20, 5, step + 1), kernel("sgemm", at + 40, 800, step + 1)]
    return [*host, *device, PROFILER, WINDOW_END]


def cut_at(events: list[Event], part: float) -> list[Event]:
    return events[: int(len(events) * part)]


def doubt_of(path: Path) -> Any:
    return Results(load_trace(path)).get(CutOff).doubt


def test_a_whole_recording_stands(tmp_path: Path) -> None:
    path = save(tmp_path, compact(gpu_events(), DEVICES))
    assert load_trace(path).source.end_mark is EndMark.WINDOW
    assert doubt_of(path) is None


@pytest.mark.parametrize("part", [0.3, 0.6, 0.9])
def test_a_file_cut_at_some_byte_cannot_be_judged(tmp_path: Path, part: float) -> None:
    text = compact(gpu_events(), DEVICES)
    doubt = doubt_of(save(tmp_path, text[: int(len(text) * part)]))
    assert doubt.cannot_judge and doubt.sentence.startswith("This recording is cut off: the file ends in the middle")
    assert doubt.sentence.endswith("It cannot be judged.")


@pytest.mark.parametrize("part", [0.5, 0.6, 0.9])
def test_a_list_cut_after_some_event_cannot_be_judged(tmp_path: Path, part: float) -> None:
    doubt = doubt_of(save(tmp_path, compact(cut_at(gpu_events(), part), DEVICES)))
    assert doubt.cannot_judge and "end mark is missing" in doubt.sentence
    assert ("all GPU work missing" in doubt.sentence) == (part < 0.6)


def test_a_cut_behind_the_last_event_costs_nothing(tmp_path: Path) -> None:
    path = save(tmp_path, compact(gpu_events(), DEVICES)[:-1])
    assert load_trace(path).source.truncated
    assert doubt_of(path) is None


def test_the_end_of_a_run_on_the_cpu_is_missed_only_where_the_file_shows_it(tmp_path: Path) -> None:
    events = [operator("aten::mm", at, 9) for at in range(0, 1000, 10)]
    whole = compact(events)
    assert doubt_of(save(tmp_path, whole)) is None
    assert doubt_of(save(tmp_path, whole[: len(whole) // 2])).cannot_judge


def converted(launches: int, kernels: int) -> list[Event]:
    """As a tool writes them that sorts by category and drops the marks."""
    calls = [call("cudaLaunchKernel", 100 * at, 5, at + 1) for at in range(launches)]
    return [*calls, *(kernel("sgemm", 100 * at + 20, 50, at + 1) for at in range(kernels))]


@pytest.mark.parametrize(("kernels", "cut"), [(100, False), (99, False), (60, True)])
def test_launches_at_the_edge_are_not_taken_for_a_cut(tmp_path: Path, kernels: int, cut: bool) -> None:
    path = save(tmp_path, compact(converted(100, kernels)))
    assert load_trace(path).source.end_mark is EndMark.CONVERTED
    doubt = doubt_of(path)
    assert (doubt is not None) == cut
    if cut:
        assert "40 of 100 launches have no kernel" in doubt.sentence


def test_launches_under_graph_capture_run_nothing() -> None:
    built = TraceBuilder()
    for at in range(0, 1000, 100):
        built.call("cudaLaunchKernel", at, 5, correlation=5000 + at)
    built.call("cudaGraphInstantiate", 1000, 50)
    built.kernel("sgemm", 1200, 20, launch_at_us=1100)
    lost = Results(built.build()).get(LostLaunches)
    assert (lost.launches, lost.lost) == (1, 0)


def test_calls_that_end_long_before_the_operators_show_a_cut_where_only_the_older_mark_is_there() -> None:
    def doubt(calls_end_us: float, mark: EndMark) -> Any:
        built = TraceBuilder().operator("aten::mm", 0, 1000).source(end_mark=mark)
        built.kernel("sgemm", calls_end_us - 5, 5, launch_at_us=calls_end_us - 10)
        return Results(built.build()).get(CutOff).doubt

    assert doubt(500, EndMark.PROFILER).cannot_judge
    assert doubt(950, EndMark.PROFILER) is None
    assert doubt(500, EndMark.WINDOW) is None


def test_the_cut_of_another_rank_counts() -> None:
    whole, cut = TraceBuilder().source(rank=0), TraceBuilder().source(rank=3, truncated=True, end_mark=EndMark.MISSING)
    results = Results(whole.operator("aten::mm", 0, 9).build(), [cut.operator("aten::mm", 0, 9).build()])
    doubt = results.get(CutOff).doubt
    assert doubt is not None and doubt.sentence.startswith("The recording of rank 3 is cut off")


def test_no_whole_recording_is_called_cut(any_shared_trace: Trace) -> None:
    assert not Results(any_shared_trace).get(Validity).cannot_judge


@pytest.mark.recordings
@pytest.mark.parametrize("name", [name for name in NAMES if name not in WITHOUT_GPU])
def test_every_gpu_recording_cut_at_60_percent_cannot_be_judged(name: str, tmp_path: Path) -> None:
    whole = gzip.decompress(shared_path(name).read_bytes())
    assert doubt_of(save(tmp_path, whole[: len(whole) * 6 // 10])).cannot_judge
    parsed = json.loads(whole, strict=False)
    parsed["traceEvents"] = cut_at(parsed["traceEvents"], 0.6)
    assert doubt_of(save(tmp_path, json.dumps(parsed))).cannot_judge
