"""A number that stands for the content of a value: equal numbers, equal contents.

Of large values a part is read, evenly over all of it, in place; nothing is kept but the number. No code of the user's
runs for it: an object of another class is what its attributes are.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import islice
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, NamedTuple

from gpuprof.capture.base.attributes import attributes_of
from gpuprof.capture.base.tensor_memory import array_of
from gpuprof.capture.base.transforms import transformed
from gpuprof.capture.lines.operand_facts import kind_name

# read whole up to here; of larger arrays so many blocks, evenly over their memory
_WHOLE_BYTES = 256 << 10
_BLOCKS, _BLOCK = 32, 1 << 10
# of one element: of an array of texts
_WIDEST_BYTES = 256
_MOST_ITEMS, _MOST_PARTS = 128, 2000
_DEPTH = 6
_VARIED = 16
_MANY = 1000
_SCALARS = frozenset(map(id, (int, float, complex, bool, str, bytes, type(None))))
# which stay the same object
_NAMED = frozenset(map(id, (FunctionType, BuiltinFunctionType, type, ModuleType)))
_SPARSE_PARTS = ("data", "indices", "indptr", "row", "col")


class ContentMark(NamedTuple):
    """`number`: of the content. `bytes`: of the value's numbers and texts, about. `told`: it has so many different
    numbers that it is no coincidence when another is like it."""

    number: int
    bytes: int
    told: bool


def mark_of(value: Any) -> ContentMark | None:
    """None for what is not looked into: tensors of a device or of a graph, and what holds too much."""
    return _Reading().mark(value, _DEPTH)


class _Reading:
    """Of one value, of which so many parts may be read."""

    def __init__(self) -> None:
        self._left = _MOST_PARTS

    def mark(self, value: Any, depth: int) -> ContentMark | None:
        self._left -= 1
        kind = type(value)
        if self._left < 0:
            return None
        if id(kind) in _SCALARS:
            return _of_scalar(value, kind)
        if id(kind) in _NAMED:
            return ContentMark(hash((kind_name(kind), id(value))), 8, told=False)
        numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
        if numpy is not None and kind is numpy.ndarray:
            return _of_array(value)
        if numpy is not None and issubclass(kind, numpy.generic):
            return ContentMark(hash((kind_name(kind), value.tobytes())), 8, told=False)
        if torch is not None and kind is getattr(torch, "Tensor", None):
            return _of_tensor(torch, value)
        return self._of_parts(value, kind, depth) if depth else None

    def _of_parts(self, value: Any, kind: type, depth: int) -> ContentMark | None:
        name = kind_name(kind)
        # by identity: comparing types may ask a metaclass of the user's
        if kind is list or kind is tuple:
            step = max(len(value) // _MOST_ITEMS, 1)
            return self._of_items(name, len(value), value[::step][: _MOST_ITEMS + 1], depth)
        if kind is dict:
            items = [part for pair in islice(value.items(), _MOST_ITEMS) for part in pair]
            return self._of_items(name, len(value), items, depth)
        held = attributes_of(value)
        if held is None:
            return None
        if name.startswith("pandas."):
            blocks = getattr(held.get("_mgr"), "blocks", None)
            return self._of_items(name, 1, [each.values for each in blocks], depth) if blocks else None
        if name.startswith("scipy.sparse."):
            parts = [held[each] for each in _SPARSE_PARTS if each in held]
            return self._of_items(name, 1, [held.get("_shape"), *parts], depth) if parts else None
        names = sorted(each for each in held if type(each) is str)
        return self._of_items(name, 1, [part for each in names for part in (each, held[each])], depth)

    def _of_items(self, kind: str, length: int, items: Iterable[Any], depth: int) -> ContentMark | None:
        marks = list[ContentMark]()
        for each in items:
            mark = self.mark(each, depth - 1)
            if mark is None:
                return None
            marks.append(mark)
        size = sum(each.bytes for each in marks) * length // max(len(marks), 1)
        different = len({each.number for each in marks})
        told = any(each.told for each in marks) or (different >= _VARIED and length >= _MANY)
        return ContentMark(hash((kind, length, *(each.number for each in marks))), size, told)


def _of_scalar(value: Any, kind: type) -> ContentMark:
    """A long text by its length, beginning, and end."""
    if (kind is str or kind is bytes) and len(value) > _WHOLE_BYTES:
        value = (len(value), value[:_WHOLE_BYTES], value[-_WHOLE_BYTES:])
    return ContentMark(hash((kind_name(kind), value)), 8, told=False)


def _of_array(array: Any) -> ContentMark | None:
    import numpy as np

    if array.dtype.kind not in "biufcmMSU" or array.itemsize > _WIDEST_BYTES or not array.size:
        return None
    flat = array.reshape(-1) if array.flags.c_contiguous else array.T.reshape(-1) if array.flags.f_contiguous else None
    if array.nbytes <= _WHOLE_BYTES:
        read = np.ascontiguousarray(array).reshape(-1)
    elif flat is not None:
        begins = (at * (flat.size - _BLOCK) // (_BLOCKS - 1) for at in range(_BLOCKS))
        read = np.concatenate([flat[begin : begin + _BLOCK] for begin in begins])
    else:
        each_axis = max(int((_BLOCKS * _BLOCK) ** (1 / array.ndim)), 1)
        read = array[tuple(slice(None, None, -(-size // each_axis)) for size in array.shape)].reshape(-1)
    different = len(np.unique(read[:: max(len(read) // _MANY, 1)]))
    told = different >= _VARIED and (array.dtype.kind in "fc" or array.size >= _MANY)
    # a bit pattern: NaN is like itself
    return ContentMark(hash((array.shape, array.dtype.str, read.tobytes())), array.nbytes, told)


def _of_tensor(torch: Any, tensor: Any) -> ContentMark | None:
    # half imported modules lack it; a mode of the user's would be asked
    asked = getattr(getattr(torch, "_C", None), "_len_torch_function_stack", None)
    if asked is None or asked() or transformed() or tensor.requires_grad or tensor.device.type != "cpu":
        return None
    if tensor.layout is not torch.strided or tensor.is_quantized or tensor.is_neg() or tensor.is_conj():
        return None
    try:
        found = _of_array(array_of(tensor)) if tensor.dim() else None
        return found or ContentMark(hash(array_of(tensor).tobytes()), tensor.nbytes, told=False)
    except (RuntimeError, TypeError):  # torch without NumPy, or a type that NumPy does not know
        return None
