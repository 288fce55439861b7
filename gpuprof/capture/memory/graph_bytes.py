"""How much autograd graphs keep for a backward pass that has not run, without unpacking or keeping any of it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from typing import Any

from gpuprof.capture.base.storages import Key, is_tensor, storages_of

_MOST_NODES = 20_000
_SAVED = "_raw_saved_"
_UNREADABLE = (NotImplementedError, RuntimeError, AttributeError, TypeError)


class GraphBytes:
    """Weighs graphs until `until_ns` (thread_time). What is in `claimed`, and the leaves of the graphs (weights), are
    not counted; each storage counts for the first graph that keeps it.

    Only raw saved values are looked at: hooks that unpack them are the user's code, and may copy.
    """

    def __init__(self, claimed: set[Key], until_ns: int):
        self._claimed = claimed
        self._until_ns = until_ns
        # kept here so that no two nodes share an address while this lasts
        self._nodes: dict[int, Any] = {}
        self._saved_of: dict[type, tuple[str, ...]] = {}

    def of(self, tensors: list[Any]) -> dict[str, int]:
        """Bytes by device that the graphs of `tensors` keep; where time ends, as much for each as for the median of
        those that were weighed."""
        weighed: list[dict[str, int]] = []
        # in their order: where each graph goes on from the one before, each is found to add its own part
        for tensor in tensors:
            sizes, whole = self._one(tensor.grad_fn)
            if not whole:
                break
            weighed.append(sizes)
        if not weighed:
            return sizes if tensors else {}
        devices = {device for sizes in weighed for device in sizes}
        if len(weighed) == len(tensors):
            return {device: sum(sizes.get(device, 0) for sizes in weighed) for device in devices}
        each = {device: statistics.median_low(sizes.get(device, 0) for sizes in weighed) for device in devices}
        return {device: size * len(tensors) for device, size in each.items() if size}

    def _one(self, root: Any) -> tuple[dict[str, int], bool]:
        saved: dict[Key, int] = {}
        leaves: set[Key] = set()
        waiting, whole = [root], True
        while waiting:
            node = waiting.pop()
            if node is None or id(node) in self._nodes:
                continue
            if len(self._nodes) >= _MOST_NODES or time.thread_time_ns() > self._until_ns:
                whole = False
                break
            self._nodes[id(node)] = node
            try:
                waiting.extend(each for each, _ in object.__getattribute__(node, "next_functions"))
                if type(node).__name__ == "AccumulateGrad":
                    leaves.update(key for key, _ in storages_of(node.variable))
                for tensor in self._saved(node):
                    saved.update(storages_of(tensor))
            except _UNREADABLE:
                continue
        self._claimed |= leaves
        sizes: dict[str, int] = {}
        for key, size in saved.items():
            if key not in self._claimed:
                self._claimed.add(key)
                sizes[str(key[0])] = sizes.get(str(key[0]), 0) + size
        return sizes, whole

    def _saved(self, node: Any) -> Iterator[Any]:
        kind = type(node)
        names = self._saved_of.get(kind)
        if names is None:
            found = {name for base in kind.__mro__ for name in vars(base) if name.startswith(_SAVED)}
            names = self._saved_of[kind] = tuple(sorted(found))
        for name in names:
            try:
                value = object.__getattribute__(node, name)
            except _UNREADABLE:  # a graph that has gone backward keeps nothing
                continue
            for each in value if type(value) in (list, tuple) else (value,):
                data = getattr(each, "data", None)
                if is_tensor(data):
                    yield data
