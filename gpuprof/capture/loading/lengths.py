"""How long the user's datasets and samplers are, learned when the loop itself asks.

`__len__` may count files or query a database, so it is never called for us. While a cell runs, the `__len__` of a class
of the user's notes what it returns. torch asks once per pass.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

from gpuprof.capture.base.tracebacks import leave_out_everywhere

_PLAIN = (list, tuple, dict, range)


class Lengths:
    """From `watch` to `forget` the lengths of the watched objects are noted; `end` leaves the classes as they were."""

    def __init__(self) -> None:
        self._wanted: set[int] = set()
        self._seen: dict[int, int] = {}
        self._replaced: dict[type, tuple[Any, Any]] = {}

    def watch(self, *objects: Any) -> None:
        """Note what `len()` of these gives from now on."""
        for each in objects:
            owner = _owner(each)
            if owner is None or _is_torchs(owner) or not isinstance(vars(owner)["__len__"], FunctionType):
                continue
            self._wanted.add(id(each))
            if owner not in self._replaced:
                original = vars(owner)["__len__"]
                self._replaced[owner] = original, self._noting(original)
                owner.__len__ = self._replaced[owner][1]  # type: ignore[attr-defined]

    def end(self) -> None:
        """Put every `__len__` back, unless somebody has replaced ours meanwhile. What was seen is still known."""
        while self._replaced:
            owner, (original, installed) = self._replaced.popitem()
            if vars(owner).get("__len__") is installed:
                owner.__len__ = original  # type: ignore[attr-defined]

    def forget(self) -> None:
        """Begin anew, for another cell."""
        self.end()
        self._wanted.clear()
        self._seen.clear()

    def of(self, sized: Any) -> int | None:
        """Its length, None where nobody has asked for it and only the user's code could tell."""
        from torch.utils.data import ConcatDataset, Subset, TensorDataset

        if isinstance(sized, _PLAIN) and type(sized) in _PLAIN:
            return len(sized)
        if type(sized) in _arrays():
            return int(sized.shape[0]) if len(sized.shape) else None
        owner = _owner(sized)
        if owner is Subset:
            return self.of(sized.indices)
        return len(sized) if owner in (TensorDataset, ConcatDataset) else self._seen.get(id(sized))

    def by_id(self, identity: int) -> int | None:
        """The length that was noted of the object of that `id`, which a forked process has as well."""
        return self._seen.get(identity)

    def samples(self, sampler: Any) -> int | None:
        """How many indices a sampler gives."""
        from torch.utils import data

        owner = _owner(sampler)
        if owner is data.SequentialSampler:
            return self.of(sampler.data_source)
        if owner is data.RandomSampler:
            chosen = sampler._num_samples
            return self.of(sampler.data_source) if chosen is None else int(chosen)
        if owner is data.SubsetRandomSampler:
            return self.of(sampler.indices)
        if owner in (data.WeightedRandomSampler, data.DistributedSampler):
            return int(sampler.num_samples)
        return self.of(sampler)

    def batches(self, sampler: Any) -> int | None:
        """How many batches the index sampler of a DataLoader gives: a batch sampler, or one of single samples."""
        from torch.utils.data import BatchSampler

        if _owner(sampler) is not BatchSampler:
            return self.samples(sampler)
        samples = self.samples(sampler.sampler)
        if samples is None:
            return None
        size = int(sampler.batch_size)
        return samples // size if sampler.drop_last else -(-samples // size)

    def _noting(self, original: Callable[[Any], int]) -> Callable[[Any], int]:
        @functools.wraps(original)
        def __len__(sized: Any) -> int:  # noqa: N807
            try:
                length = original(sized)
            except BaseException as error:
                leave_out_everywhere(error)
                raise
            if id(sized) in self._wanted:
                self._seen[id(sized)] = length
            return length

        return __len__


LENGTHS = Lengths()


def _arrays() -> tuple[type, ...]:
    """Whose length is that of their first axis."""
    known = ((name, sys.modules.get(module)) for module, name in (("numpy", "ndarray"), ("torch", "Tensor")))
    found = (getattr(module, name, None) for name, module in known)
    return tuple(each for each in found if isinstance(each, type))


def _owner(sized: Any) -> type | None:
    """The class whose `__len__` counts."""
    return next((each for each in type(sized).__mro__ if "__len__" in vars(each)), None)


def _is_torchs(owner: type) -> bool:
    return owner.__module__.startswith("torch.utils.data.")
