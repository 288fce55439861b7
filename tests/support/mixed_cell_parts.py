"""What is added to a cell that was put together at random: stacks, modules, lines, iterations, memory, exchanges.

Each begins and ends at `moments` (in µs): those of the operators, calls and device events, and some far from them.
"""

from __future__ import annotations

import sysconfig
from collections.abc import Callable
from typing import Any

import numpy as np

from gpuprof.model.trace import Trace
from tests.support.mixed_passages import Host
from tests.support.mixed_runs import GIB, MIB
from tests.support.trace_builder import CELL_FILE, TraceBuilder

OTHER_CELL, MODULE = "ipykernel_1/200.py", "project/model.py"
_LIBRARY = sysconfig.get_paths()["purelib"]
_CALL = (f"{_LIBRARY}/torch/nn/modules/module.py", "Module._call_impl", 1500)
Stack = tuple[tuple[str, str, int], ...]


def _in_cell(line: int, *inner: tuple[str, str, int]) -> Stack:
    return ((CELL_FILE, "<module>", line), *inner)


def _library(path: str, function: str, line: int = 10) -> tuple[str, str, int]:
    return f"{_LIBRARY}/{path}", function, line


STACKS: tuple[Stack, ...] = (
    (),
    _in_cell(2),
    _in_cell(3, _CALL, (MODULE, "Net.forward", 7), _CALL, _library("torch/nn/modules/linear.py", "Linear.forward")),
    _in_cell(4, _CALL, _library("torch/nn/modules/loss.py", "CrossEntropyLoss.forward")),
    _in_cell(4, _CALL, _library("torch/nn/functional.py", "cross_entropy")),
    _in_cell(8, _library("torch/_tensor.py", "Tensor.backward"), _library("torch/autograd/graph.py", "_run")),
    _in_cell(9, _library("torch/optim/optimizer.py", "wrapper"), _library("torch/optim/adam.py", "Adam.step")),
    _in_cell(9, _library("torch/optim/lbfgs.py", "LBFGS.step"), (CELL_FILE, "closure", 3)),
    _in_cell(1, _library("torch/utils/data/dataloader.py", "_BaseDataLoaderIter.__next__")),
    _in_cell(14, (CELL_FILE, "evaluate", 13), _CALL, (MODULE, "Net.forward", 7)),
    _in_cell(5, (OTHER_CELL, "helper", 3)),
    ((OTHER_CELL, "helper", 4),),
    _in_cell(-1),
    _in_cell(0),
    ((OTHER_CELL, "helper", 1),),
    _in_cell(7, _library("numpy/base.py", "wrapper"), _library("numpy/linalg/base.py", "solve")),
    _in_cell(7, _library("numpy/base.py", "wrapper"), _library("numpy/linalg/base.py", "inv")),
    _in_cell(6, _library("matplotlib/pyplot.py", "plot")),
    ((MODULE, "main", 4),),
    ((MODULE, "val_epoch", 9), _CALL),
    _in_cell(2, _library("torch/utils/_contextlib.py", "decorate_context"), (MODULE, "act", 5)),
    ((CELL_FILE, "<module>", 2), ("<frozen importlib._bootstrap>", "_find", 1)),
)
KINDS = ("all_reduce", "AllGather", "reduce_scatter", "broadcast", "all_to_all", "send", "Barrier")
GROUPS: tuple[dict[str, Any], ...] = (
    {"group": "0", "group_description": "default_pg", "group_ranks": "[0, 1, 2]", "group_size": 3},
    {"group": "1", "group_description": "mesh_tp", "group_ranks": "[0, 1]", "group_size": 2},
    {"group": "2", "group_description": "undefined", "group_ranks": "[0, ...]", "group_size": 64},
    {},
)


