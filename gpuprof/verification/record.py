"""One run of a variant, looked at closely: what it computed, from which batches, in how many steps. Not for timing."""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterable
from typing import Any

from gpuprof.capture.base.tensor_memory import array_of
from gpuprof.errors import VerificationError
from gpuprof.verification.cells.hooks import BlockEnd, Counted, Listener

GUARD_STEPS = 20
_MOST_NODES = 200_000
_FEWEST = 3
_FOR_THE_GUARD = 2  # times as long, where that makes it 20 steps


class Record(Listener):
    """Ends the run after `stop_after` steps of the kind `counted`, or `longest_ns` after its first step.

    `earlier` are graph nodes made before the cell: a backward pass through one would use up what belongs to the user.
    """

    def __init__(
        self,
        *,
        stop_after: int | None = None,
        counted: Counted | None = None,
        longest_ns: int | None = None,
        gradients: bool = False,
        earlier: Iterable[Any] = (),
    ):
        self._stop_after, self._counted, self._longest_ns = stop_after, counted, longest_ns
        self._wants_gradients = gradients
        self._earlier = list(earlier)
        self.start_ns = 0
        self.end_ns = 0
        self.ends_ns: dict[Counted, list[int]] = {kind: [] for kind in Counted}
        self.batches: list[int] = []
        self.shapes: list[Any] = []
        self._samples: list[int] = []
        self._given = 0
        self.loaders: list[int] = []
        self.prefetched = 0
        self.backwards = 0
        self.gradients: list[Any] = []
        self.with_gradient: int | None = None
        self.whole = False
        self._losses: list[Any] = []
        self._optimizers: dict[int, Any] = {}

    @property
    def counted(self) -> Counted:
        """What its steps are counted by."""
        return max((kind for kind, ends in self.ends_ns.items() if ends), default=Counted.NOTHING)

    @property
    def steps(self) -> int:
        """How many it made."""
        return len(self.ends_ns[self.counted])

    @property
    def samples_per_step(self) -> float | None:
        """By the sizes of its first 20 batches; None where it took none from a DataLoader."""
        return sum(self._samples) / len(self._samples) * self._given / self.steps if self._samples else None

    @property
    def set_up_ns(self) -> int:
        """From its start to the end of its first step; 0 where it made none."""
        ends = self.ends_ns[self.counted]
        return ends[0] - self.start_ns if ends else 0

    def begin(self) -> None:
        """The run is about to start."""
        self.start_ns = time.perf_counter_ns()

    def finish(self, *, whole: bool) -> None:
        """The run has ended, by itself or (not `whole`) by us."""
        self.whole, self.end_ns = whole, time.perf_counter_ns()
        self._earlier = []

    def losses(self) -> list[float]:
        """The loss of each backward pass (or call) of the first 20 steps; the mean where it has several elements."""
        return [float(each.double().mean()) if each.numel() else 0.0 for each in self._losses]

    def weights(self) -> list[float]:
        """The norm of every parameter of every optimizer that stepped, as it is now."""
        return [
            float(parameter.detach().double().norm())
            for optimizer in self._optimizers.values()
            for group in optimizer.param_groups
            for parameter in group["params"]
        ]

    def forget(self) -> None:
        """Let go of the optimizers, and with them of models that the cell made."""
        self._optimizers.clear()

    def stepped(self, counted: Counted, count: int) -> None:
        """Note when; end the run where it is time."""
        ends = self.ends_ns[counted]
        if count <= len(ends):
            return
        ends.append(time.perf_counter_ns())
        if self._stop_after is not None:
            if counted is self._counted and count >= self._stop_after:
                raise BlockEnd
        elif (
            self._longest_ns is not None
            and counted is self.counted
            and count > _FEWEST
            and ends[-1] - ends[0] > self._longest_ns * (1 if count > GUARD_STEPS else _FOR_THE_GUARD)
        ):
            raise BlockEnd

    def loader_started(self, prefetched: int) -> None:
        """Note at which batch."""
        self.loaders.append(len(self.ends_ns[Counted.BATCH]))
        self.prefetched = max(self.prefetched, prefetched)

    def batch(self, batch: Any) -> None:
        """Keep its checksum and its shapes."""
        self._given += 1
        if len(self.batches) >= GUARD_STEPS:
            return
        leaves = list(_leaves(batch))
        self.batches.append(_checksum(leaves))
        self.shapes.append([getattr(each, "shape", None) for each in leaves])
        first = next((each for each in leaves if getattr(each, "ndim", 0)), None)
        self._samples.append(1 if first is None else int(first.shape[0]))

    def backward(self, roots: Any) -> None:
        """Keep the loss."""
        tensors = [roots] if _is_tensor(roots) else [each for each in roots if _is_tensor(each)]
        self.backwards += 1
        if self._earlier:
            self._refuse_earlier(tensors)
        if self.steps < GUARD_STEPS:
            self._losses.extend(each.detach().clone() for each in tensors)

    def returned(self, value: Any) -> None:
        """What a function returns counts as its loss where it ran no backward pass."""
        import torch

        if self.backwards == 0 and self.steps < GUARD_STEPS and isinstance(value, torch.Tensor | float | int):
            self._losses.append(torch.as_tensor(value).detach().clone())

    def before_step(self, optimizer: Any) -> None:
        """Keep the optimizer, and before its first step the gradients."""
        self._optimizers.setdefault(id(optimizer), optimizer)
        if self.with_gradient is not None:
            return
        found = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        self.with_gradient = len(found)
        if self._wants_gradients:
            self.gradients = [each.detach().to_dense().float().cpu() for each in found]

    def _refuse_earlier(self, roots: list[Any]) -> None:
        seen: set[Any] = set()
        waiting = [root.grad_fn for root in roots if root.grad_fn is not None]
        while waiting and len(seen) < _MOST_NODES:
            node = waiting.pop()
            if node in seen:
                continue
            if any(node is each for each in self._earlier):
                raise VerificationError(
                    "the cell runs backward() through a graph that an earlier cell made: that would use it up; compute "
                    "the loss inside the cell, or measure two functions with gpuprof.verify(a, b)"
                )
            seen.add(node)
            waiting.extend(before for before, _ in node.next_functions if before is not None)


def _is_tensor(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def _leaves(batch: Any) -> Iterable[Any]:
    if isinstance(batch, dict):
        for each in batch.values():
            yield from _leaves(each)
    elif isinstance(batch, list | tuple):
        for each in batch:
            yield from _leaves(each)
    else:
        yield batch


def _checksum(leaves: list[Any]) -> int:
    import numpy as np

    found = 0
    for leaf in leaves:
        if _is_tensor(leaf):
            import torch

            dense = leaf.detach().to_dense().contiguous().cpu()
            raw = array_of(dense.reshape(-1).view(torch.uint8)).tobytes() if dense.numel() else b""
        else:
            # the text of any other object would hold its address
            plain = leaf if isinstance(leaf, str | bytes | int | float | None) else type(leaf).__name__
            raw = leaf.tobytes() if isinstance(leaf, np.ndarray) else repr(plain).encode()
        found = zlib.crc32(raw, found)
    return found
