"""What the cell left behind with its graphs, in what hooks fill, or behind views and as copies, beside how much memory
grew in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from gpuprof.analyses.accounts.cell_memory import CellMemory, resident_readings
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.containers.chosen_items import ChosenItems, chosen_items
from gpuprof.analyses.containers.inner_containers import InnerContainer, inner_container
from gpuprof.analyses.containers.single_reads import SingleRead, single_read
from gpuprof.analyses.containers.unnamed_lists import with_names
from gpuprof.analyses.containers.unread_parts import UnreadParts, unread_parts
from gpuprof.analyses.loops.written_loops import notebook_sources
from gpuprof.analyses.memory import holder_text
from gpuprof.analyses.memory.alike_names import AlikeNames, with_alike
from gpuprof.analyses.memory.graph_needs import GraphNeeds
from gpuprof.analyses.memory.hook_text import hooks_in, lines_of_hook
from gpuprof.analyses.memory.kept_graphs import filling_lines, summing_lines
from gpuprof.analyses.memory.last_items import LastItems, last_items
from gpuprof.analyses.memory.later_reductions import LaterReductions, later_reductions
from gpuprof.analyses.memory.made_memory import made_bytes
from gpuprof.model.memory import HeldTensors, HolderLevel
from gpuprof.model.operands import Operands
from gpuprof.model.trace import Trace

_FEWEST_LEVELS = 5
# held before the end
_EARLIER = ("frame", "peak")
_AS_HELD = (
    "kind", "tensors", "bytes", "hooked", "unseen_bytes", "copies", "copied_bytes", "repeated_bytes", "repeated_times",
    "zeros_bytes", "zeros_share", "one_hot", "wide_type", "wide_bytes", "narrow_type", "narrow_bytes", "attribute",
    "arrays", "cycled_bytes", "shape", "levels", "way_bytes",
)  # fmt: skip
OWN_KINDS = ("global", "frame", "peak")
_LISTS = ("builtins.list", "builtins.tuple", "collections.deque")


@dataclass(frozen=True)
class KeptTensors:
    """What one name (of `kind` `hook`: one hook) held on one device at the end of the cell.

    `tensors` and their `bytes`; `graphs` of them carry a graph, on whichever device; `graph_bytes`: what those graphs
    keep for a backward pass. `hook`: the function that fills it as a forward hook of `hooked` (None where only the
    text tells). `lines` (1-based) of the profiled cell put something into it, in a loop or in the hook. `summed`: by
    adding to a sum, whose one graph then has all of them. `filled`: that cell, or another that ran in it, is seen to
    fill it; else it may have been full before. `made`: the lines of the profiled cell that bind it to something.
    `refilled`: it is emptied and filled again in an outer loop.

    `making_bytes`: by how much the peak falls without its zeros, and those of what is `alike`, and without the lines
    that make them; None where that is not known. `unseen_bytes`, `copies`, `copied_bytes`, `repeated_bytes`,
    `repeated_times`, `zeros_bytes`, `zeros_share`, `one_hot`, `wide_type`, `wide_bytes`, `narrow_type`, `narrow_bytes`,
    `arrays`, `cycled_bytes`: as in HeldTensors. `alike`: other names whose numbers are needless in the same way.
    `densified`: the call that makes a dense matrix of a sparse one, where a statement that makes it has one. `updated`:
    numbers are added to it in place. `combined`: what it holds is added up as it is; `chosen`: how the text takes
    single items of it, where it takes nothing else, and `items`: how many it had at most; `in_parts`: it is indexed,
    split, or given to a data set;
    `multiplied`: it is the first factor of a matrix product; `backward`: a backward pass begins at it. `function`: of a
    row of kind `frame` the function whose variable it is, with `meant` where it ran in a phase in which its graphs may
    be needed. `later`: the reductions of its tensors that are all that is read of them, where that is so, and
    `joined_bytes` what names of the joined ones hold besides. `read_once`: the one later loop that reads its items in
    order, where that is so, and `together_bytes` what the names that it reads beside hold. `last`: that of a list that
    grows the last few items alone are read, where that is so, and `last_names` and `last_bytes`: all names of its
    function of which it is so, the most bytes first. `shape`: of the largest
    tensor. `levels`: the containers and objects on the way to `way_bytes`, most of it; `inner`: of the objects the
    attribute that the way goes through. `unread`: what its items hold that no text reads. `estimated`: not all of it
    was looked at.
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
    made: tuple[int, ...] = ()
    refilled: bool = False
    unseen_bytes: int = 0
    copies: int = 0
    copied_bytes: int = 0
    repeated_bytes: int = 0
    repeated_times: float = 1.0
    zeros_bytes: int = 0
    zeros_share: float = 0.0
    one_hot: bool = False
    wide_type: str = ""
    wide_bytes: int = 0
    narrow_type: str = ""
    narrow_bytes: int = 0
    attribute: str = ""
    arrays: int = 0
    cycled_bytes: int = 0
    alike: AlikeNames | None = None
    densified: str = ""
    updated: bool = False
    making_bytes: int | None = None
    combined: bool = False
    chosen: ChosenItems | None = None
    items: int | None = None
    in_parts: bool = False
    multiplied: bool = False
    backward: bool = False
    function: str | None = None
    meant: bool = False
    later: LaterReductions | None = None
    joined_bytes: int = 0
    read_once: SingleRead | None = None
    together_bytes: int = 0
    last: LastItems | None = None
    last_names: tuple[str, ...] = ()
    last_bytes: int = 0
    shape: tuple[int, ...] | None = None
    levels: tuple[HolderLevel, ...] = ()
    way_bytes: int = 0
    inner: InnerContainer | None = None
    unread: UnreadParts | None = None
    estimated: bool = False

    @property
    def shown(self) -> str:
        """`train.images` where what is said of its numbers is of an attribute."""
        return f"{self.name}.{self.attribute}" if self.attribute else self.name


