"""Small integers for names and threads, and what a name means, looked up once a name."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from gpuprof.model.table import Array

_DIGITS = re.compile(r"-?\d+")


class Numbering(dict[Any, int]):
    """Numbers keys from 0 in the order in which they are first asked for; keys of one meaning share a number."""

    def __init__(self, meaning: Callable[[Any], Hashable]):
        super().__init__()
        self._meaning = meaning
        self._numbers: dict[Hashable, int] = {}

    def __missing__(self, key: Any) -> int:
        number = self[key] = self._numbers.setdefault(self._meaning(key), len(self._numbers))
        return number

    @property
    def meanings(self) -> list[Any]:
        """The meaning of every number, in order."""
        return list(self._numbers)


class NameLookup:
    """A fact of each name, by the name's number; asked for once a name."""

    def __init__(self, names: Numbering, fact: Callable[[str], int], dtype: str):
        self._names = names
        self._fact = fact
        self._known: dict[int, int] = {}
        self._dtype = dtype

    def __call__(self, numbers: Array) -> Array:
        """The facts of names given by number, of the same shape."""
        distinct, inverse = np.unique(numbers, return_inverse=True)
        unknown = [int(number) for number in distinct if int(number) not in self._known]
        if unknown:
            texts = self._names.meanings
            self._known |= {number: self._fact(texts[number]) for number in unknown}
        facts = np.array([self._known[int(number)] for number in distinct], self._dtype)
        return facts[inverse]


def thread_key(raw: tuple[Any, Any]) -> tuple[int, int]:
    """(pid, tid) as numbers, so that `25738` and `"25738"` are one thread."""
    return whole(raw[0]), whole(raw[1])


def whole(value: Any) -> int:
    """A pid or tid as a number: its own, the last one in its text, or one made of a text without any."""
    if isinstance(value, int):
        return value & 0x7FFF_FFFF_FFFF_FFFF if value > 0x7FFF_FFFF_FFFF_FFFF else max(value, -(1 << 63))
    if isinstance(value, float):
        return whole(int(value)) if abs(value) < 1e18 else -1
    if not value:
        return -1
    digits = _DIGITS.findall(value)
    return whole(int(digits[-1][:19])) if digits else -2 - zlib.crc32(value.encode(errors="replace"))
