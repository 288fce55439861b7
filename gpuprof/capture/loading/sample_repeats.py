"""Whether a dataset makes the same samples again in every pass: some of them are compared, by their content."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Sequence
from typing import Any

from gpuprof.capture.base.tensor_memory import array_of

# enough to tell random changes from none; comparing then ends
_MOST_SAMPLES = 64
_EACH_BATCH = 4
# of a tensor: of larger ones elements are compared that lie evenly over it, since a change may be local
_MOST_ELEMENTS = 1 << 14
_MOST_LEAVES = 16
_MOST_PARTS = 256
_MOST_AHEAD = 10_000


class SampleRepeats:
    """Of one dataset: up to 64 samples are remembered as numbers, and compared when their indices are read again.

    Nothing of the user's is kept or changed. What is no batch of tensors with a row for each index is not compared.
    `sample_bytes`: of one sample, None as long as none was read.
    """

    def __init__(self) -> None:
        self.compared = self.same = 0
        self.sample_bytes: int | None = None
        self._known: dict[int, int] = {}

    @property
    def wanted(self) -> bool:
        """Whether more are to be compared; one that differs is enough."""
        return self.compared < _MOST_SAMPLES and self.same == self.compared

    def read(self, indices: tuple[int, ...], batch: Any) -> None:
        """This batch has the samples of these indices."""
        # in every iteration: the cheapest questions first
        if not self.wanted or not indices or type(indices[0]) is not int:
            return
        full = len(self._known) >= _MOST_SAMPLES
        if (full and self._known.keys().isdisjoint(indices)) or set(map(type, indices)) != {int}:
            return
        again = [row for row, index in enumerate(indices) if index in self._known]
        others = [row for row, index in enumerate(indices) if index not in self._known]
        fresh = others[: min(_EACH_BATCH, _MOST_SAMPLES - len(self._known))]
        leaves = _leaves(batch, len(indices)) if again or fresh else []
        if not leaves:
            return
        self.sample_bytes = self.sample_bytes or sum(each.nbytes // len(each) for each in leaves)
        for row in again[: _MOST_SAMPLES - self.compared]:
            self.compared += 1
            self.same += self._known[indices[row]] == _number(leaves, row)
        for row in fresh:
            self._known[indices[row]] = _number(leaves, row)


class DrawnIndices:
    """What the iterators of DataLoaders have asked for. Batches come in the order in which their indices were drawn, so
    that the next batch of an iterator has the earliest ones."""

    def __init__(self) -> None:
        self._drawn: weakref.WeakKeyDictionary[Any, deque[tuple[int, ...] | None]] = weakref.WeakKeyDictionary()

    def starts_anew(self, iterator: Any) -> None:
        """What it had drawn will not come."""
        self._drawn.pop(iterator, None)

    def draws(self, iterator: Any, indices: Any) -> None:
        """It asks for the samples of these indices."""
        queue = self._drawn.setdefault(iterator, deque())
        if len(queue) >= _MOST_AHEAD:
            # its batches are not seen to come: from here on nothing is known of it
            self._drawn[iterator] = deque(maxlen=0)
        else:
            kept = isinstance(indices, Sequence) and getattr(iterator, "_in_order", True)
            queue.append(tuple(indices) if kept else None)

    def next_of(self, iterator: Any) -> tuple[int, ...] | None:
        """Those of the batch that has come; None where they are not known."""
        queue = self._drawn.get(iterator)
        return queue.popleft() if queue else None


def _leaves(batch: Any, count: int) -> list[Any]:
    """The tensors of the batch as arrays, with a row for each of `count` samples; none where it holds others."""
    import torch

    found, waiting = list[Any](), [batch]
    while waiting:
        each = waiting.pop()
        if isinstance(each, torch.Tensor):
            told = type(each) is torch.Tensor and each.device.type == "cpu" and each.layout == torch.strided
            if not told or each.requires_grad or each.dtype == torch.bfloat16 or not each.dim() or len(each) != count:
                return []
            found.append(array_of(each))
        elif isinstance(each, (list, tuple)):
            waiting += each[: _MOST_LEAVES + 1]
        elif isinstance(each, dict):
            waiting += each.values()
        if len(found) > _MOST_LEAVES or len(waiting) > _MOST_PARTS:
            return []
    return found


def _number(leaves: list[Any], row: int) -> int:
    """The content of that row of all of them, with shapes and types; nothing but the number is kept."""
    parts = []
    for leaf in leaves:
        flat = leaf[row].reshape(-1)
        step = -(-flat.size // _MOST_ELEMENTS) or 1
        parts.append((flat[::step].tobytes(), leaf.shape[1:], leaf.dtype.str))
    return hash(tuple(parts))
