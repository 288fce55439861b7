"""Files as no profiler should write them: what the readers make of each is kept in tests/data/figures/odd.json.

Trace files of a few events whose fields are missing or odd, at times and of lengths that coincide, in any order, in
every layout, read in pieces of any size, and some of them cut; pickles that are cut at every byte, and with every byte
another; memory snapshots one part of which is missing or odd. A file ends in tables or in one line that says why not.
"""

from __future__ import annotations

import functools
import json
import pickle
import random
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gpuprof.errors import TraceError
from gpuprof.ingest.load import load_trace, read_trace_file
from gpuprof.ingest.plain_pickle import PickledClassError, PickleError, read_plain
from tests.ingest.kineto_text import Event, call, compact, kernel, laid_out, operator, save, span
from tests.support.altering import step_marks
from tests.support.figures import Plain, checksum, of_tables, plain

FILE = Path(__file__).parents[2] / "data" / "figures" / "odd.json"
WRITE = "python -m tests.support.altering.odd_files"
TRACES, AT_ONCE = 400, 20
EPOCH_US = 1_700_000_000_000_000
_PYTHONS_WORDS = re.compile(r"\(((?:Type|Value|Attribute)Error): [^`]*\)")
ODD = (None, 0, -1, 1, 2.5, "7", "x", "", "nan", True, 2**31, 2**40, 2**63, 2**64 - 1, 1e19, [], [3], {})
ARGUMENTS = (
    "External id", "external id", "correlation", "Sequence number", "Fwd thread id", "Input Dims", "Input dims",
    "Input type", "Concrete Inputs", "device", "stream", "bytes", "grid", "block", "est. achieved occupancy %",
    "Collective name", "Process Group Name", "Process Group Ranks", "Group size", "In msg nelems", "Out msg nelems",
    "dtype", "Src Rank", "Dst Rank", "Seq", "wait_on_stream", "wait_on_cuda_event_record_corr_id", "Device Type",
    "Device Id", "Addr", "Bytes", "Total Allocated", "Total Reserved", "name",
)  # fmt: skip
HEADS: tuple[Event, ...] = (
    {"schemaVersion": 1},
    {"schemaVersion": 1, "baseTimeNanoseconds": 1_600_000_000_000_000_000},
    {"deviceProperties": [{"id": 0, "name": "A", "totalGlobalMem": 0, "computeMajor": 9, "computeMinor": 0}, 3]},
    {"deviceProperties": [{"name": "", "numSms": "x"}, {"totalGlobalMem": 1 << 34, "computeMajor": 8}]},
    {"distributedInfo": {"rank": 0, "world_size": 2, "pg_count": "x"}, "schemaVersion": 1},
    {"metadata": {"a": ["torch==2.1.0", {"b": "torch==2.2.0+cu121"}]}, "cuda_runtime_version": 12},
    {"hip_runtime_version": 6, "PyTorch version": "2.3", "baseTimeNanoseconds": "x"},
)