def add_exchange(builder: TraceBuilder, host: Host, number: int) -> None:
    """A collective of NCCL with its description, one of gloo on the host, or a kernel that only a range names."""
    chance, at = host.chance, host.now
    kind, described = KINDS[number % 7], {"in_elements": chance.of(-1, 0, 1000), "out_elements": 3000}
    described |= {"element_type": chance.of("Float", "Half", "odd"), **GROUPS[number % 4]}
    if number % 3 == 0:
        builder.collective(kind, at + chance.of(0, 5, 60), chance.of(0, 20, 300), **described)
    elif number % 3 == 1:
        lasts = chance.of(5, 40, 41)
        builder.span(f"gloo:{kind}", at, lasts)
        if chance.often(0.8):
            builder.exchange(f"gloo:{kind}", at, lasts, thread=0, source_rank=0, destination_rank=1, **described)
        host.now += lasts
    else:
        builder.span(f"nccl:{kind}", at, 12)
        if chance.often(0.7):
            builder.exchange("record_param_comms", at, chance.of(1, 12), thread=0, number=7, **described)
        host.kernel("ncclDevKernel_Generic", chance.of(10, 200), stream=20, collective=True)
        host.now += 10


def add_stacks(builder: TraceBuilder, host: Host, trace: Trace, moments: list[float]) -> None:
    chance, at = host.chance, _start(host)
    few, count = [host.chance.of(*STACKS) for _ in range(6)], chance.of(1, 40, 80, 300)
    for number in range(count):
        lasts = chance.of(0, 1, 50, 500, 500, 2000, 9000)
        rising = count == 300 and chance.often(number / count)
        builder.stack(at, lasts, *(_in_cell(5) if rising else chance.of(*few)))
        at += lasts + chance.of(0, 0, 0, 10)
    by_name: dict[int, Stack] = {}
    mine = np.flatnonzero((trace.operators["parent"] < 0) & (trace.operators["thread"] == trace.main_thread))
    for row in mine.tolist():
        if chance.often(0.3):
            usual = by_name.setdefault(int(trace.operators["name"][row]), chance.of(*few))
            stack = usual if chance.often(0.9) else chance.of(*few)
            inside = chance.of(0, 0, 0.5, 1) * trace.operators["duration_ns"][row]
            builder.look(float(trace.operators["start_ns"][row] + inside) / 1000, *stack)
    for _ in range(3):
        builder.look(chance.of(*moments), *chance.of(*few))


def _start(host: Host) -> float:
    """Before the span, at its begin, or in it."""
    return float(host.chance.of(-3000, 0, 10, host.now / 2))


def _modules(builder: TraceBuilder, host: Host, moments: list[float]) -> None:
    chance = host.chance
    if chance.often(0.3):
        for at in moments[:60:6]:
            builder.frame("nn.Module: Net_0", at, 60).frame("nn.Module: Linear_0", at, chance.of(0, 30, 60))
        for at in moments[3:60:9]:
            builder.frame(chance.of("nn.Module: Linear_0", "nn.Module: Block_1"), at, 10)
        return
    for number in range(0, min(len(moments), 90) - 9, 9):
        begin, end = moments[number], moments[number + 8]
        builder.module("Net", begin, end - begin, kind="Net")
        for inner, (path, kind, shared) in enumerate(
            (("Net.head", "Linear", ()), ("Net.layers.0", "Block", ("Net.again",)), ("", "Gone", ()))
        ):
            at = moments[number + 2 * inner + chance.of(0, 1)]
            builder.module(path, at, chance.of(0, 10, moments[number + 2 * inner + 2] - at), kind=kind, shared=shared)
    if chance.often(0.3):
        builder.thread("other").module("Net.head", chance.of(*moments), 20, kind="Linear").thread("main")


def _iterations(builder: TraceBuilder, host: Host, moments: list[float]) -> None:
    chance, at = host.chance, _start(host)
    usual = chance.of((0, 100, 100, 300, 301, 1200), (100, 101))
    for number in range(chance.of(1, 5, 12, 40)):
        lasts = chance.of(*usual) + 5 * number
        spent = chance.of(None, 0, 10, 100)
        builder.iteration(at, lasts, optimizer_us=spent, plain=chance.often(0.5))
        at += lasts


