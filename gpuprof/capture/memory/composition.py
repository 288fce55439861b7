"""What memory models and optimizers hold: parameters, gradients, optimizer state and buffers, by storage."""

from __future__ import annotations

import contextlib
import sys
import time
import weakref
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from gpuprof.capture.base.signal import Signal, WatchedCell
from gpuprof.capture.base.storages import Key, is_tensor, storages_of
from gpuprof.capture.memory.modules import Named, modules_around, modules_in
from gpuprof.model.memory import Composition, ModuleBytes
from gpuprof.units import NS_PER_MS

# the optimizer's state is there after the first step, and the second one is still warm-up
_STEPS = 2
_MOST_NS = 50 * NS_PER_MS
_MOST_TENSORS = 100_000
_MOST_MODULES = 12
_CATEGORIES = ("parameter_bytes", "gradient_bytes", "state_bytes", "buffer_bytes")
_UNSIZED = (NotImplementedError, RuntimeError, AttributeError, TypeError)


class CompositionWatch(Signal):
    """Weighs models and optimizers after the first optimizer steps and at the end; holds them weakly."""

    field = "compositions"

    def __init__(self, cell: WatchedCell | None = None):
        super().__init__(cell)
        self._optimizers: dict[int, weakref.ref[Any]] = {}
        self._found: dict[str, Composition] = {}
        self._cost_ns = 0
        self._steps = 0

    def after_step(self, optimizer: Any, times: int) -> None:
        """Weigh, while the gradients are there."""
        self._steps = max(self._steps, times)
        if times > _STEPS:
            return
        self._optimizers[id(optimizer)] = weakref.ref(optimizer)
        if self._cost_ns >= _MOST_NS:
            return
        began = time.perf_counter_ns()
        try:
            self._weigh(modules_around(sys._getframe(1), self.cell.namespace))
        except Exception:  # noqa: BLE001  - the user's objects may do anything: the steps must still be counted
            self._cost_ns = _MOST_NS
        self._cost_ns += time.perf_counter_ns() - began

    def facts(self) -> tuple[Composition, ...]:
        """One entry a device, weighed once more: what was missed before, and models that no optimizer steps."""
        with contextlib.suppress(Exception):  # as above: what is known stays
            self._weigh(modules_in(self.cell.namespace or {}))
        return tuple(self._found[device] for device in sorted(self._found))

    def _weigh(self, modules: list[Named]) -> None:
        alive = [found for reference in self._optimizers.values() if (found := reference()) is not None]
        scales = _Scales(modules)
        scales.weigh(alive)
        for found in scales.compositions(self._steps):
            earlier = self._found.get(found.device)
            self._found[found.device] = found if earlier is None else _larger(earlier, found)


class _Scales:
    """One weighing. A storage counts for the first category and part that claims it."""

    def __init__(self, modules: list[Named]):
        self._modules = modules
        self._part_of: dict[int, str] = {}
        self._seen: set[Key] = set()
        self._bytes: dict[str, dict[str, dict[str, int]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(int)))
        self._tensors = 0
        self._whole = True

    def weigh(self, optimizers: list[Any]) -> None:
        parameters, buffers = self._of_modules()
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                parameters |= {id(each): each for each in group["params"]}
        for each in parameters.values():
            self._claim("parameter_bytes", each, id(each))
        for key, each in parameters.items():
            if each.grad is not None:
                self._claim("gradient_bytes", each.grad, key)
        for optimizer in optimizers:
            for parameter, state in list(optimizer.state.items()):
                for tensor in _tensors_in(state):
                    self._claim("state_bytes", tensor, id(parameter))
        for key, each in buffers.items():
            self._claim("buffer_bytes", each, key)

    def compositions(self, steps: int) -> list[Composition]:
        found = []
        for device, parts in self._bytes.items():
            totals = {name: sum(part[name] for part in parts.values()) for name in _CATEGORIES}
            rows = [ModuleBytes(name=name, **part) for name, part in parts.items() if name]
            rows.sort(key=lambda row: -_total(row))
            found.append(
                Composition(
                    device=device,
                    **totals,
                    after_steps=steps,
                    whole=self._whole,
                    modules=tuple(rows[:_MOST_MODULES]),
                )
            )
        return found

    def _of_modules(self) -> tuple[dict[int, Any], dict[int, Any]]:
        parameters: dict[int, Any] = {}
        buffers: dict[int, Any] = {}
        for name, module in self._modules:
            for label, part, whole in _parts(name, module):
                for known, tensors in (
                    (parameters, part.parameters(recurse=whole)),
                    (buffers, part.buffers(recurse=whole)),
                ):
                    for tensor in tensors:
                        known.setdefault(id(tensor), tensor)
                        self._part_of.setdefault(id(tensor), label)
        return parameters, buffers

    def _claim(self, category: str, tensor: Any, owner: int) -> None:
        self._tensors += 1
        if self._tensors > _MOST_TENSORS:
            self._whole = False
            return
        try:
            storages = storages_of(tensor)
        except _UNSIZED:
            self._whole = False
            return
        for key, size in storages:
            if key not in self._seen:
                self._seen.add(key)
                self._bytes[str(key[0])][self._part_of.get(owner, "")][category] += size


def _parts(name: str, module: Any) -> Iterator[tuple[str, Any, bool]]:
    """`(label, module, whole)`: the module's own tensors, then its children wholly; through those with one child."""
    while True:
        yield name, module, False
        children = list(module.named_children())
        if len(children) != 1:
            break
        child, module = children[0]
        name = f"{name}.{child}"
    for child, part in children:
        yield f"{name}.{child}", part, True


def _tensors_in(value: Any, depth: int = 3) -> Iterator[Any]:
    if is_tensor(value):
        yield value
    elif depth and isinstance(value, dict | list | tuple):
        for inner in list(value.values()) if isinstance(value, dict) else value:
            yield from _tensors_in(inner, depth - 1)


def _total(row: ModuleBytes) -> int:
    return row.parameter_bytes + row.gradient_bytes + row.state_bytes + row.buffer_bytes


def _larger(earlier: Composition, later: Composition) -> Composition:
    """The larger of each figure: gradients may be gone by the end, state may have come."""
    return Composition(
        device=later.device,
        **{name: max(getattr(earlier, name), getattr(later, name)) for name in _CATEGORIES},
        after_steps=later.after_steps,
        whole=earlier.whole and later.whole,
        modules=max(earlier.modules, later.modules, key=lambda rows: sum(map(_total, rows))),
    )