class Draws:
    """Draws that are the same with every Python."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def of(self, *values: Any) -> Any:
        """One of them."""
        return values[int(self._random.random() * len(values))]

    def often(self, share: float) -> bool:
        """True in that share of all draws."""
        return self._random.random() < share


def _events(draws: Draws) -> list[Event]:
    begin = draws.of(0, 100, 100, EPOCH_US, 2**43, -50)
    found, now = [], begin
    for number in range(draws.of(1, 2, 4, 8, 14)):
        lasting = draws.of(0, 1, 2, 5.5, 20, 0.001)
        event = draws.of(*MADE)(draws, now, lasting, number)
        if draws.often(0.15):
            event = event | {draws.of("ts", "dur", "dur", "pid", "tid", "name"): draws.of(*ODD[:14])}
        if draws.often(0.3) and isinstance(event.get("args"), dict):
            event["args"] = event["args"] | {draws.of(*ARGUMENTS): draws.of(*ODD)}
        if draws.often(0.15):
            event = {key: value for key, value in event.items() if key != draws.of("dur", "pid", "tid", "name", "args")}
        found.append(event)
        now = max(now + draws.of(0, 0, 1, 2, 5, -3, 0.125), begin)
    return found


def _odd_lane(draws: Draws, event: Event) -> Event:
    return event | {"pid": draws.of(10, 10, "10", 11, "Spans"), "tid": draws.of(10, 10, 11, "stream 7", "x 12")}


def _operator(draws: Draws, at: float, lasting: float, number: int) -> Event:
    name = draws.of("aten::mm", "aten::slice", "ProfilerStep#3", "Optimizer.step#SGD.step", "autograd::x", "nccl:all")
    args = {"External id": number, "Sequence number": draws.of(-1, 0, 5), "Input Dims": [[2, 3], []]}
    args |= {"Concrete Inputs": ["", "1"], "Input type": draws.of(["float", ""], [], ["c10::Half"])}
    return _odd_lane(draws, operator(name, at, lasting, args=args))


def _span(draws: Draws, at: float, lasting: float, number: int) -> Event:
    steps, loader = f"ProfilerStep#{number}", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    return _odd_lane(draws, span(draws.of(steps, loader, "Optimizer.step#Adam.step", "mine"), at, lasting))


def _call(draws: Draws, at: float, lasting: float, number: int) -> Event:
    names = ("cudaLaunchKernel", "cudaMemcpyAsync", "hipMalloc", "cudaStreamSynchronize", "cudaGraphLaunch", "other")
    return call(draws.of(*names), at, lasting, draws.of(0, 1, 2, number))


def _kernel(draws: Draws, at: float, lasting: float, number: int) -> Event:
    more = {"External id": draws.of(0, 1, number), "est. achieved occupancy %": draws.of(0, 50, -1)}
    if draws.often(0.2):
        more |= {"Collective name": "allreduce", "Group size": 2, "In msg nelems": 4, "dtype": "Float"}
    return kernel(draws.of("gemm", "ncclDevKernel_AllReduce"), at, lasting, draws.of(0, 1, 2, number), **more)


def _copy(draws: Draws, at: float, lasting: float, number: int) -> Event:
    name = draws.of(
        "Memcpy HtoD (Pageable -> Device)", "Memcpy DtoH (Device -> Pinned)", "Memcpy DtoD", "CopyHostToDevice"
    )
    event = kernel(name, at, lasting, draws.of(1, 2, number), bytes=draws.of(0, 1, 1 << 20))
    return event | {"cat": draws.of("gpu_memcpy", "gpu_memset", "Memcpy")}


def _sync(draws: Draws, at: float, lasting: float, number: int) -> Event:
    args = {"device": 0, "stream": draws.of(7, -1, 0), "correlation": number, "wait_on_stream": draws.of(-1, 0, 20)}
    return {"ph": "X", "cat": "cuda_sync", "name": "Stream Synchronize", "pid": 0, "tid": 7, "ts": at, "dur": lasting,
            "args": args}  # fmt: skip


def _instant(draws: Draws, at: float, lasting: float, number: int) -> Event:
    args = {
        "Addr": number,
        "Bytes": draws.of(512, -512, 0),
        "Device Id": draws.of(0, -1),
        "Device Type": draws.of(0, 1),
    }
    event = {"ph": "i", "cat": "cpu_instant_event", "name": draws.of("[memory]", "[memory]", "Record Window End")}
    return event | {"s": "t", "pid": 10, "tid": 10, "ts": at, "args": args}


def _other(draws: Draws, at: float, lasting: float, number: int) -> Event:
    event = {"ph": "X", "pid": 10, "tid": 10, "ts": at, "dur": lasting, "args": {"name": draws.of("worker", 3, "")}}
    cat, name = draws.of(
        ("python_function", "a.py(1): f"),
        ("python_function", "<built-in method astype of numpy.ndarray object at 0x7>"),
        ("Trace", "PyTorch Profiler (0)"), ("Trace", "other"), ("hpu_op", "x"), ("tpu_x", "y"),
        (None, "thread_name"), (None, "[memory]"), ("overhead", "Buffer Flush"),
    )  # fmt: skip
    return event | {"name": name} | ({} if cat is None else {"cat": cat})


MADE: tuple[Callable[[Draws, float, float, int], Event], ...] = (
    _operator, _operator, _span, _call, _call, _kernel, _kernel, _copy, _sync, _instant, _other,
)  # fmt: skip


def of_trace_file(number: int, folder: Path) -> Plain:
    """The tables of the trace file of that number, or why it cannot be read."""
    draws = Draws(number)
    events, head = _events(draws), draws.of(HEADS[0], *HEADS)
    foot = draws.of({}, {"traceName": "x"}, {"deviceProperties": [{"id": 1, "name": "B"}]})
    text = draws.of(laid_out, compact)(events, head, foot)
    if draws.often(0.3):
        text = text[: 1 + int(len(text) * draws.of(0.3, 0.5, 0.8, 0.95, 0.99))]
    if draws.often(0.1):
        at = int(len(text) * draws.of(0.2, 0.5, 0.9))
        text = text[:at] + draws.of('"', "\\", "}", ",", "\x01", "]") + text[at:]
    path = save(folder, text, draws.of("a.json", "a.json", "rank3.json", "a.json.gz"))
    return _read(path, lambda: read_trace_file(path, chunk_bytes=draws.of(1, 7, 64, 256, 1 << 20)))


def _read(path: Path, read: Callable[[], Any]) -> Plain:
    try:
        trace = read()
    except TraceError as error:
        return _PYTHONS_WORDS.sub(r"(\1)", str(error).replace(str(path.parent), ""))
    source = plain(trace.source) | {"path": path.name}
    return of_tables(trace) | {"source": source}


def pickles() -> Iterator[tuple[str, bytes]]:
    """Every beginning of some pickles, and those with every byte a little more, or one of pickle's own marks."""
    shared = {"a": (1, -2, 300, 70_000, 2**40), "é" * 3: [None, True, 1.5]}
    for protocol, more in ((2, ()), (4, (b"xyz",))):
        data = pickle.dumps([shared, (), {}, ("u", "v"), shared, *more], protocol)
        for at in range(len(data)):
            yield f"{protocol} to {at}", data[:at]
            for by in (1, 3, 128):
                yield f"{protocol} at {at} {by}", data[:at] + bytes([(data[at] + by) % 256]) + data[at + 1 :]


