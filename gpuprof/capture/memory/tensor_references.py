"""Which names of the notebook keep tensors and arrays alive: globals, outputs (`Out`, `_`) and the frames of the last
traceback.

Looked at once, at the end of a cell, within a few milliseconds; nothing is kept but names and numbers.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

import msgspec

from gpuprof.capture.base.attributes import attributes_of
from gpuprof.capture.base.main_thread_budget import MainThreadBudget
from gpuprof.capture.base.signal import Signal, WatchedCell
from gpuprof.capture.base.storages import Key, is_tensor, storages_of
from gpuprof.capture.memory.allocated import AllocatedBytes
from gpuprof.capture.memory.array_memory import is_array, storages_of_array
from gpuprof.capture.memory.claimed_memory import ClaimedMemory
from gpuprof.capture.memory.dense_arrays import LEAST_CONTENT_BYTES
from gpuprof.capture.memory.graph_bytes import GraphBytes
from gpuprof.capture.memory.held_part import HeldPart
from gpuprof.capture.memory.held_values import HeldValues
from gpuprof.capture.memory.hook_containers import Containers, Hook, hooks_of
from gpuprof.capture.memory.modules import modules_in
from gpuprof.capture.memory.referenced_names import ReferencedNames
from gpuprof.capture.memory.running_frames import Frame, RunningFrames
from gpuprof.capture.memory.storage_use import ParameterCopies, StorageUse
from gpuprof.capture.memory.unnamed_lists import unnamed_lists
from gpuprof.model.memory import UNNAMED, HeldTensors
from gpuprof.units import NS_PER_MS

LEAST_BYTES = 1 << 20
# many small losses, each with its graph, are a leak too
LEAST_GRAPHS = 32
# what a name held at the peak and gave back before the end
LEAST_PEAK_BYTES = 32 << 20
_LEAST_GIVEN_BACK = 0.25
_NAMES = ("global", "module")
# of the growth: with less in names, lists without a name are looked for
_MOST_EXPLAINED = 0.5
# of processor time: beside other work the same is found
_MOST_NS = 40 * NS_PER_MS
_MOST_GRAPHS_NS = 60 * NS_PER_MS
# for the numbers of large tensors and arrays
_MOST_CONTENT_NS = 40 * NS_PER_MS
# while the cell runs
_MOST_RUNNING_NS = 10 * NS_PER_MS
# where memory has grown by so much in the cell: a graph of thousands of nodes may be why
_MUCH_BYTES = 256 << 20
_MOST_RUNNING_GRAPHS_NS = 45 * NS_PER_MS
# of the time that is left when a name's turn comes: a long list of small tensors must not take all of it
_FOR_OTHERS = 0.5
_HOOKS_AT_STEP = 2
_LAST_OUTPUTS = ("_", "__", "___")
_UNSIZED = (NotImplementedError, RuntimeError, AttributeError, TypeError)
# by name of the notebook: the hook's function, and the module that calls it: "" for one of several
_Hooked = dict[str, tuple[str, str]]


class HeldTensorsList(Signal):
    """What the notebook's names hold, listed once as the cell ends, and what the variables of running functions of the
    notebook held when the process was largest."""

    field = "held"

    def __init__(self, cell: WatchedCell | None = None):
        super().__init__(cell)
        self._failed: tuple[str, ...] = ()
        self._hooked: _Hooked = {}
        self._frames = RunningFrames(self.cell.namespace, self._held_now, MainThreadBudget())
        self._allocated = AllocatedBytes()

    def after_step(self, optimizer: Any, times: int) -> None:
        """Remember the names that hooks can fill: the cell may remove its hooks before it ends."""
        if times == _HOOKS_AT_STEP and self.cell.namespace is not None:
            with contextlib.suppress(Exception):  # the user's objects may do anything: the step must go on
                self._hooked |= hooked_names(self.cell.namespace)[0]

    def tick(self, resident_bytes: int) -> None:
        """Have the running functions looked at where memory has grown, of the process or of its devices."""
        self._frames.tick(resident_bytes + sum(self._allocated.by_device().values()))

    def end(self) -> None:
        """No function is looked at any more."""
        self._frames.end()

    def _held_now(self, frames: list[Frame]) -> tuple[HeldTensors, ...]:
        assert self.cell.namespace is not None
        found = held_tensors(self.cell.namespace, self.cell.source, self._hooked, frames, self._frames.grown_bytes)
        return tuple(each for each in found if each.kind in ("frame", "global"))

    def facts(self) -> tuple[HeldTensors, ...] | None:
        """The list; None where there is no notebook, or where its objects could not be looked at."""
        if self.cell.namespace is None:
            return None
        try:
            found = held_tensors(self.cell.namespace, self.cell.source, self._hooked)
            return found + at_peak(self._frames.found, found)
        except Exception as error:  # noqa: BLE001  - the user's objects may do anything; the run must be saved
            self._failed = (f"the tensors that the notebook holds could not be listed ({type(error).__name__})",)
            return None

    def notes(self) -> tuple[str, ...]:
        """Why there is no list."""
        return self._failed


def at_peak(then: Sequence[HeldTensors], at_end: Sequence[HeldTensors]) -> tuple[HeldTensors, ...]:
    """Of what names and variables held at the peak what is not told by `at_end`: the names that held much more."""
    found = []
    left = {(each.name, each.device): _held(each) for each in at_end if each.kind in _NAMES}
    for each in then:
        before = left.get((each.name, each.device), 0)
        if each.kind == "frame":
            found.append(each)
        elif _held(each) - before >= max(LEAST_PEAK_BYTES, _LEAST_GIVEN_BACK * _held(each)):
            found.append(msgspec.structs.replace(each, kind="peak", used=True))
    return tuple(found)


def hooked_names(namespace: Mapping[str, Any]) -> tuple[_Hooked, list[Hook]]:
    """The names of `namespace` that a forward hook of its models can fill, and the hooks that fill something else."""
    found: _Hooked = {}
    others: list[Hook] = []
    hooks = list(hooks_of(modules_in(namespace)))
    if not hooks:
        return found, others
    containers = Containers()
    names = containers.names(namespace)
    for hook in hooks:
        mine = {name for each in containers.of_hook(hook.function) for name in names.get(id(each), ())}
        if not mine:
            others.append(hook)
        for name in mine:
            first, module = found.setdefault(name, (hook.name, hook.module))
            if module != hook.module:
                found[name] = (first, "")
    return found, others


def held_tensors(
    namespace: Mapping[str, Any],
    source: str | None,
    hooked: _Hooked | None = None,
    frames: Sequence[Frame] | None = None,
    grown_bytes: int = 0,
) -> tuple[HeldTensors, ...]:
    """What the names of `namespace` hold, the largest first: a MiB or more, or many autograd graphs.

    `source` is the cell's code. Hidden names (`_x`) but those of IPython are left out. `hooked`: names that a forward
    hook could fill at an earlier time. `frames`: while the cell runs, its functions, whose variables come last, and
    `grown_bytes`, by which memory has grown in it.
    """
    import torch

    own = {name: value for name, value in namespace.items() if isinstance(name, str) and not name.startswith("_")}
    own = {name: value for name, value in own.items() if name not in ("In", "Out")}
    mentions = ReferencedNames(own, source)
    now, others = hooked_names(namespace)
    walk = _Walk({**(hooked or {}), **now}, ParameterCopies(modules_in(own)), "global" if frames is None else "frame")
    shared = _shared(own, namespace)
    # what is in use claims its storages first: a dataset or trainer in use may hold what an unused name holds as well
    for used in (True, False):
        mine = {name: value for name, value in own.items() if mentions.uses(name) is used}
        for models in (True, False):
            for name, value in mine.items():
                if issubclass(type(value), torch.nn.Module | torch.optim.Optimizer) is models:
                    kind = "module" if models else "global"
                    walk.claim(name, kind, value, used=used or name in shared)
    outputs = namespace.get("Out")
    for number, value in list(outputs.items()) if isinstance(outputs, dict) else []:
        walk.claim(f"Out[{number}]", "output", value)
    for name in _LAST_OUTPUTS:
        walk.claim(name, "output", namespace.get(name))
    if frames is None:
        _claim_traceback(walk)
    else:
        much = grown_bytes >= _MUCH_BYTES
        walk.hurry(_MOST_RUNNING_NS, _MOST_RUNNING_GRAPHS_NS if much else _MOST_RUNNING_NS)
    for frame in frames or ():
        for name, value in frame.variables.items():
            walk.claim(f"{name} in {frame.function}()", "frame", value, used=True)
    filling = tuple(frame.filling for frame in frames or () if frame.filling)
    for old in (False, True) if filling else ():
        if walk.bytes < _MOST_EXPLAINED * grown_bytes:
            values = unnamed_lists(old=old)
            walk.hurry(_MOST_RUNNING_NS, _MOST_RUNNING_NS)
            for value in values:
                walk.claim(UNNAMED, "frame", value, used=True, filling=filling)
    for hook in others:
        walk.claim(hook.name, "hook", Containers().of_hook(hook.function), used=True, hook=(hook.name, hook.module))
    return walk.found()


class _Walk:
    """Counts storages once, under the first name that reaches them. Of the names of the kind `looked_into` the content
    of large tensors and arrays is looked at, too."""

    def __init__(self, hooked: _Hooked, copies: ParameterCopies, looked_into: str) -> None:
        self._looked_into = looked_into
        self._hooked = hooked
        self._copies = copies
        self._use = StorageUse()
        # the storages of each row
        self._storages: list[list[tuple[Key, int]]] = []
        self._claimed = ClaimedMemory()
        self._values = HeldValues(_MOST_NS)
        self._rows: list[HeldTensors] = []
        # tensors with a graph, by the name and kind that hold them
        self._graphs: dict[tuple[str, str], list[Any]] = {}
        self._content_ns = _MOST_CONTENT_NS
        self._most_graphs_ns = _MOST_GRAPHS_NS

    @property
    def bytes(self) -> int:
        """Of all that is claimed."""
        return self._values.bytes

    def hurry(self, most_ns: int, graphs_ns: int) -> None:
        """Take that long at most for what is left to claim and for content, and for graphs."""
        self._values.until_ns = time.thread_time_ns() + most_ns
        self._content_ns, self._most_graphs_ns = most_ns, graphs_ns

    def found(self) -> tuple[HeldTensors, ...]:
        """The large rows; asked once: graphs are weighed last, when all that has a name is claimed."""
        for at, storages in enumerate(self._storages):
            row = self._rows[at]
            if row.kind != "module":
                unseen = round(self._use.unseen_bytes(storages) / row.looked_share)
                self._rows[at] = msgspec.structs.replace(row, unseen_bytes=unseen)
        self._weigh_graphs()
        rows = [row for row in self._rows if _held(row) >= LEAST_BYTES or row.graphs >= LEAST_GRAPHS]
        return tuple(sorted(rows, key=lambda row: -_held(row)))

    def claim(
        self,
        name: str,
        kind: str,
        value: Any,
        *,
        used: bool = False,
        hook: tuple[str, str] | None = None,
        filling: tuple[tuple[str, int], ...] = (),
    ) -> None:
        parts: dict[str, HeldPart] = {}
        before: Any = None
        values, began = self._values, self._values.bytes
        later_ns = values.set_aside(_FOR_OTHERS)
        for each in values.of(value):
            # what is in a gradient, the name did not make
            gradient, before = _is_gradient(each, before), each
            try:
                storages, device, graph = _memory_of(each)
                self._use.note(each, storages, graph=graph)
            except _UNSIZED:
                continue
            fresh = self._claimed.fresh(storages)
            if fresh:
                part = parts.get(device)
                if part is None:
                    part = parts[device] = HeldPart()
                values.bytes += part.add(each, fresh, values.steps, graph=graph, cycled=values.cycles > 0)
                large = sum(size for _, size in storages) >= LEAST_CONTENT_BYTES
                if large and not gradient and kind == self._looked_into and self._content_ns > 0:
                    from_ns = time.thread_time_ns()
                    part.look_inside(each, _attribute(value, each))
                    self._paid_for_content(time.thread_time_ns() - from_ns)
                if graph:
                    self._graphs.setdefault((name, kind), []).append(each)
        values.until_ns += later_ns
        known = hook or (self._hooked.get(name) if kind == "global" else None)
        hook_name, hooked = known or (None, None)
        copies = self._copies if kind in ("global", "frame") else None
        counted = values.bytes - began
        looked_share = counted / (counted + values.missing_bytes) if counted else 1.0
        for device, part in parts.items():
            self._storages.append(part.storages)
            row = part.row(
                value,
                copies,
                looked_share,
                name=name,
                kind=kind,
                device=device,
                used=used,
                hook=hook_name,
                filling=filling,
                hooked=hooked,
            )
            self._rows.append(row)

    def _paid_for_content(self, spent_ns: int) -> None:
        """It has a time of its own: what names hold is listed in full all the same."""
        self._content_ns -= spent_ns
        self._values.until_ns += spent_ns

    def _weigh_graphs(self) -> None:
        graphs = GraphBytes(self._claimed.keys, time.thread_time_ns() + self._most_graphs_ns)
        for (name, kind), tensors in sorted(self._graphs.items(), key=lambda each: -len(each[1])):
            sizes = graphs.of(tensors)
            mine = [at for at, row in enumerate(self._rows) if (row.name, row.kind) == (name, kind)]
            first = self._rows[mine[0]]
            for at in mine:
                row = self._rows[at]
                self._rows[at] = msgspec.structs.replace(row, graph_bytes=sizes.pop(row.device, 0))
            # `outputs.append(net(x).cpu())` keeps a graph of the device
            for device, size in sizes.items():
                apart = msgspec.structs.replace(first, device=device, bytes=0, tensors=0, graphs=0, graph_bytes=size)
                self._rows.append(apart)
        self._graphs.clear()


def _memory_of(value: Any) -> tuple[list[tuple[Key, int]], str, bool]:
    """Its storages, their device, and whether it has a graph."""
    if is_array(value):
        return storages_of_array(value), "cpu", False
    return storages_of(value), str(value.device), value.grad_fn is not None


def _is_gradient(value: Any, before: Any) -> bool:
    return is_tensor(before) and before.is_leaf and before.grad is value


def _attribute(value: Any, inner: Any) -> str:
    """The attribute of the object that is `inner`."""
    return next((name for name, each in (attributes_of(value) or {}).items() if each is inner), "")


def _held(row: HeldTensors) -> int:
    return row.bytes + (row.graph_bytes or 0)


def _shared(own: dict[str, Any], namespace: Mapping[str, Any]) -> set[str]:
    """The names to whose value something else refers too: an attribute, a container, a running generator."""
    probe = {"value": object()}
    alone = _references(dict(probe), probe)["value"]
    return {name for name, references in _references(own, namespace).items() if references > alone}


def _references(own: dict[str, Any], namespace: Mapping[str, Any]) -> dict[str, int]:
    outputs = namespace.get("Out")
    known = [*own.values(), *namespace.values(), *(outputs.values() if isinstance(outputs, dict) else ())]
    named = Counter(map(id, known))
    del known
    return {name: sys.getrefcount(value) - named[id(value)] for name, value in own.items()}


def _claim_traceback(walk: _Walk) -> None:
    error = getattr(sys, "last_value", None)
    traceback: TracebackType | None = getattr(error, "__traceback__", None) or getattr(sys, "last_traceback", None)
    while traceback is not None:
        frame = traceback.tb_frame
        module = str(frame.f_globals.get("__name__", ""))
        # module level variables are globals; IPython's own frames may still run
        if frame.f_locals is not frame.f_globals and not module.startswith(("IPython", "ipykernel")):
            function = frame.f_code.co_name
            for name, value in list(frame.f_locals.items()):
                walk.claim(f"{name} in {function}()", "traceback", value)
        traceback = traceback.tb_next