def _lines(builder: TraceBuilder, host: Host, moments: list[float]) -> None:
    """Lines of another cell, called from one of this one or from nowhere; on autograd's thread, too."""
    chance = host.chance
    for _ in range(chance.of(3, 30)):
        if chance.often(0.2):
            builder.thread("other")
        line = chance.of(-1, 0, 1, 2, 3, 4)
        builder.line(
            line, chance.of(*moments), source_file=1, cell_line=chance.of(-1, 5, 7), begins=chance.often(0.8)
        ).thread("main")


def _memory(builder: TraceBuilder, host: Host, moments: list[float]) -> None:
    """Blocks that are freed in other orders, or never, or were there before; of the host and of two devices."""
    chance, totals = host.chance, {None: 0, 0: 0, 1: 0}
    devices, addresses = chance.of((None,), (None, 0, 0, 1)), chance.of((1, 2, 3, 4, 5), (-1, 1, 2, 3))
    for at in moments[:: max(len(moments) // 60, 1)]:
        device, size = chance.of(*devices), chance.of(0, 1, MIB, 64 * MIB, 300 * MIB)
        size *= chance.of(1, 1, -1)
        totals[device] = max(totals[device] + size, 0)
        address = chance.of(*addresses)
        told = chance.often(0.8)
        builder.memory(
            at, size, device=device, address=address, allocated=totals[device] if told else -1,
            reserved=max(totals[device], GIB // 2) if told else -1,
        )  # fmt: skip


def _second_device(builder: TraceBuilder, host: Host, moments: list[float]) -> None:
    chance = host.chance
    for at in moments[1::12]:
        builder.kernel("on_the_second", at, chance.of(0, 1, 40), device=1 - host.device, stream=chance.of(0, 7))
        if chance.often(0.2):
            builder.memset(at, 3, device=1 - host.device, launch_at_us=at)
            builder.copy("p2p", at, 30, bytes=chance.of(0, MIB), device=host.device, stream=9)


def _ranges(builder: TraceBuilder, host: Host, moments: list[float]) -> None:
    chance = host.chance
    name = chance.of("execute_context_1", "step[2]", "iteration_", "forward", "Torch-Compiled Region: 0/1")
    for number in range(0, len(moments) - 7, 7):
        builder.span(name, moments[number], moments[number + chance.of(0, 6, 7)] - moments[number])
        builder.span("block", moments[number + 1], chance.of(0, 5))
    builder.call(chance.of("cudaStreamBeginCapture", "hipGraphInstantiate"), moments[3], 1)
    builder.call("cudaStreamEndCapture", moments[len(moments) // 2], 1)


def _readings(builder: TraceBuilder, host: Host, moments: list[float]) -> None:
    """Of the process, growing; and of a device that is not always read."""
    chance, held = host.chance, GIB
    for tick in range(chance.of(4, 5, 30)):
        at = 190_000 + 5000 * tick if host.now > 200_000 else host.now * tick / 24
        held += chance.of(0, 0, 1, 64, 65, -30) * MIB
        builder.host_sample(at, resident_bytes=held, children_resident_bytes=chance.of(-1, 0, GIB))
        builder.sample(
            at, device=1, temperature_c=chance.of(40.0, 83.0), memory_clock_mhz=chance.of(-1, 1593),
            sm_clock_mhz=chance.of(-1, 1410), call_ns=chance.of(0, 5_000_000), pcie_generation=chance.of(-1, 4),
        )  # fmt: skip


ADDED: tuple[Callable[[TraceBuilder, Host, list[float]], None], ...] = (
    _modules, _iterations, _lines, _memory, _second_device, _ranges, _readings,
)  # fmt: skip
