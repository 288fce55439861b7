"""Builds small Traces for tests: times in µs from the beginning, links set as the reader sets them.

    trace = (
        TraceBuilder()
        .step(0, 100)
        .operator("aten::mm", 0, 20)
        .kernel("sgemm", 12, 50, launch_at_us=5)
        .sync(20, 45)
        .build()
    )

Every method returns the builder. Operators, spans and calls go to the thread last named with `.thread()` ("main", the
main thread, at first). A kernel, copy or memset without `launch_at_us` has no recorded launch.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Self

from gpuprof.capture.stacks.folding import StackTree
from gpuprof.ingest.linking import link
from gpuprof.ingest.vocabulary import call_kind, is_collective
from gpuprof.model.context import FollowedLines, RunContext, SampledStacks
from gpuprof.model.device import Device
from gpuprof.model.kinds import CallKind, CopyKind, DeviceEventKind, HostMemory, MemoryDevice
from gpuprof.model.marked_modules import MarkedModule, MarkedModules
from gpuprof.model.schema import TABLES
from gpuprof.model.table import Table
from gpuprof.model.trace import Source, Trace

SINGLE_PROCESS_NEXT = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
WORKERS_NEXT = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"


def _ns(us: float) -> int:
    return round(us * 1000)


# the profiled cell's own file, for stacks
CELL_FILE = "ipykernel_1/100.py"


class TraceBuilder:
    """A Trace under construction; see the module."""

    def __init__(self, *, start_ns: int = 0) -> None:
        self._start_ns = start_ns
        self._rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self._names: dict[str, int] = {}
        self._threads: dict[str, int] = {}
        self._thread = -1
        self._main: int | None = None
        self._correlation = 0
        self._devices: list[Device] = []
        self._context: dict[str, Any] = {}
        self._trace: dict[str, Any] = {}
        self._source: dict[str, Any] = {"path": "built.json"}
        self._modules: dict[MarkedModule, int] = {}
        self.stacks = StackTree(CELL_FILE)

    def thread(self, name: str = "main", *, main: bool = False) -> Self:
        """Go on with that thread. `main=True` makes it the main thread (otherwise the first one is)."""
        if name not in self._threads:
            row = self._threads[name] = len(self._threads)
            self._rows["threads"].append({"pid": 1, "tid": 100 + row, "name": self._name(name)})
        self._thread = self._threads[name]
        if main:
            self._main = self._thread
        return self

    def operator(
        self,
        name: str,
        at_us: float,
        for_us: float,
        *,
        dims: str | None = None,
        types: str | None = None,
        values: str | None = None,
        sequence: int = -1,
        forward_thread: int = -1,
    ) -> Self:
        """A framework call; `sequence` is autograd's number, `forward_thread` torch's number of a node's thread."""
        row = self._host_row(name, at_us, for_us)
        row["external_id"] = len(self._rows["operators"]) + 1
        row["sequence"] = sequence
        row["forward_thread"] = forward_thread
        row["input_dims"] = -1 if dims is None else self._name(dims)
        row["input_types"] = -1 if types is None else self._name(types)
        row["input_values"] = -1 if values is None else self._name(values)
        return self._add("operators", row)

    def span(self, name: str, at_us: float, for_us: float) -> Self:
        """A user range."""
        return self._add("user_ranges", self._host_row(name, at_us, for_us))

    def data_wait(self, at_us: float, for_us: float, *, workers: int = 0) -> Self:
        """The main thread inside the DataLoader's `__next__`."""
        return self.span(WORKERS_NEXT if workers else SINGLE_PROCESS_NEXT, at_us, for_us)

    def optimizer_step(self, name: str, at_us: float, for_us: float) -> Self:
        """torch's range around one optimizer step, for `name` such as `SGD`."""
        return self.span(f"Optimizer.step#{name}.step", at_us, for_us)

    def step(self, at_us: float, for_us: float, number: int | None = None) -> Self:
        """One step."""
        self._trace.setdefault("steps_from", "ProfilerStep")
        count = len(self._rows["steps"])
        row = {"start_ns": self._at(at_us), "duration_ns": _ns(for_us), "number": count if number is None else number}
        return self._add("steps", row)

    def call(
        self, name: str, at_us: float, for_us: float, *, kind: CallKind | None = None, correlation: int = -1
    ) -> Self:
        """A runtime call; its kind is read from its name unless given."""
        row = self._host_row(name, at_us, for_us)
        return self._add("calls", row | {"kind": call_kind(name) if kind is None else kind, "correlation": correlation})

    def sync(self, at_us: float, for_us: float, name: str = "cudaStreamSynchronize") -> Self:
        """A call that waits for the device."""
        return self.call(name, at_us, for_us)

    def kernel(
        self,
        name: str,
        at_us: float,
        for_us: float,
        *,
        launch_at_us: float | None = None,
        launch_for_us: float = 5,
        launch: str = "cudaLaunchKernel",
        correlation: int | None = None,
        device: int = 0,
        stream: int = 7,
        collective: bool | None = None,
        blocks: int = -1,
        block_threads: int = -1,
        occupancy_percent: float = float("nan"),
    ) -> Self:
        """A kernel on the device. A given `correlation` joins it to a launch that is already there (a graph)."""
        facts = {
            "kind": DeviceEventKind.KERNEL,
            "collective": is_collective(name) if collective is None else collective,
            "blocks": blocks,
            "block_threads": block_threads,
            "occupancy_percent": occupancy_percent,
        }
        correlation = self._launch(launch, launch_at_us, launch_for_us, correlation)
        return self._device_event(name, at_us, for_us, device, stream, correlation, facts)

    def exchange(self, name: str, at_us: float, for_us: float, **described: Any) -> Self:
        """What Kineto says of a collective; `described` as in schema.COLLECTIVES, texts for its names."""
        for column in ("group", "group_description", "group_ranks", "element_type"):
            if column in described:
                described[column] = self._name(described[column])
        row = {"start_ns": self._at(at_us), "duration_ns": _ns(for_us), "name": self._name(name)}
        return self._add("collectives", {"thread": -1, "correlation": -1, **row, **described})

    def collective(self, name: str, at_us: float, for_us: float, *, stream: int = 9, **described: Any) -> Self:
        """A kernel of NCCL that carries Kineto's description."""
        self._correlation += 1
        self.exchange(name, at_us, for_us, correlation=self._correlation, **described)
        return self.kernel(
            f"ncclDevKernel_{name}", at_us, for_us, correlation=self._correlation, stream=stream, collective=True
        )

    def copy(
        self,
        direction: CopyKind | str,
        at_us: float,
        for_us: float,
        *,
        bytes: int = 1 << 20,
        host_memory: HostMemory | str = HostMemory.NONE,
        launch_at_us: float | None = None,
        launch_for_us: float = 5,
        launch: str = "cudaMemcpyAsync",
        device: int = 0,
        stream: int = 7,
    ) -> Self:
        """A copy; `direction` as CopyKind or "h2d", `host_memory` as HostMemory or "pageable"."""
        direction = CopyKind[direction.upper()] if isinstance(direction, str) else direction
        host_memory = HostMemory[host_memory.upper()] if isinstance(host_memory, str) else host_memory
        facts = {"kind": DeviceEventKind.COPY, "copy": direction, "host_memory": host_memory, "bytes": bytes}
        correlation = self._launch(launch, launch_at_us, launch_for_us, None)
        name = f"Memcpy {direction.name.replace('2', 'to')} ({host_memory.name.title()})"
        return self._device_event(name, at_us, for_us, device, stream, correlation, facts)

    def memset(
        self,
        at_us: float,
        for_us: float,
        *,
        bytes: int = 1024,
        launch_at_us: float | None = None,
        launch_for_us: float = 5,
        device: int = 0,
        stream: int = 7,
    ) -> Self:
        """A memset."""
        correlation = self._launch("cudaMemsetAsync", launch_at_us, launch_for_us, None)
        facts = {"kind": DeviceEventKind.MEMSET, "bytes": bytes}
        return self._device_event("Memset (Device)", at_us, for_us, device, stream, correlation, facts)

    def memory(
        self,
        at_us: float,
        bytes: int,
        *,
        device: int | None = 0,
        allocated: int = -1,
        reserved: int = -1,
        address: int = -1,
    ) -> Self:
        """An allocation (positive) or release (negative); `device=None` is the host's."""
        kind, number = (MemoryDevice.CPU, -1) if device is None else (MemoryDevice.CUDA, device)
        row = {"time_ns": self._at(at_us), "thread": self._current(), "bytes": bytes, "device_type": kind}
        row |= {"device": number, "address": address, "allocated_bytes": allocated, "reserved_bytes": reserved}
        return self._add("memory", row)

    def frame(self, name: str, at_us: float, for_us: float) -> Self:
        """A Python call."""
        return self._add("frames", self._host_row(name, at_us, for_us))

    def sample(self, at_us: float, *, device: int = 0, **columns: float) -> Self:
        """An NVML reading; `columns` as in schema.DEVICE_READINGS."""
        now = self._at(at_us)
        return self._add("device_readings", {"time_ns": now, "monotonic_ns": now, "device": device, **columns})

    def host_sample(self, at_us: float, **columns: float) -> Self:
        """A reading of the process; `columns` as in schema.HOST_READINGS."""
        return self._add("host_readings", {"time_ns": self._at(at_us), **columns})

    def line(
        self, line: int, at_us: float, *, source_file: int = 0, cell_line: int | None = None, begins: bool = True
    ) -> Self:
        """From there on the current thread is in that line; -1: in none that is followed."""
        tid = self._rows["threads"][self._current()]["tid"]
        place = {"source_file": source_file if line > 0 else -1, "line": line, "begins": begins}
        cell = line if cell_line is None else cell_line
        return self._add("line_events", {"time_ns": self._at(at_us), "tid": tid, "cell_line": cell, **place})

    def stack(self, at_us: float, for_us: float, *frames: tuple[str, str, int]) -> Self:
        """The cell's thread is seen with these frames, outermost first: file, function, line."""
        node = self.stacks.node(frames)
        return self._add("stack_samples", {"start_ns": self._at(at_us), "duration_ns": _ns(for_us), "node": node})

    def look(self, at_us: float, *frames: tuple[str, str, int]) -> Self:
        """One exact look at it."""
        return self._add("stack_instants", {"time_ns": self._at(at_us), "node": self.stacks.node(frames)})

    def module(self, path: str, at_us: float, for_us: float, *, kind: str = "", shared: tuple[str, ...] = ()) -> Self:
        """A call of the module at that path (and at those, where it is `shared`); "" and a `kind`: one that is gone."""
        described = MarkedModule(kind=kind or path.rpartition(".")[2], paths=(path, *shared) if path else ())
        row = self._modules.setdefault(described, len(self._modules))
        tid = self._rows["threads"][self._current()]["tid"]
        place = {"start_ns": self._at(at_us), "duration_ns": _ns(for_us), "tid": tid, "module": row}
        return self._add("module_calls", place)

    def iteration(self, at_us: float, for_us: float, *, optimizer_us: float | None = None, plain: bool = False) -> Self:
        """One iteration of the whole cell, as light hooks see it."""
        spent = -1 if optimizer_us is None else _ns(optimizer_us)
        place = {"start_ns": self._at(at_us), "duration_ns": _ns(for_us)}
        return self._add("iterations", {**place, "optimizer_ns": spent, "plain": plain})

    def device(self, id: int = 0, name: str = "Test GPU", **facts: Any) -> Self:
        """What is known of a device; `facts` as in model.device.Device."""
        self._devices.append(Device(id=id, name=name, **facts))
        return self

    def context(self, **fields: Any) -> Self:
        """Fields of the RunContext."""
        self._context |= fields
        return self

    def source(self, **fields: Any) -> Self:
        """Fields of the Source."""
        self._source |= fields
        return self

    def trace(self, **fields: Any) -> Self:
        """Fields of the Trace that are to differ from what the events say (`steps_from`, `device_recorded`, …)."""
        self._trace |= fields
        return self

    def build(self) -> Trace:
        """The Trace, linked."""
        tables = {name: self._table(name) for name in TABLES}
        if len(self.stacks.table()):
            self._add_stacks(tables)
        linked = link(tables)
        if self._modules:
            marked = MarkedModules(
                start_ns=self._start_ns, end_ns=self._start_ns + _ns(1e6), modules=tuple(self._modules)
            )
            self._context.setdefault("modules", marked)
        timed = [row for name in ("operators", "calls", "device_events") for row in self._rows[name]]
        if self._rows["line_events"]:
            self._context.setdefault("lines", FollowedLines(how="monitoring", start_ns=0, end_ns=1 << 62))
        fields: dict[str, Any] = {
            "span_start_ns": min((row["start_ns"] for row in timed), default=self._start_ns),
            "span_end_ns": max((row["start_ns"] + row["duration_ns"] for row in timed), default=self._start_ns),
            "main_thread": (0 if self._threads else -1) if self._main is None else self._main,
            "device_recorded": self._device_recorded(),
            "devices": tuple(self._devices),
            "context": RunContext(**self._context),
        }
        return Trace(source=Source(**self._source), names=tuple(self._names), tables=linked, **(fields | self._trace))

    def _add_stacks(self, tables: dict[str, Table]) -> None:
        tables["stack_nodes"] = self.stacks.table()
        stacks = SampledStacks(
            how="py-spy",
            start_ns=0,
            end_ns=1 << 62,
            rate_hz=100.0,
            files=tuple(self.stacks.files),
            functions=tuple(self.stacks.functions),
        )
        self._context.setdefault("stacks", stacks)

    def _device_recorded(self) -> bool | None:
        if self._rows["device_events"]:
            return True
        return False if any(row["kind"].is_launch for row in self._rows["calls"]) else None

    def _table(self, name: str) -> Table:
        rows = sorted(
            self._rows[name], key=lambda row: (row.get("start_ns", row.get("time_ns", 0)), -row.get("duration_ns", 0))
        )
        if name == "threads":
            rows = self._rows[name]
        missing = {column.name: column.missing for column in TABLES[name].columns}
        used = [column for column in missing if any(column in row for row in rows)]
        return Table(TABLES[name], {column: [row.get(column, missing[column]) for row in rows] for column in used})

    def _add(self, table: str, row: dict[str, Any]) -> Self:
        self._rows[table].append(row)
        return self

    def _at(self, us: float) -> int:
        return self._start_ns + _ns(us)

    def _name(self, name: str) -> int:
        return self._names.setdefault(name, len(self._names))

    def _current(self) -> int:
        if self._thread < 0:
            self.thread("main")
        return self._thread

    def _host_row(self, name: str, at_us: float, for_us: float) -> dict[str, Any]:
        place = {"thread": self._current(), "name": self._name(name)}
        return {"start_ns": self._at(at_us), "duration_ns": _ns(for_us), **place}

    def _launch(self, name: str, at_us: float | None, for_us: float, correlation: int | None) -> int:
        if correlation is not None:
            return correlation
        if at_us is None:
            return -1
        self._correlation += 1
        self.call(name, at_us, for_us, correlation=self._correlation)
        return self._correlation

    def _device_event(
        self, name: str, at_us: float, for_us: float, device: int, stream: int, correlation: int, facts: dict[str, Any]
    ) -> Self:
        row = {"start_ns": self._at(at_us), "duration_ns": _ns(for_us), "name": self._name(name)}
        none = {"copy": CopyKind.NONE, "host_memory": HostMemory.NONE, "collective": False}
        place = {"device": device, "stream": stream, "correlation": correlation}
        return self._add("device_events", none | row | place | facts)
