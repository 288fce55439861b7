"""What a launch costs, how deep the launch queue is, what lies between kernels, graphs, allocations: against the
constants that the what-if graph takes where a run does not show them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from benchmarks.gpu_check import cells, clocks, recorded
from benchmarks.gpu_check.check import Check
from gpuprof.model.kinds import DeviceEventKind
from gpuprof.model.trace import Trace
from gpuprof.whatif.changes import restructure
from gpuprof.whatif.graph import launching, streams

_KERNELS = """\
for i in range(rounds):
    x.add_(1)
    if i % 100 == 99:
        wait()
for i in range(rounds):
    x.add_(1)
    wait()
graph()
wait()
graph()
wait()
"""


def run(check: Check) -> None:
    check.note(
        used={
            "launch_lag_ns": streams.USUAL_LAUNCH_LAG_NS,
            "stream_gap_ns": streams.USUAL_STREAM_GAP_NS,
            "longest_stream_gap_ns": streams.LONGEST_STREAM_GAP_NS,
            "queue_length": launching.QUEUE_LENGTH,
            "graph_kernel_gap_ns": restructure.GRAPH_KERNEL_GAP_NS,
            "graph_launch_ns": restructure.GRAPH_LAUNCH_NS,
        }
    )
    x = torch.zeros(1024, device=check.device)
    check.note(launch_call_ns=_launch_call(check, x), tiny_kernel_ns=_tiny_kernel(check, x))
    graph = _graph(check, x)
    check.note(graph_replay_of_100_ns=clocks.repeated(lambda: clocks.device_ns(graph, check.device), 20))
    check.note(graph_call_ns=clocks.repeated(lambda: clocks.host_ns(graph, check.device, wait=False), 20))
    _recorded(check, x, graph)
    if check.on_device:
        _queue(check, x)
        _allocations(check)
    else:
        check.expect("the launch queue is filled", None)


def _launch_call(check: Check, x: torch.Tensor) -> dict[str, float]:
    """Host time of one launch of many, the operator's own included, the queue never full."""
    rounds = 200

    def many() -> None:
        for _ in range(rounds):
            x.add_(1)

    return clocks.repeated(lambda: clocks.host_ns(many, check.device, wait=False) / rounds, 20)


def _tiny_kernel(check: Check, x: torch.Tensor) -> dict[str, float]:
    return clocks.repeated(lambda: clocks.device_ns(lambda: x.add_(1), check.device), 20)


def _graph(check: Check, x: torch.Tensor) -> Callable[[], Any]:
    """Plays a graph of 100 kernels; the 100 calls themselves without a device."""

    def calls() -> None:
        for _ in range(100):
            x.add_(1)

    if not check.on_device:
        return calls
    side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        calls()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        calls()
    return graph.replay


def _recorded(check: Check, x: torch.Tensor, graph: Callable[[], Any]) -> None:
    """The same by the profiler's clock: lags of launches on an idle stream, gaps between queued kernels."""
    namespace: dict[str, Any] = {"x": x, "rounds": 200 if check.small else 1000, "graph": graph}
    namespace["wait"] = torch.cuda.synchronize if check.on_device else (lambda: None)
    profiled = cells.play(_KERNELS, namespace, no_nvml=True).run
    recorded.keep(check, profiled, "launches")
    check.note(recorded=recorded.describe(profiled), gaps_ns=_gaps(profiled.trace))
    check.only_on_device("kernels of the recording are there", profiled.trace.device_recorded is True)


def _gaps(trace: Trace) -> dict[str, Any]:
    """Between one kernel's end and the next one's begin, in a stream: inside a graph, and queued one by one.

    `idle_lag`: launch → kernel begin where the stream had nothing left to do.
    """
    events = trace.device_events
    kernels = events.take(events["kind"] == DeviceEventKind.KERNEL)
    if len(kernels) < 2:
        return {}
    linked = kernels["call"] >= 0
    never = np.iinfo(np.int64).max // 2
    launched = np.where(linked, trace.calls["start_ns"][kernels["call"]], never) if len(trace.calls) else linked + never
    lag = (kernels["start_ns"] - launched)[1:]
    ended = (kernels["start_ns"] + kernels["duration_ns"])[:-1]
    idle = linked[1:] & (ended <= launched[1:]) & (lag > 0)
    gap = kernels["start_ns"][1:] - ended
    _, inverse, times = np.unique(kernels["correlation"], return_inverse=True, return_counts=True)
    in_graph = times[inverse.reshape(-1)] > 10
    same = kernels["correlation"][1:] == kernels["correlation"][:-1]
    waited = linked[1:] & (launched[1:] + streams.USUAL_LAUNCH_LAG_NS <= ended)
    queued = waited & ~in_graph[1:] & ~in_graph[:-1] & (gap >= 0) & (gap < streams.LONGEST_STREAM_GAP_NS)
    return {
        "graph": clocks.spread(gap[in_graph[1:] & same].tolist()),
        "queued": clocks.spread(gap[queued].tolist()),
        "idle_lag": clocks.spread(lag[idle].tolist()),
        "kernel_ns": clocks.spread(kernels["duration_ns"].tolist()),
    }


def _queue(check: Check, x: torch.Tensor) -> None:
    """How many launches go behind a long kernel before the host is held up."""
    spent = []
    torch.cuda.synchronize()
    torch.cuda._sleep(4_000_000_000)  # type: ignore[no-untyped-call]  # about two seconds at 2 GHz
    for _ in range(3000):
        began = time.perf_counter_ns()
        x.add_(1)
        spent.append(time.perf_counter_ns() - began)
        if spent[-1] > 100_000_000:
            break
    torch.cuda.synchronize()
    longest = int(np.argmax(spent))
    check.note(queue={"launches_before_the_longest": longest, "longest_ns": spent[longest], "launches": len(spent)})
    check.expect("the launch queue is filled", spent[longest] > 100_000_000)


def _allocations(check: Check) -> None:
    """cudaMalloc and cudaFree, as the caching allocator calls them when its cache is empty."""
    found = {}
    for power in (21, 24, 27, 30):
        taken, freed = [], []
        for _ in range(5):
            torch.cuda.empty_cache()
            block = _Block(1 << power)
            taken.append(clocks.host_ns(block.take, "cuda"))
            block.drop()
            freed.append(clocks.host_ns(torch.cuda.empty_cache, "cuda"))
        found[str(1 << power)] = {"allocate_ns": clocks.spread(taken), "free_ns": clocks.spread(freed)}
    check.note(allocations=found)


class _Block:
    """Memory of the device that is taken and dropped at the times that are wanted."""

    def __init__(self, size: int):
        self._size = size
        self._held: torch.Tensor | None = None

    def take(self) -> None:
        self._held = torch.empty(self._size, dtype=torch.uint8, device="cuda")

    def drop(self) -> None:
        self._held = None
