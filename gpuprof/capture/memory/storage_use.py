"""How much of the storages that names hold is shown by the tensors and arrays over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from gpuprof.capture.base.storages import Key
from gpuprof.capture.memory.array_memory import is_array, views_of_owner
from gpuprof.capture.memory.modules import Named

# a tensor that shows as much of its storage needs most of it
_MOST_SHOWN = 0.5
_MOST_MODELS = 50
# by shape and dtype
Shapes = Counter[tuple[tuple[int, ...], Any]]


class StorageUse:
    """Adds up what all tensors and arrays seen show of each storage. Views of the same part count more than once."""

    def __init__(self) -> None:
        self._shown: dict[Key, int] = {}
        # of the memory of arrays, the ids of its views, and how many references to it there are
        self._views: dict[Key, tuple[set[int], int]] = {}

    def note(self, value: Any, storages: list[tuple[Key, int]], *, graph: bool = False) -> None:
        """A tensor or array over these storages. One with a `graph`, and one that is not strided, needs them whole."""
        whole = len(storages) != 1 or graph
        shown = 0 if whole else int(value.nbytes)
        if is_array(value) and is_array(value.base) and len(storages) == 1:
            seen, _ = self._views.get(storages[0][0], (set[int](), 0))
            self._views[storages[0][0]] = (seen | {id(value)}, views_of_owner(value))
        for key, size in storages:
            self._shown[key] = min(self._shown.get(key, 0) + (size if whole else shown), size)

    def unseen_bytes(self, storages: Iterable[tuple[Key, int]]) -> int:
        """What no tensor shows of those storages of which at most half is shown. An array to which something else
        refers may be shown there: a table of pandas, or an array of another library."""
        known = (each for each in storages if not self._has_others(each[0]))
        shown = ((size, self._shown.get(key, size)) for key, size in known)
        return sum(size - seen for size, seen in shown if seen <= _MOST_SHOWN * size)

    def _has_others(self, key: Key) -> bool:
        seen, references = self._views.get(key, ((), 0))
        return references > len(seen)


class ParameterCopies:
    """Finds whole sets of a model's parameters among other tensors, by shape and type."""

    def __init__(self, modules: list[Named]):
        self._models: list[tuple[Shapes, int]] = []
        for _, module in modules[:_MOST_MODELS]:
            parameters = list(module.parameters())
            if parameters:
                size = sum(each.numel() * each.element_size() for each in parameters)
                self._models.append((Counter(map(shape_of, parameters)), size))

    def among(self, shapes: Shapes) -> tuple[int, int]:
        """How many sets of one model there are, and their bytes; of the model with the most bytes."""
        found = [(min(shapes[each] // number for each, number in own.items()), size) for own, size in self._models]
        return max(((sets, sets * size) for sets, size in found), key=lambda each: each[1], default=(0, 0))


def shape_of(tensor: Any) -> tuple[tuple[int, ...], Any]:
    """Shape and dtype."""
    return tuple(tensor.shape), tensor.dtype