@dataclass(frozen=True)
class DeviceKept:
    """One device's memory (`device`: `cpu`, `cuda:0`). `grown_bytes`: from the lowest reading of the cell, or its
    beginning, to its end; `peak_bytes`: the highest; `free_bytes`: what was free at the beginning (`cpu`) or at the
    peak. None where it is not known. `kept`: the largest first. `levels`: the readings over the cell, bytes, in order;
    empty where there are too few."""

    device: str
    grown_bytes: int | None
    peak_bytes: int | None
    free_bytes: int | None
    kept: tuple[KeptTensors, ...]
    levels: tuple[int, ...] = ()

    def saved_bytes(self, held_bytes: int, *, refilled: bool = False) -> int:
        """By how much the peak falls where a name does not hold `held_bytes` of what it held at the end.

        Before the end it held no more than what memory had grown by since, and than what stayed from then on (but
        where it was `refilled`). Without readings: all of it, up to the growth.
        """
        if not self.levels:
            return max(0, min(held_bytes, self.peak_bytes or 0, self.grown_bytes or 0))
        level = np.array(self.levels, np.int64)
        stays = level if refilled else np.minimum.accumulate(level[::-1])[::-1]
        held = np.clip(stays - np.minimum.accumulate(level), 0, held_bytes)
        return int(level.max() - (level - held).max())


