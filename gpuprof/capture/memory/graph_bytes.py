"""How much autograd graphs keep for a backward pass that has not run, without unpacking or keeping any of it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from typing import Any

from gpuprof.capture.base.storages import Key, is_tensor, storages_of

_MOST_NODES = 20_000
# of the time that is left, for finding the nodes; the rest weighs as many of them as it can
_TO_WALK = 0.75
# nodes that are weighed together, and every how many of such blocks comes first
_BLOCK, _STRIDE = 64, 16
_ASKED = 16
_SAVED = "_raw_saved_"
_UNREADABLE = (NotImplementedError, RuntimeError, AttributeError, TypeError)


class GraphBytes:
    """Weighs graphs until `until_ns` (thread_time), of a large one a part that stands for all of it. What is in
    `claimed`, and the leaves of the graphs (weights), are not counted; each storage counts for the first graph that
    keeps it.

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
        """By device, and whether the graph was walked to its end."""
        nodes, whole = self._walk(root)
        order = _spread(len(nodes))
        saved: dict[Key, int] = {}
        weighed = 0
        for at in order:
            # the first part of a graph in any case
            if weighed and weighed % _BLOCK == 0 and time.thread_time_ns() > self._until_ns:
                break
            weighed += 1
            try:
                for tensor in self._saved(nodes[at]):
                    saved.update(storages_of(tensor))
            except _UNREADABLE:
                continue
        sizes: dict[str, int] = {}
        for key, size in saved.items():
            if key not in self._claimed:
                self._claimed.add(key)
                sizes[str(key[0])] = sizes.get(str(key[0]), 0) + size
        # what was not weighed is like what was
        return {device: size * len(nodes) // weighed for device, size in sizes.items()}, whole

    def _walk(self, root: Any) -> tuple[list[Any], bool]:
        """Nodes that no graph before had, in the order of depth; with weights and their like claimed. In a part of the
        time, so that some is left to weigh them."""
        now = time.thread_time_ns()
        until_ns = now + _TO_WALK * (self._until_ns - now)
        found: list[Any] = []
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if node is None or id(node) in self._nodes:
                continue
            # to ask for the time takes as long as a node
            if len(self._nodes) >= _MOST_NODES or (len(found) % _ASKED == 0 and time.thread_time_ns() > until_ns):
                return found, False
            self._nodes[id(node)] = node
            found.append(node)
            try:
                for each, _ in object.__getattribute__(node, "next_functions"):
                    waiting.append(each)
                if type(node).__name__ == "AccumulateGrad":
                    self._claimed.update(key for key, _ in storages_of(node.variable))
            except _UNREADABLE:
                continue
        return found, True

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


def _spread(count: int) -> Iterator[int]:
    """All of 0..count - 1, in blocks that are spread over them: nodes next to each other may keep the same tensor."""
    for first in range(_STRIDE):
        for begin in range(first * _BLOCK, count, _STRIDE * _BLOCK):
            yield from range(begin, min(begin + _BLOCK, count))
