"""Whole cells put together at random: `mixed_cell(number)` fills every table of a Trace, also those of stacks, modules,
iterations and exchanges.

What is added to the passages of `mixed_runs.py` begins and ends at the very instants at which operators do, before the
first and behind the last of them. Some rows then lose what joins them to others: -1, the first row, no duration.
"""

from __future__ import annotations

import functools
from dataclasses import replace

import msgspec
import numpy as np

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import (
    Cell,
    CellOutcome,
    Compiling,
    Cost,
    FollowedLines,
    GraphBreak,
    MarkedModules,
    RunContext,
    SourceFile,
    Window,
)
from gpuprof.model.memory import Composition, HeldTensors, ModuleBytes  # fmt: skip
from gpuprof.model.readings import DeviceFacts
from gpuprof.model.schema import SYNCS, TABLES
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import EndMark, Trace, empty_tables
from tests.support.mixed_cell_parts import ADDED, OTHER_CELL, add_exchange, add_stacks
from tests.support.mixed_cell_passages import MORE_PASSAGES, growing
from tests.support.mixed_passages import PASSAGES, Host
from tests.support.mixed_runs import CELL, GIB, MIB, Chance, add_readings, mixed_context, mixed_facts
from tests.support.trace_builder import CELL_FILE, TraceBuilder

CELLS = 32
SOURCE = (
    CELL
    + """\
def evaluate(model):
    with torch.no_grad():
        for batch in loader:
            model(batch)
evaluate(model)
"""
)
SOURCES = (
    """\
losses, total = [], 0
for x in data:
    with torch.no_grad():
        total += F.mse_loss(x, x)
    loss = model(x)
    kept[3] = loss
    losses += [loss]
    total = total + loss
    kept.append((x, loss))
    total += criterion(x)
    scaler.scale(loss).backward()
""",
    """\
x = torch.zeros(8, dtype=torch.float64).double()
y = torch.zeros((), dtype=torch.float64) + torch.tensor(0.0, dtype=torch.float64)
z = torch.from_numpy(a) + torch.from_numpy(a).float()
torch.set_default_dtype(torch.float64)
[layer(x) for layer in layers]
while x.any():
    with torch.no_grad():
        x = x - 1
    y = f(
        x)
""",
    "def broken(:\n",
)
HELPERS = "def helper(x):\n    for each in x:\n        y = torch.cat([y, each])\n        z = y * 2\n    return z\n"


def cell_results(number: int) -> Results:
    """The run of that number; every fourth is the second rank of three that exchange the same."""
    trace = mixed_cell(number)
    if number % 4 != 3:
        return Results(trace)
    ranks = [replace(mixed_cell(number, other=rank), source=replace(trace.source, rank=rank)) for rank in range(3)]
    return Results(ranks[1], (ranks[0], ranks[2]))


def mixed_cell(number: int, *, other: int = 0) -> Trace:
    """The cell of that number; `other` ranks pass through the same passages in other times."""
    chance = Chance(7000 + number)
    builder = TraceBuilder()
    if chance.often(0.3):
        builder.thread("engine").thread("main", main=True)
    host = Host(builder, chance, device=chance.of(0, 0, 1))
    host.now = chance.of(0, 0, 300_000)
    facts = mixed_facts(chance)
    builder.device(host.device, "NVIDIA A100-SXM4-40GB", **facts | {chance.of(*facts): None})
    chosen = [chance.of(*PASSAGES, *MORE_PASSAGES, *MORE_PASSAGES) for _ in range(chance.of(2, 4, 6))]
    grows = number % 3 == 1
    count, marked = 40 if grows else chance.of(1, 3, 5, 11), chance.often(0.6)
    if other:
        host.chance = Chance(1000 * other + number)
    begins = [host.now]
    for turn in range(count):
        if chance.often(0.2 if grows else 0.6):
            host.wait_for_batch(30 if grows else chance.of(100, 1000, 9000), workers=number % 3)
        add_exchange(builder, host, number)
        for passage in chosen[: number % 2] if grows else chosen:
            passage(host)
        if grows:
            growing(host, turn)
        if marked:
            builder.step(begins[-1], host.now - begins[-1])
        host.now += chance.of(0, 1, 20)
        begins.append(host.now)
    if chance.often(0.6):
        host.synchronize()
    builder.context(**mixed_context(chance, host, count))
    add_readings(builder, chance, host)
    passed = builder.build()
    moments = _moments(passed)
    if chance.often(0.9):
        add_stacks(builder, host, passed, moments)
    for add in ADDED:
        if chance.often(0.85):
            add(builder, host, moments)
    _tell(builder, chance, host, begins)
    builder.source(
        world_size=chance.of(None, 3), process_groups=chance.of(None, 1, 2), stacks=chance.often(0.5),
        truncated=number % 8 == 5, kernels_saved=number % 16 != 9, end_mark=chance.of(None, None, *EndMark),
        notes=chance.of((), (), ("The file ends in the middle of an event; 3 events are lost.", "Sorted.")),
    )  # fmt: skip
    trace = builder.build()
    if number % 8 == 6:  # on the CPU alone
        none = empty_tables()
        tables = {**trace.tables, **{each: none[each] for each in ("device_events", "calls", "syncs")}}
        trace = replace(trace, tables=tables, device_recorded=None, devices=())
    random = np.random.RandomState(number + 100 * other)
    shapes = np.unique(trace.operators["input_dims"])[1:]
    first = random.choice(shapes if len(shapes) and number % 2 else np.arange(len(trace.names)))
    return _loosened(_renamed(trace, int(first)), random)


