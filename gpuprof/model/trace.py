"""A Trace: everything recorded of one run on one rank, as columns. Immutable; pure functions read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

import numpy as np

from gpuprof.model import schema
from gpuprof.model.context import RunContext
from gpuprof.model.device import Device
from gpuprof.model.table import Array, Table


class EndMark(StrEnum):
    """How the end of a Kineto file is marked, by the last of the marks that the profiler writes behind the events."""

    WINDOW = "window"  # "Record Window End": everything was written
    PROFILER = "profiler"  # only the profiler's own range, which some versions write before the device work
    CONVERTED = "converted"  # none, in a file that somebody sorted and filtered: calls first, then device work
    MISSING = "missing"


@dataclass(frozen=True)
class Source:
    """Where a Trace comes from and how far it can be trusted.

    `kind` is `kineto` (a trace file) or `recording` (made by gpuprof). `platform` is `cuda`, `rocm` or None.
    `truncated`: the file ended in the middle and was read up to its last whole event. `repaired`: invalid JSON was
    mended while reading. `kernels_saved`: a trace by the profiler was there to read; False for a Recording without
    one. `end_mark`: None for what is no Kineto file. `unread`: an accelerator whose work is in the file and not
    read, such as `mtia`; None where there is none. `world_size`: how many ranks the job has, `process_groups`: of how
    many groups this rank is one; None where the file does not say. `notes` are plain sentences for the trust line.
    """

    path: str
    kind: str = "kineto"
    rank: int | None = None
    world_size: int | None = None
    process_groups: int | None = None
    torch: str | None = None
    platform: str | None = None
    truncated: bool = False
    repaired: bool = False
    kernels_saved: bool = True
    stacks: bool = False
    shapes: bool = False
    end_mark: EndMark | None = None
    unread: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Trace:
    """The recorded run. Tables are described in `gpuprof.model.schema`; each is present, empty if nothing was recorded.

    `span_start_ns`/`span_end_ns`: the first begin and the last end of any operator, call or device event; for a
    Recording the recorded part of the cell, where that is wider.
    `main_thread` is the row of `threads` that drives the run (-1 if no host thread was recorded).
    `steps_from` says what the steps were found from: `ProfilerStep`, `DataLoader`, `Optimizer` or None.
    `device_recorded` is None where no device was asked for or there, False where launches exist without any device
    event (no CUPTI permission, WSL), True otherwise.
    """

    source: Source
    names: tuple[str, ...]
    tables: Mapping[str, Table]
    span_start_ns: int
    span_end_ns: int
    main_thread: int = -1
    steps_from: str | None = None
    device_recorded: bool | None = None
    devices: tuple[Device, ...] = ()
    context: RunContext = field(default_factory=RunContext)

    @property
    def operators(self) -> Table:
        """Framework calls on the host."""
        return self.tables["operators"]

    @property
    def user_ranges(self) -> Table:
        """User ranges on the host."""
        return self.tables["user_ranges"]

    @property
    def calls(self) -> Table:
        """Runtime and driver calls."""
        return self.tables["calls"]

    @property
    def device_events(self) -> Table:
        """Kernels, copies and memsets."""
        return self.tables["device_events"]

    @property
    def collectives(self) -> Table:
        """What the profiler says of exchanges between ranks."""
        return self.tables["collectives"]

    @property
    def syncs(self) -> Table:
        """Synchronisations as CUPTI reports them."""
        return self.tables["syncs"]

    @property
    def memory(self) -> Table:
        """Allocator rows."""
        return self.tables["memory"]

    @property
    def frames(self) -> Table:
        """Python calls."""
        return self.tables["frames"]

    @property
    def steps(self) -> Table:
        """Iterations."""
        return self.tables["steps"]

    @property
    def threads(self) -> Table:
        """Host threads."""
        return self.tables["threads"]

    @property
    def device_readings(self) -> Table:
        """NVML readings."""
        return self.tables["device_readings"]

    @property
    def host_readings(self) -> Table:
        """Readings of this process."""
        return self.tables["host_readings"]

    @property
    def line_events(self) -> Table:
        """Which line ran when."""
        return self.tables["line_events"]

    @property
    def iterations(self) -> Table:
        """Every iteration of the whole cell, recorded or not, by light hooks."""
        return self.tables["iterations"]

    @property
    def stack_nodes(self) -> Table:
        """The tree of the sampled stacks."""
        return self.tables["stack_nodes"]

    @property
    def stack_samples(self) -> Table:
        """Which stack the cell's thread had when, over the whole cell."""
        return self.tables["stack_samples"]

    @property
    def stack_instants(self) -> Table:
        """Looks at the stack in the recorded part, exact in time."""
        return self.tables["stack_instants"]

    @property
    def module_calls(self) -> Table:
        """Which module of a model ran when."""
        return self.tables["module_calls"]

    @property
    def looked_operators(self) -> Table:
        """The operators of the close look."""
        return self.tables["looked_operators"]

    @property
    def looked_values(self) -> Table:
        """The values, contents of storages, of the close look."""
        return self.tables["looked_values"]

    @property
    def looked_reads(self) -> Table:
        """Which operator of the close look was given which value."""
        return self.tables["looked_reads"]

    @property
    def looked_results(self) -> Table:
        """Which operator of the close look returned which value."""
        return self.tables["looked_results"]

    @property
    def span_ns(self) -> int:
        """Length of the trace in ns."""
        return self.span_end_ns - self.span_start_ns

    @cached_property
    def device_ids(self) -> tuple[int, ...]:
        """Ids of the devices on which something was recorded, ascending."""
        return tuple(int(i) for i in np.unique(self.device_events["device"]))

    @cached_property
    def _names_as_array(self) -> Array:
        return np.array(self.names, dtype=object)

    def device(self, device_id: int) -> Device:
        """The device of that id; one of unknown properties where the trace describes none."""
        for device in self.devices:
            if device.id == device_id:
                return device
        return Device(id=device_id)

    def name_mask(self, table: Table, *prefixes: str) -> Array:
        """Boolean mask of shape `(len(table),)`: rows whose name starts with one of `prefixes`."""
        hit = np.fromiter((name.startswith(prefixes) for name in self.names), bool, len(self.names))
        return hit[table["name"]] if len(self.names) else np.zeros(len(table), bool)

    def names_of(self, table: Table) -> Array:
        """The names of a table's rows as an object array of str, shape `(len(table),)`."""
        return self._names_as_array[table["name"]] if len(table) else np.empty(0, dtype=object)


def empty_tables() -> dict[str, Table]:
    """Every table of the schema without rows."""
    return {name: Table(table_schema) for name, table_schema in schema.TABLES.items()}
