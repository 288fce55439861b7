"""What one name holds on one device, while it is added up."""

from __future__ import annotations

from collections import Counter
from typing import Any

from gpuprof.capture.base.storages import Key
from gpuprof.capture.memory.array_memory import is_array
from gpuprof.capture.memory.holder_levels import WaysIn, item_parts_of, levels_of
from gpuprof.capture.memory.narrow_content import narrow_in
from gpuprof.capture.memory.repeated_content import RepeatedNumbers, repeats_in
from gpuprof.capture.memory.storage_use import ParameterCopies, Shapes, shape_of
from gpuprof.capture.memory.zero_content import ZeroNumbers, zeros_in
from gpuprof.model.memory import HeldTensors


class HeldPart:
    """Tensors and arrays that a name holds on a device."""

    def __init__(self) -> None:
        self.storages: list[tuple[Key, int]] = []
        self._tensors = self._arrays = self._graphs = self._cycled_bytes = 0
        self._shapes: Shapes = Counter()
        self._ways = WaysIn()
        self._repeats = RepeatedNumbers(0, 1.0)
        self._zeros = ZeroNumbers(0, 0.0, False)
        # by the types from and to: bytes now and then
        self._narrow: dict[tuple[str, str], tuple[int, int]] = {}
        # the largest in which something was found
        self._needless = (0, "")
        self._largest: tuple[int, tuple[int, ...]] = (0, ())

    def add(
        self, value: Any, fresh: list[tuple[Key, int]], steps: list[str], *, graph: bool, cycled: bool = False
    ) -> int:
        """A tensor or array, and those of its storages that no name had yet; `steps` lead to it. `cycled`:
        `itertools.cycle` keeps it. Gives the bytes of these storages."""
        import torch

        self.storages += fresh
        self._tensors += 1
        self._arrays += is_array(value)
        self._graphs += graph
        added = sum(size for _, size in fresh)
        self._cycled_bytes += added if cycled else 0
        self._ways.add(steps, added)
        self._largest = max(self._largest, (added, tuple(value.shape)))
        if type(value) is torch.Tensor and not graph:
            self._shapes[shape_of(value)] += 1
        return added

    def look_inside(self, value: Any, attribute: str) -> None:
        """For zeros, for numbers that come again, and for numbers that a smaller type holds. `attribute`: the one of
        the name's object that is this value."""
        repeats, zeros = repeats_in(value), zeros_in(value)
        self._repeats = max(self._repeats, repeats or self._repeats)
        self._zeros = max(self._zeros, zeros or self._zeros)
        narrow = narrow_in(value) if repeats is None and zeros is None else None
        if narrow is not None:
            now, then = self._narrow.get(narrow.types, (0, 0))
            self._narrow[narrow.types] = now + narrow.wide_bytes, then + narrow.narrow_bytes
        if repeats or zeros or narrow:
            self._needless = max(self._needless, (int(value.nbytes), attribute))

    def row(self, value: Any, copies: ParameterCopies | None, looked_share: float = 1.0, **names: Any) -> HeldTensors:
        """With what is known of the name, which stands for `value`; `copies` where copies of a model's parameters are
        looked for. `looked_share` of it has been added."""
        number, copied = copies.among(self._shapes) if copies else (0, 0)
        types = max(self._narrow, key=lambda each: self._narrow[each][0] - self._narrow[each][1], default=("", ""))
        wide, narrow = self._narrow.get(types, (0, 0))
        way = self._ways.to_most()
        return HeldTensors(
            bytes=round(sum(size for _, size in self.storages) / looked_share),
            tensors=round(self._tensors / looked_share),
            arrays=round(self._arrays / looked_share),
            graphs=self._graphs,
            graph_bytes=0,
            cycled_bytes=round(self._cycled_bytes / looked_share),
            copies=round(number / looked_share),
            copied_bytes=round(copied / looked_share),
            repeated_bytes=self._repeats.bytes,
            repeated_times=round(self._repeats.times, 1),
            zeros_bytes=self._zeros.bytes,
            zeros_share=round(self._zeros.share, 5),
            one_hot=self._zeros.one_hot,
            wide_type=types[0],
            wide_bytes=wide,
            narrow_type=types[1],
            narrow_bytes=narrow,
            attribute=self._needless[1],
            shape=self._largest[1],
            levels=levels_of(value, way),
            way_bytes=round(self._ways.bytes_on(way) / looked_share),
            looked_share=round(looked_share, 4),
            item_parts=item_parts_of(value, self._ways, looked_share),
            **names,
        )
