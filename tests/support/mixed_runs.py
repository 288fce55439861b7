"""Runs put together at random from short passages of code: `mixed_run(number)` is always the same Trace.

Times and sizes come from a few values, many of them limits in the code, so that things begin and end at the same
instant, and are just below, at, and just above a limit. The passages are in `mixed_passages.py` and
`mixed_training.py`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import (
    Cell,
    Environment,
    FollowedLines,
    Garbage,
    Loader,
    Optimizer,
    RunContext,
    SourceFile,
    Window,
)
from gpuprof.model.loading import Loading, TransformTime
from gpuprof.model.memory import Allocator, Composition, HeldTensors, StepMemory  # fmt: skip
from gpuprof.model.readings import DeviceFacts
from gpuprof.model.schema import SYNCS
from gpuprof.model.table import Table
from gpuprof.model.trace import Trace
from tests.support import mixed_training
from tests.support.mixed_passages import PASSAGES, Host
from tests.support.trace_builder import TraceBuilder

MIB, GIB = 1 << 20, 1 << 30
MIXED = 28
CELL = """\
for batch in loader:
    x = batch.to("cuda")
    y = model(x)
    loss = criterion(y, x).item()
    kept = torch.cat([kept, y])
    for i in range(16):
        out[i] = y[i] * 2
    loss.backward()
    optimizer.step()
"""


assert mixed_training, "its passages are among PASSAGES"


class Chance:
    """Draws that are the same with every Python."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def of(self, *values: Any) -> Any:
        """One of them."""
        return values[int(self._random.random() * len(values))]

    def often(self, share: float) -> bool:
        """True in that share of all draws."""
        return self._random.random() < share


def mixed_results(number: int) -> Results:
    """The run of that number; every fifth is one rank of three, whose others are other runs."""
    trace = mixed_run(number)
    if number % 5 != 4:
        return Results(trace)
    own = replace(trace, source=replace(trace.source, rank=0))
    others = (mixed_run(number, other=each) for each in (1, 2))
    return Results(own, tuple(replace(each, source=replace(each.source, rank=at)) for at, each in enumerate(others, 1)))


def mixed_run(number: int, *, other: int = 0) -> Trace:
    """The run of that number; `other` ranks pass through the same passages in other times."""
    chance = Chance(number)
    builder = TraceBuilder()
    host = Host(builder, chance, device=chance.of(0, 0, 0, 3))
    if chance.often(0.8):
        builder.device(
            host.device, chance.of("NVIDIA A100-SXM4-40GB", "NVIDIA H100 80GB HBM3", "Tesla T4"), **mixed_facts(chance)
        )
    chosen = [chance.of(*PASSAGES) for _ in range(chance.of(4, 6, 8))]
    for _ in range(chance.of(0, 1, 2)):
        chance.of(*PASSAGES)(host)
    count, marked = chance.of(1, 3, 4, 5, 8, 13), chance.often(0.85)
    if other:
        host.chance = Chance(1000 * other + number)
    for step in range(count):
        begin = host.now
        if chance.often(0.7):
            host.wait_for_batch(1000 if step else 20_000, workers=number % 3)
        for passage in chosen:
            passage(host)
        if chance.often(0.1):
            chance.of(*PASSAGES)(host)
        if marked:
            builder.step(begin, host.now - begin)
        host.now += chance.of(0, 0, 1, 20, 100)
    if chance.often(0.7):
        host.synchronize()
    builder.context(**mixed_context(chance, host, count))
    add_readings(builder, chance, host)
    trace = builder.build()
    return _with_sync_events(trace, host.synchronized) if chance.often(0.5) else trace


ALONE = tuple(make.__name__ for make in PASSAGES)
"""The passages, each of which is a run by itself."""


def alone(name: str) -> Trace:
    """That passage first of all, then twice in a step: its rows begin each table."""
    host = Host(TraceBuilder().device(0, memory_bytes=16 << 30), Chance(ALONE.index(name)), 0)
    host.with_shapes = host.with_memory = True
    (made,) = (each for each in PASSAGES if each.__name__ == name)
    made(host)
    begin = host.now
    made(host)
    made(host)
    return host.builder.step(begin, host.now - begin).build()


def _with_sync_events(trace: Trace, synchronized: list[tuple[float, int]]) -> Trace:
    """With what newer profilers tell of each wait: which stream, -1 for all."""
    rows = [int(np.flatnonzero(trace.calls["start_ns"] == Host.ns(at))[0]) for at, _ in synchronized]
    starts, streams = [Host.ns(at) for at, _ in synchronized], [stream for _, stream in synchronized]
    columns = {"start_ns": starts, "name": trace.calls["name"][rows], "device": [0] * len(rows), "call": rows}
    return replace(trace, tables={**trace.tables, "syncs": Table(SYNCS, columns | {"stream": streams})})