def of_pickle(data: bytes) -> Plain:
    """What is in it, or why it is not read."""
    try:
        return repr(read_plain(data))
    except PickleError as error:
        return f"{error} at {error.at}"
    except PickledClassError as error:
        return f"wants {error}"


def snapshots() -> dict[str, Any]:
    """A memory snapshot with each of its parts missing, nothing, or odd."""
    frames = [{"name": "f", "filename": "/x/site-packages/torch/a.py", "line": 1}, {"name": "g", "filename": "m.py"}]
    history: list[Event] = [
        {"action": "segment_alloc", "addr": 1, "size": 2048, "time_us": 5},
        {"action": "alloc", "addr": 2, "size": 512, "time_us": 6, "frames": frames},
        {"action": "alloc", "addr": 3, "size": 512, "time_us": 6, "frames": frames[1:]},
        {"action": "free_requested", "addr": 2, "size": 512, "time_us": 7},
        {"action": "free_completed", "addr": 2, "size": 512, "time_us": 8},
        {"action": "segment_free", "addr": 1, "size": 1024, "time_us": 9},
        {"action": "oom", "addr": 0, "size": 99, "time_us": 9},
    ]
    segment = {"device": 0, "address": 1, "total_size": 1024, "allocated_size": 512}
    whole = {"segments": [segment, segment | {"device": 2}], "device_traces": [history, [], history[:2]]}
    return {"whole": whole, **dict(_otherwise(whole, ""))}


def _otherwise(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The same with one part gone, or something else in its place."""
    for key, part in list(value.items()) if isinstance(value, dict) else list(enumerate(value)):
        where = f"{path}/{key}"
        rest = (
            {k: v for k, v in value.items() if k != key} if isinstance(value, dict) else value[:key] + value[key + 1 :]
        )
        yield f"{where} gone", rest
        for odd in (None, 0, -1, 2**70, "x", [], {}, part * 2 if isinstance(part, int) else 1.5):
            yield f"{where} {odd!r}", _put(value, key, odd)
        if isinstance(part, dict | list):
            for way, inner in _otherwise(part, where):
                yield way, _put(value, key, inner)


def _put(value: Any, key: Any, part: Any) -> Any:
    changed = value.copy()
    changed[key] = part
    return changed


def of_snapshot(content: Any, folder: Path) -> Plain:
    """Its table and notes, or why it is none."""
    path = folder / "snapshot.pickle"
    path.write_bytes(pickle.dumps(content, 4))
    return _read(path, lambda: load_trace(path))


def told(kind: str, folder: Path) -> dict[str, str]:
    """Checksums of all outcomes of that kind, by file."""
    return {name: checksum(json.dumps(outcome)) for name, outcome in outcomes(kind, folder).items()}


def outcomes(kind: str, folder: Path) -> dict[str, Plain]:
    """What becomes of the files: `traces …` is one lot of trace files."""
    if kind == "pickles":
        return {name: of_pickle(data) for name, data in pickles()}
    if kind == "steps":
        return {str(number): step_marks.found(number) for number in range(step_marks.RUNS)}
    if kind == "snapshots":
        return {name: of_snapshot(content, folder) for name, content in snapshots().items()}
    first = int(kind.partition(" ")[2]) * AT_ONCE
    return {str(number): of_trace_file(number, folder) for number in range(first, first + AT_ONCE)}


KINDS = ("pickles", "snapshots", "steps", *(f"traces {lot}" for lot in range(TRACES // AT_ONCE)))


@functools.cache
def kept() -> dict[str, str]:
    """Of each kind the checksums one after the other, when the file was written."""
    content: dict[str, str] = json.loads(FILE.read_text())
    return content


def write(folder: Path) -> None:
    """The file anew."""
    FILE.write_text(json.dumps({kind: " ".join(told(kind, folder).values()) for kind in KINDS}, indent=0) + "\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        write(Path(made))