def _moments(trace: Trace) -> list[float]:
    """In µs: when operators, calls and device events begin and end, and far from all of them."""
    found = {0, trace.span_start_ns - 50_000, trace.span_end_ns + 50_000}
    for table in (trace.operators, trace.calls, trace.device_events):
        for each in (table["start_ns"], table["start_ns"] + table["duration_ns"]):
            found.update(each.tolist())
    return [each / 1000 for at, each in enumerate(sorted(found)) if at % 3 or at < 12]


def _tell(builder: TraceBuilder, chance: Chance, host: Host, begins: list[float]) -> None:
    """What the session knows: the cell, how lines were followed, marks, costs, the window."""
    end = host.ns(host.now)
    files = (SourceFile(filename=CELL_FILE), SourceFile(filename=OTHER_CELL, source=HELPERS, execution_count=2))
    builder.context(
        cell=Cell(
            source=SOURCE + chance.of("", *SOURCES), execution_count=chance.of(None, 3),
            filename=chance.of(None, CELL_FILE),
        ),
        lines=FollowedLines(
            how=chance.of("monitoring", "samples", "samples", "calls"), start_ns=chance.of(0, host.ns(begins[0]), end),
            end_ns=chance.of(end, 2 * end, end // 2), files=files[: chance.of(1, 2, 2)],
        ),
        window=Window(
            cell_start_ns=chance.of(0, host.ns(begins[0])), cell_end_ns=end + chance.of(0, 10**8), start_ns=0,
            end_ns=chance.of(0, end, end, end // 2), steps_seen=40, first_step=chance.of(0, 1, 3),
            steps_recorded=chance.of(0, 5, 20), ended_by=chance.of("cell", "steps", "error"),
            started_late=chance.often(0.5), plain_step_ns=chance.of(None, 90_000.0), recorded_step_ns=100_000.0,
        ),
        cost=Cost(stop_ns=5000, pause_ns=chance.of(None, 0, 3000), operator_ns=chance.of(None, 200.0)),
        compositions=tuple(
            Composition(
                device=device, parameter_bytes=10 * MIB, gradient_bytes=chance.of(0, 20, 60) * MIB, buffer_bytes=MIB,
                modules=(ModuleBytes(name="Net.head", parameter_bytes=9 * MIB, state_bytes=MIB),), after_steps=2,
            )
            for device in ("cpu", f"cuda:{host.device}")
        )[chance.of(0, 1) :],
        outcome=CellOutcome(error=chance.of(None, "OutOfMemoryError")),
        compiling=Compiling(graphs=chance.of(0, 3), breaks=(GraphBreak(reason="print", times=2),)[: chance.of(0, 1)]),
        options={"shapes": chance.often(0.5), "memory": False, "stacks": chance.often(0.5), "skip": chance.of(0, 2)},
        host_start={"available_bytes": chance.of(None, GIB)},
        sampling={
            "clock_offset_ns": chance.of(None, 0, 0, 1000),
            "static": [
                msgspec.to_builtins(DeviceFacts(torch_index=chance.of(None, at), power_source="driver"))
                for at in range(chance.of(1, 2))
            ],
        },
        notes=chance.of((), ("pytorch starts a profiler of its own",)),
        held=tuple(
            HeldTensors(name=name, kind="global", device="cuda:0", bytes=64 * MIB, tensors=40, graphs=graphs)
            for name, graphs in (("kept", chance.of(0, 4, 40)), ("losses", 40))
        ),
    )  # fmt: skip


def _renamed(trace: Trace, first: int) -> Trace:
    """With that name as the first of all: each may be."""
    place = np.append(np.arange(len(trace.names)), -1)  # -1, the last, stays
    place[[0, first]] = place[[first, 0]]
    names = list(trace.names)
    names[0], names[first] = names[first], names[0]
    tables = {}
    for name, table in trace.tables.items():
        columns = [each.name for each in table.schema.columns if each.unit == "index of names"]
        tables[name] = table.replace(**{each: place[table[each]] for each in columns})
    return replace(trace, names=tuple(names), tables=tables)


def _loosened(trace: Trace, random: np.random.RandomState) -> Trace:
    """Some rows without what joins them to others, some of no length; the marks of modules with a gap."""

    def few(rows: int, share: float = 0.05) -> Array:
        return random.random_sample(rows) < share

    tables = dict(trace.tables)
    for name, joins in (
        ("operators", ("input_dims", "external_id")), ("calls", ("operator", "correlation")),
        ("device_events", ("call", "operator", "step", "blocks")), ("stack_instants", ("node",)),
        ("module_calls", ("module",)), ("collectives", ("correlation", "group")),
    ):  # fmt: skip
        table = tables[name]
        known = {each.name for each in table.schema.columns}
        columns = {each: np.where(few(len(table)), -1, table[each]) for each in joins if each in known}
        if "duration_ns" in known:
            columns["duration_ns"] = np.where(few(len(table), 0.03), 0, table["duration_ns"])
        tables[name] = table.replace(**columns)
    calls = tables["calls"]
    waits = np.flatnonzero(trace.name_mask(calls, "cudaStreamSync", "cudaDeviceSync", "cudaEventSync"))
    columns = {each: calls[each][waits] for each in ("start_ns", "duration_ns", "name")}
    joined = np.where(few(len(waits), 0.3), -1, waits)
    tables["syncs"] = Table(SYNCS, columns | {"stream": np.where(few(len(waits), 0.5), -1, 7), "call": joined})
    context = trace.context
    if context.modules and few(1, 0.6)[0]:
        middle = trace.span_start_ns + trace.span_ns // 2
        modules = context.modules
        marked = MarkedModules(
            start_ns=trace.span_start_ns, end_ns=trace.span_end_ns, modules=modules.modules,
            gaps_ns=((middle, middle + trace.span_ns // 10),), cost_share=0.01,
        )  # fmt: skip
        context = msgspec.structs.replace(context, modules=marked)
    return replace(trace, tables=tables, context=context)


BARE = (
    *(f"{kept} {name}" for name in TABLES for kept in ("only", "without")),
    *("first 1", "first 2", "first 3", "no main thread", "no context", "no span"),
)
"""Runs that lack most: all tables but one, that one alone, all rows but the first."""


def bare_run(name: str) -> Trace:
    """That one, of three cells that have all tables between them."""
    kept, _, of = name.partition(" ")
    trace = _whole(_WHOLE[BARE.index(name) // 2 % 3])
    if kept == "no":
        context = replace(trace, context=RunContext())
        spanless = replace(trace, span_end_ns=trace.span_start_ns)
        return {"main thread": replace(trace, main_thread=-1), "context": context, "span": spanless}[of]
    if kept == "first":
        tables = {each: table.take(slice(0, int(of))) for each, table in trace.tables.items()}
    elif kept == "only":
        tables = {**empty_tables(), **{each: trace.tables[each] for each in (of, "threads", "stack_nodes")}}
    else:
        tables = {**trace.tables, of: empty_tables()[of]}
    return _joined(replace(trace, tables=tables))


_WHOLE = (2, 13, 20)
_whole = functools.cache(mixed_cell)
_ROWS_OF = {"operator": "operators", "call": "calls", "step": "steps", "thread": "threads", "node": "stack_nodes"}


def _joined(trace: Trace) -> Trace:
    """With -1 in place of rows that are not there."""
    tables = {}
    for name, table in trace.tables.items():
        columns = {}
        for column in table.schema.columns:
            target = name if column.name == "parent" else _ROWS_OF.get(column.name)
            if target is not None:
                rows = table[column.name]
                columns[column.name] = np.where(rows < len(trace.tables[target]), rows, -1)
        tables[name] = table.replace(**columns)
    return replace(trace, tables=tables)