def mixed_facts(chance: Chance) -> dict[str, Any]:
    """What is known of a device."""
    return {
        "memory_bytes": chance.of(1, 4, 16) * GIB,
        "compute_capability": chance.of((7, 0), (8, 0), (9, 0)),
        "multiprocessors": chance.of(40, 108, 132),
        "max_threads_per_multiprocessor": chance.of(1024, 2048),
        "link_bytes_per_s": chance.of(None, 12e9, 25e9),
    }


def mixed_context(chance: Chance, host: Host, steps: int) -> dict[str, Any]:
    """Fields of the RunContext, some of them unknown."""
    end = host.ns(host.now)
    made: dict[str, Callable[[], Any]] = {
        "environment": lambda: Environment(
            torch="2.4.0", cores_allowed=chance.of(1, 2, 8), torch_threads=chance.of(1, 4),
            tf32_matmul=chance.often(0.5), cudnn_benchmark=chance.often(0.5), host_memory_bytes=16 * GIB,
            launch_blocking=chance.of(None, False, True),
        ),
        "window": lambda: _window(chance, end, steps),
        "loaders": lambda: tuple(_loader(chance, host, at) for at in range(chance.of(1, 1, 2))),
        "loadings": lambda: tuple(_loading(chance, at) for at in range(chance.of(1, 1, 2))),
        "optimizers": lambda: tuple(_optimizer(chance, steps + at) for at in range(chance.of(1, 2))),
        "allocators": lambda: (_allocator(chance, host),),
        "compositions": lambda: (_composition(chance, host),),
        "step_memory": lambda: (_step_memory(chance, host, chance.of(2, 3, 4, 5, 11, 12, 13)),),
        "garbage": lambda: _garbage(chance, host),
        "held": lambda: tuple(
            HeldTensors(name=f"x{at}", kind="global", device=f"cuda:{host.device}", bytes=chance.of(1, 64, 1024) * MIB,
                        tensors=at + 1, graphs=chance.of(0, 0, 1), used=chance.often(0.5))
            for at in range(chance.of(0, 1, 3))
        ),
    }  # fmt: skip
    known = {name: make() for name, make in made.items() if chance.often(0.6)}
    if chance.often(0.6):
        facts = DeviceFacts(
            name="GPU", torch_index=chance.of(None, host.device), power_source=chance.of("instant", "driver"),
            energy_mj=chance.of(None, 500_000), energy_span_ns=chance.of(None, 5 * 10**9),
        )  # fmt: skip
        known["sampling"] = {"static": [msgspec.to_builtins(facts)]}
    if host.followed:
        files = (SourceFile(filename="cell.py"),)
        known["cell"] = Cell(source=CELL, execution_count=3)
        how = chance.of("monitoring", "calls")
        known["lines"] = FollowedLines(how=how, start_ns=0, end_ns=end, files=files, cost_share=chance.of(None, 0.01))
    return {name: value for name, value in known.items() if name in RunContext.__struct_fields__}


def _window(chance: Chance, end: int, steps: int) -> Window:
    plain = chance.of(None, 1e6)
    return Window(
        cell_end_ns=end, end_ns=end, steps_seen=steps, steps_recorded=steps, ended_by=chance.of("cell", "steps"),
        plain_step_ns=plain, recorded_step_ns=plain and plain * chance.of(1.02, 1.03, 1.25, 1.6),
    )  # fmt: skip


def _loader(chance: Chance, host: Host, at: int) -> Loader:
    waits = host.waits[at::2] if len(host.waits) > 8 else host.waits
    return Loader(
        workers=chance.of(0, 1, 2, 4), batch_size=chance.of(1, 32), batches=chance.of(None, 8, 100), samples=320,
        pin_memory=chance.often(0.5), prefetch_factor=chance.of(None, 2, 4), persistent_workers=chance.often(0.5),
        dataset=f"Set{at}", line=chance.of(None, 1), iterations_started=chance.of(1, 3),
        iteration_start_ns=(0, host.ns(50), host.ns(host.now / 2)), iteration_set_up_ns=(1000, 400_000, 40_000_000),
        iteration_end_ns=(0, 100_000, 2_000_000), batches_read=len(waits),
        wait_ns=tuple(host.ns(each) for _, each in waits), wait_start_ns=tuple(host.ns(begin) for begin, _ in waits),
        tokens=chance.of(None, 700), token_positions=1000, longest_positions=800,
    )  # fmt: skip