@dataclass(frozen=True)
class KeptMemory(Result):
    """`devices` on which names hold tensors with graphs, more than is shown of them, numbers that need not be there, or
    what is only reduced, or hooks hold any; `known` is False where the recording does not say what graphs keep."""

    devices: tuple[DeviceKept, ...]
    known: bool

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From what the notebook held, the readings of the process, and the allocators."""
        held = trace.context.held
        if held is None or any(each.graphs and each.graph_bytes is None for each in held):
            return cls((), False)
        sources = dict(notebook_sources(trace))
        held = with_names(held, sources)
        by_text = {name: hook for text in sources.values() for hook, name in hooks_in(text)}
        later = {each: _later(each, sources) for each in held}
        once = {each: None if later[each] else _read_once(each, sources) for each in held}
        chosen = {each for each in held if each.kind == "frame" and _chosen(list(sources.values()), _variable(each)[0])}
        last = {each: _last(each, sources) for each in held}
        unread = {each: _unread(each, sources) for each in held}
        by_use = (later, once, last, unread)
        told = {each for each in held if each.name in by_text or any(found[each] for found in by_use)}
        rows = [each for each in held if _matters(each) or each in told | chosen]
        devices, phases = sorted({each.device for each in rows}), GraphNeeds(trace, results)
        found = []
        for device in devices:
            mine = [each for each in rows if each.device == device]
            kept = [
                _with_later(_kept(each, held, sources, by_text, phases, trace.context.operands), later[each], held)
                for each in mine
            ]
            kept = [_with_once(each, once[row], held, device) for each, row in zip(kept, mine, strict=True)]
            rows_kept = zip(kept, mine, strict=True)
            kept = _with_last([replace(each, last=last[row], unread=unread[row]) for each, row in rows_kept])
            if device == "cpu":
                kept = with_alike(kept)
                kept = [_with_making(each, trace, results, sources.get("", "")) for each in kept]
            kept.sort(key=lambda each: -(each.graph_bytes + each.bytes))
            found.append(memory_of(trace, results, device, kept))
        return cls(tuple(found), True)


def memory_of(trace: Trace, results: Results, device: str, kept: Sequence[KeptTensors] = ()) -> DeviceKept:
    """How the memory of a device moved in the cell, beside what was kept there."""
    return DeviceKept(device, *_growth(trace, results, device), tuple(kept), _levels(trace, device))


def _matters(row: HeldTensors) -> bool:
    more = (
        row.unseen_bytes
        or row.copies > 1
        or row.repeated_bytes
        or row.zeros_bytes
        or row.narrow_bytes
        or row.cycled_bytes
    )
    return bool(row.graph_bytes or row.graphs or row.hook or more)


def _variable(row: HeldTensors) -> tuple[str, str | None]:
    """Its name, and the function that it is a variable of."""
    if row.kind != "frame":
        return row.name, None
    name, _, function = row.name.removesuffix("()").partition(" in ")
    return name, function


def _later(row: HeldTensors, sources: dict[str, str]) -> LaterReductions | None:
    name, function = _variable(row)
    known = row.shape and not row.graphs and row.kind in OWN_KINDS and name.isidentifier()
    return later_reductions(list(sources.values()), name, function) if known else None


def _with_later(kept: KeptTensors, later: LaterReductions | None, held: tuple[HeldTensors, ...]) -> KeptTensors:
    return replace(kept, later=later, joined_bytes=_bytes_of(later.joined if later else (), kept.function, held))


def _read_once(row: HeldTensors, sources: dict[str, str]) -> SingleRead | None:
    name, function = _variable(row)
    known = not row.graphs and not row.hook and row.kind in OWN_KINDS and name.isidentifier()
    texts = [sources.get("", ""), *(text for file, text in sources.items() if file)]
    return single_read(texts, name, function) if known else None


def _with_once(kept: KeptTensors, once: SingleRead | None, held: tuple[HeldTensors, ...], device: str) -> KeptTensors:
    others = [name for name in once.names if name != kept.name] if once else []
    beside = [each for each in held if each.device == device]
    return replace(kept, read_once=once, together_bytes=_bytes_of(others, kept.function, beside))


def _last(row: HeldTensors, sources: dict[str, str]) -> LastItems | None:
    name, function = _variable(row)
    listed = row.levels and row.levels[0].kind == "list" and row.kind in OWN_KINDS and name.isidentifier()
    found = last_items(list(sources.values()), name, function) if listed and not row.hook else None
    return found if found is not None and row.levels[0].items > found.number else None


def _unread(row: HeldTensors, sources: dict[str, str]) -> UnreadParts | None:
    name, function = _variable(row)
    known = row.item_parts and not row.hook and row.kind in OWN_KINDS and name.isidentifier()
    texts = [text for text in sources.values() if text]
    return unread_parts(texts, name, function, row.item_parts) if known else None


def _with_last(kept: list[KeptTensors]) -> list[KeptTensors]:
    found = []
    for each in kept:
        number = each.last.number if each.last else 0
        same = [other for other in kept if (other.function, other.kind) == (each.function, each.kind)]
        alike = [other for other in same if other.last and other.last.number == number]
        alike.sort(key=lambda other: -other.bytes)
        names, size = tuple(other.name for other in alike), sum(other.bytes for other in alike)
        found.append(replace(each, last_names=names, last_bytes=size) if each.last else each)
    return found


def _bytes_of(names: Sequence[str], function: str | None, held: Sequence[HeldTensors]) -> int:
    """At the peak or at the end, whichever is more."""
    sizes: dict[tuple[str, str], int] = {}
    for each in held:
        if _variable(each) in {(name, function) for name in names}:
            key = each.name, each.device
            sizes[key] = max(sizes.get(key, 0), each.bytes)
    return sum(sizes.values())


def _with_making(kept: KeptTensors, trace: Trace, results: Results, source: str) -> KeptTensors:
    if not kept.zeros_bytes or not kept.made:
        return kept
    names, more = (kept.alike.names, kept.alike.needless_bytes) if kept.alike else ((), 0)
    names = (kept.name, *(each.partition(".")[0] for each in names))
    lines = {line for name in names for line in holder_text.last_made(source, name, kept.function)}
    return replace(kept, making_bytes=made_bytes(trace, results, lines, kept.zeros_bytes + more))


def _levels(trace: Trace, device: str) -> tuple[int, ...]:
    if device == "cpu":
        return tuple(resident_readings(trace)[1].tolist())
    found = (each.allocated_bytes for each in trace.context.device_memory if f"cuda:{each.device}" == device)
    return next((each for each in found if len(each) >= _FEWEST_LEVELS), ())


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
    row: HeldTensors,
    held: tuple[HeldTensors, ...],
    sources: dict[str, str],
    by_text: dict[str, str],
    phases: GraphNeeds,
    operands: Operands | None,
) -> KeptTensors:
    source, (name, function) = sources.get("", ""), _variable(row)
    same = [each for each in held if (each.name, each.kind) == (row.name, row.kind)]
    hook = row.hook or (by_text.get(name) if function is None else None)
    lines = _fills(source, name)
    if hook:
        lines |= set(lines_of_hook(source, hook))
    texts = list(sources.values())
    inner = inner_container([source, *(text for file, text in sources.items() if file)], name, row.levels)
    lines |= set(inner.lines) if inner else set()
    chosen = inner.chosen if inner else _chosen(texts, name)
    return KeptTensors(
        name=name,
        **{each: getattr(row, each) for each in _AS_HELD},
        graphs=sum(each.graphs for each in same),
        graph_bytes=row.graph_bytes or 0,
        hook=hook,
        lines=tuple(sorted(lines)),
        summed=any(set(summing_lines(each, name)) for each in texts),
        filled=bool(hook or inner or row.filling) or any(_fills(each, name) for each in texts),
        made=_made(row, source, name, function),
        refilled=holder_text.is_refilled(source, name) or row.kind in _EARLIER,
        densified=holder_text.densified_by(source, name, function),
        updated=any(holder_text.is_updated(each, name, row.attribute) for each in texts),
        combined=any(holder_text.is_combined(each, name) for each in texts),
        chosen=chosen,
        items=_items(operands, name, chosen.lines) if chosen else None,
        multiplied=any(holder_text.is_multiplied(each, name) for each in texts),
        in_parts=any(holder_text.is_used_in_parts(each, name, row.attribute) for each in texts),
        backward=any(holder_text.goes_backward(each, name) for each in texts),
        function=function,
        meant=row.kind in _EARLIER and phases.may_go_backward(row.at_ns, texts),
        inner=inner,
        estimated=row.looked_share < 1,
    )


def _made(row: HeldTensors, source: str, name: str, function: str | None) -> tuple[int, ...]:
    """Where it is made, and the attribute of it whose numbers are needless."""
    lines = holder_text.made_lines(source, name, function)
    return tuple(sorted({*lines, *holder_text.attribute_lines(source, name, row.attribute, function)}))


def _chosen(texts: list[str], name: str) -> ChosenItems | None:
    """Of several texts each may read another item."""
    texts = [each for each in texts if name in each]
    return chosen_items(texts[0], name) if len(texts) == 1 else None


def _items(operands: Operands | None, name: str, lines: Sequence[int]) -> int | None:
    """How many a list of that name had at most, in the code around these lines."""
    found = (each for each in (operands.seen if operands else ()) if each.name == name and each.kind in _LISTS)
    lengths = (each.most for each in found if any(each.first <= line <= each.last for line in lines))
    return max((each for each in lengths if each is not None), default=None)


def _fills(source: str, name: str) -> set[int]:
    return {
        *filling_lines(source, {name}),
        *summing_lines(source, name),
        *holder_text.lines_of_methods(source, name),
    }
