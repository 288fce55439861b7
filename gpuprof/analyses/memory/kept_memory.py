"""What the cell left behind with its graphs, or in what hooks fill, beside how much memory grew in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from gpuprof.analyses.accounts.cell_memory import CellMemory
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.loops.written_loops import notebook_sources, parsed
from gpuprof.analyses.memory.kept_graphs import filled_in, filling_lines, summing_lines
from gpuprof.model.context import HeldTensors
from gpuprof.model.trace import Trace

_HOOKING = ("register_forward_hook", "register_forward_pre_hook")


@dataclass(frozen=True)
class KeptTensors:
    """What one name (of `kind` `hook`: one hook) held on one device at the end of the cell.

    `tensors` and their `bytes`; `graphs` of them carry a graph, on whichever device; `graph_bytes`: what those graphs
    keep for a backward pass. `hook`: the function that fills it as a forward hook of `hooked` (None where only the
    text tells). `lines` (1-based) of the profiled cell put something into it, in a loop or in the hook. `summed`: by
    adding to a sum, whose one graph then has all of them. `filled`: that cell, or another that ran in it, is seen to
    fill it; else it may have been full before.
    """

    name: str
    kind: str
    tensors: int
    bytes: int
    graphs: int
    graph_bytes: int
    hook: str | None
    hooked: str | None
    lines: tuple[int, ...]
    summed: bool
    filled: bool


@dataclass(frozen=True)
class DeviceKept:
    """One device's memory (`device`: `cpu`, `cuda:0`). `grown_bytes`: from the lowest reading of the cell, or its
    beginning, to its end; `peak_bytes`: the highest; `free_bytes`: what was free at the beginning (`cpu`) or at the
    peak. None where it is not known. `kept`: the largest first."""

    device: str
    grown_bytes: int | None
    peak_bytes: int | None
    free_bytes: int | None
    kept: tuple[KeptTensors, ...]


@dataclass(frozen=True)
class KeptMemory(Result):
    """`devices` on which names hold tensors with graphs, or hooks hold any; `known` is False where the recording does
    not say what graphs keep."""

    devices: tuple[DeviceKept, ...]
    known: bool

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From what the notebook held, the readings of the process, and the allocators."""
        held = trace.context.held
        if held is None or any(each.graphs and each.graph_bytes is None for each in held):
            return cls((), False)
        sources = dict(notebook_sources(trace))
        by_text = {name: hook for text in sources.values() for hook, name in _hooks_in(text)}
        rows = [each for each in held if each.graph_bytes or each.graphs or each.hook or each.name in by_text]
        devices = sorted({each.device for each in rows})
        found = []
        for device in devices:
            kept = [_kept(each, held, sources, by_text) for each in rows if each.device == device]
            kept.sort(key=lambda each: -(each.graph_bytes + each.bytes))
            found.append(DeviceKept(device, *_growth(trace, results, device), tuple(kept)))
        return cls(tuple(found), True)


def _growth(trace: Trace, results: Results, device: str) -> tuple[int | None, int | None, int | None]:
    """Growth, peak and what is free."""
    if device == "cpu":
        memory, available = results.get(CellMemory), trace.context.host_start.get("available_bytes")
        if memory.end_bytes is None or memory.lowest_bytes is None:
            return None, None, None
        free = available if isinstance(available, int) else None
        return memory.end_bytes - memory.lowest_bytes, memory.peak_bytes, free
    kind, _, index = device.partition(":")
    found = next((each for each in trace.context.allocators if kind == "cuda" and index == str(each.device)), None)
    if found is None:
        return None, None, None
    whole = found.limit_bytes or trace.device(found.device).memory_bytes
    free = None if whole is None else max(whole - found.peak_allocated_bytes, 0)
    return found.allocated_after_bytes - found.allocated_before_bytes, found.peak_allocated_bytes, free


def _kept(
    row: HeldTensors, held: tuple[HeldTensors, ...], sources: dict[str, str], by_text: dict[str, str]
) -> KeptTensors:
    source = sources.get("", "")
    same = [each for each in held if (each.name, each.kind) == (row.name, row.kind)]
    hook = row.hook or by_text.get(row.name)
    lines = _fills(source, row.name)
    if hook:
        lines |= set(_lines_of_hook(source, hook))
    return KeptTensors(
        row.name,
        row.kind,
        row.tensors,
        row.bytes,
        sum(each.graphs for each in same),
        row.graph_bytes or 0,
        hook,
        row.hooked,
        tuple(sorted(lines)),
        any(set(summing_lines(each, row.name)) for each in sources.values()),
        hook is not None or any(_fills(each, row.name) for each in sources.values()),
    )


def _fills(source: str, name: str) -> set[int]:
    return {*filling_lines(source, {name}), *summing_lines(source, name)}


def _hooks_in(source: str) -> Iterator[tuple[str, str]]:
    """`(function, name)` where a function that the text registers as a forward hook fills `name`."""
    tree = parsed(source)
    nodes = list(ast.walk(tree)) if tree else []
    given = {
        name.id
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _HOOKING
        for each in (*node.args, *(given.value for given in node.keywords))
        for name in ast.walk(each)
        if isinstance(name, ast.Name)
    }
    for node in nodes:
        if isinstance(node, ast.FunctionDef) and node.name in given:
            for inner in ast.walk(node):
                target = filled_in(inner)
                if target is not None:
                    yield node.name, ast.unparse(target).partition(".")[0].partition("[")[0]


def _lines_of_hook(source: str, hook: str) -> Iterator[int]:
    """The lines that fill something in the function of that name."""
    tree = parsed(source)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.FunctionDef) and node.name == hook:
            yield from (inner.lineno for inner in ast.walk(node) if filled_in(inner))  # type: ignore[attr-defined]