def _loading(chance: Chance, at: int) -> Loading:
    batches = chance.of(0, 1, 8)
    transforms = tuple(
        TransformTime(name=name, calls=64, duration_ns=ns) for name, ns in (("Resize", 5_000_000), ("Flip", 1_000_000))
    )
    return Loading(
        dataset=f"Set{at}", source=f"Set{at}", dataset_samples=320, batches=batches, samples=8 * batches,
        processes=chance.of(1, 2), sample_ns=chance.of(0, 1, 8_000_000), collate_ns=chance.of(0, 500_000),
        cpu_ns=chance.of(1_000_000, 8_000_000, 20_000_000), blocked=chance.of(None, 0, 64, 640),
        core_wait_ns=chance.of(None, 0, 4_000_000), batched=chance.often(0.5), own_ns=chance.of(0, 5000),
        transforms=transforms[: chance.of(0, 1, 2)],
    )  # fmt: skip


def _optimizer(chance: Chance, steps: int) -> Optimizer:
    return Optimizer(
        name=chance.of("SGD", "Adam", "AdamW"), parameters=chance.of(1, 10, 100), elements=chance.of(100, 1_000_000),
        state_bytes=chance.of(None, 8_000_000), fused=chance.of(None, False, True),
        foreach=chance.of(None, False, True), device="cuda:0", line=chance.of(None, 9), steps=steps,
    )  # fmt: skip


def _allocator(chance: Chance, host: Host) -> Allocator:
    peak = chance.of(100 * MIB, 900 * MIB, GIB, 15 * GIB)
    return Allocator(
        device=host.device, allocated_before_bytes=chance.of(0, 50 * MIB), allocated_after_bytes=60 * MIB,
        reserved_after_bytes=peak, peak_allocated_bytes=peak, peak_reserved_bytes=peak + chance.of(0, 100 * MIB),
        peak_in_run=chance.of(None, True, False), retries=chance.of(0, 0, 1), ooms=0,
        inactive_split_bytes=chance.of(None, 0, 40 * MIB), limit_bytes=chance.of(None, GIB),
    )  # fmt: skip


def _composition(chance: Chance, host: Host) -> Composition:
    return Composition(
        device=f"cuda:{host.device}", parameter_bytes=chance.of(0, 10, 40) * MIB, gradient_bytes=chance.of(0, 40) * MIB,
        state_bytes=chance.of(0, 80) * MIB, buffer_bytes=MIB, after_steps=chance.of(0, 1), whole=chance.often(0.8),
    )  # fmt: skip


def _step_memory(chance: Chance, host: Host, count: int) -> StepMemory:
    held, times = [100 * MIB], []
    for at in range(count):
        held.append(held[-1] + chance.of(0, MIB, MIB, 5 * MIB, -MIB))
        times.append(host.ns(host.now * at / count))
    return StepMemory(
        device=host.device, step=tuple(range(count)), time_ns=tuple(times), allocated_bytes=tuple(held[1:]),
        reserved_bytes=tuple(each + 64 * MIB for each in held[1:]),
    )  # fmt: skip


def _garbage(chance: Chance, host: Host) -> Garbage:
    count = chance.of(0, 3, 9)
    starts = tuple(host.ns(host.now * at / 10) for at in range(count))
    lasting = tuple(chance.of(20_000, 100_000, 3_000_000) for _ in starts)
    return Garbage(
        collections=count + 5, total_ns=sum(lasting) + 5000, start_ns=starts, duration_ns=lasting,
        generation=tuple(chance.of(0, 1, 2, 2) for _ in starts),
    )  # fmt: skip


def add_readings(builder: TraceBuilder, chance: Chance, host: Host) -> None:
    """Of the device and of the process, or none."""
    if not chance.often(0.6):
        return
    every = host.now / 12
    for tick in range(13):
        builder.sample(
            tick * every, device=0, utilisation_percent=chance.of(0.0, 50.0, 100.0),
            power_mw=chance.of(60_000, 300_000), memory_used_bytes=chance.of(1, 2, 3) * GIB,
            clock_reasons=chance.of(0, 1, 4, 0x40, 0x20),
            sm_clock_mhz=chance.of(900, 1400), pcie_generation=chance.of(1, 3, 4), pcie_width=chance.of(8, 16),
        )  # fmt: skip
        builder.host_sample(
            tick * every, cpu_percent=chance.of(50.0, 100.0, 180.0), resident_bytes=GIB + tick * MIB,
            children_cpu_percent=chance.of(0.0, 90.0), main_thread_percent=chance.of(20.0, 100.0),
            main_core_wait_percent=chance.of(0.0, 50.0, 60.0),
        )  # fmt: skip
