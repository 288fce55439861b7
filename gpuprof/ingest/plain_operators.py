"""Operators in the layout of torch 2.13, straight from the bytes: a loop over parsed events takes three times as long.

Only what stands exactly as that torch writes it is taken; every other event is left to the JSON parser.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof.ingest.numbers import EXACT_US
from gpuprof.model.table import Array

_LEAST_BYTES = 1 << 16  # of less text nothing is gained
_MARGIN = 64  # bytes that may be looked at behind the beginning of a field
_HEAD = b'  {\n    "ph": "X",\n    "cat": "cpu_op",\n    "name": "'
_BEFORE_ARGS = b'\n    ,\n    "args": {\n      "External id": '
_TAIL = b"\n    }\n  },\n"
_CATEGORY = b'"cat": "cpu_op"'
_NUMBERED = tuple(b'\n    "%s": ' % key for key in (b"pid", b"tid", b"ts", b"dur"))
_SEQUENCE = (b', "Sequence number": ', b', "Fwd thread id": ')
_INDEX = b', "Ev Idx": '
# eight bytes as one number, the first byte lowest
_ZEROS, _SEVEN_BITS, _ABOVE_NINE, _HIGH_BITS = (np.uint64(int(byte * 8, 16)) for byte in ("30", "7f", "76", "80"))
_TENS = 10 ** np.arange(9, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class PlainOperators:
    """Operators in file order: their names as bytes, everything else as int64 of shape `(len(names),)`.

    `end` is the byte behind the last of them. One more operator may stand behind it, left to the parser.
    """

    names: list[bytes]
    end: int
    pid: Array
    tid: Array
    start_ns: Array
    duration_ns: Array
    external_id: Array
    sequence: Array
    forward_thread: Array


class _Text:
    """The bytes of a text, looked at in many places at a time. `good`: where everything was as expected so far."""

    def __init__(self, text: bytes, heads: Array):
        self._text = text
        self._words = np.ndarray((len(text) - 7,), "<u8", text, strides=(1,))
        self.at = heads
        self.good = np.ones(len(heads), bool)

    def literal(self, expected: bytes) -> None:
        """Pass this text."""
        self.good &= self.has(expected)
        self.at = self.at + len(expected)

    def has(self, expected: bytes) -> Array:
        """Whether this text stands there."""
        size = len(expected)
        found = np.ndarray((len(self._text) - size + 1,), f"S{size}", self._text, strides=(1,))
        there: Array = found[np.minimum(self.at, len(found) - 1)] == expected
        return there

    def number(self, where: Array | None = None) -> Array:
        """Pass a whole number of at most 15 digits; `where` there is one, elsewhere -1 is given and nothing passed."""
        number, size = self._eight_digits(self.at)
        if (size == 8).any():
            more, digits = self._eight_digits(self.at + size)
            long = size == 8
            self.good &= ~long | (digits < 8)
            number = np.where(long, number * _TENS[digits] + more, number)
            size = np.where(long, 8 + digits, size)
        if where is None:
            self.good &= size > 0
        else:
            self.good &= (size > 0) | ~where
            size, number = np.where(where, size, 0), np.where(where, number, -1)
        self.at = self.at + size
        return number

    def _eight_digits(self, at: Array) -> tuple[Array, Array]:
        """The number that the next digits make, at most eight, and how many there are."""
        word = self._words[np.minimum(at, len(self._words) - 1)] ^ _ZEROS
        other = (((word & _SEVEN_BITS) + _ABOVE_NINE) | word) & _HIGH_BITS
        first = np.frexp((other & (~other + np.uint64(1))).astype(np.float64))[1]
        size = np.where(other > 0, (first - 1) >> 3, 8)
        # right-aligned, then pairs, fours and eights of digits
        word = np.where(size > 0, word << ((8 - size) * 8 & 63).astype(np.uint64), np.uint64(0))
        word = (word * np.uint64(10) + (word >> np.uint64(8))) & np.uint64(0x00FF00FF00FF00FF)
        word = (word * np.uint64(100) + (word >> np.uint64(16))) & np.uint64(0x0000FFFF0000FFFF)
        word = (word * np.uint64(10_000) + (word >> np.uint64(32))) & np.uint64(0xFFFFFFFF)
        return word.astype(np.int64), size

    def microseconds(self) -> Array:
        """Pass µs with three decimals, few enough to be exact in float64 too; ns."""
        whole = self.number()
        self.literal(b".")
        before = self.at
        part = self.number()
        self.good &= (self.at - before == 3) & (whole < EXACT_US)
        return whole * 1000 + part


def split(text: bytes) -> tuple[bytes, PlainOperators | None]:
    """The text of a JSON list of events without the operators that stand in that layout, and those."""
    if len(text) < _LEAST_BYTES:
        return text, None
    heads, name_ends = _heads(text)
    if not len(heads):
        return text, None
    names_at = heads + len(_HEAD)
    reader = _Text(text, name_ends)
    reader.literal(b'",')
    fields = []
    for key in _NUMBERED:
        reader.literal(key)
        fields.append(reader.microseconds() if key[6:8] in (b"ts", b"du") else reader.number())
        if key is not _NUMBERED[-1]:
            reader.literal(b",")
    reader.literal(_BEFORE_ARGS)
    external_id = reader.number()
    reader.literal(b',"Record function id": ')
    reader.number()
    sequence, forward_thread = _sequence(reader)
    reader.literal(_INDEX)
    reader.number()
    reader.literal(_TAIL)
    good = reader.good
    found = [text[a:b] for a, b in zip(names_at[good].tolist(), name_ends[good].tolist(), strict=True)]
    if not found or not all(map(_is_plain, set(found))):
        return text, None
    begins, ends = heads[good], reader.at[good]
    columns = (column[good] for column in (*fields, external_id, sequence, forward_thread))
    others, end = _without(text, begins, ends), int(ends[-1])
    behind = text.count(_CATEGORY, end)
    if others.count(_CATEGORY) != behind or behind > 1:
        return text, None  # some are written otherwise: their order would be lost
    return others, PlainOperators(found, end, *columns)


def _heads(text: bytes) -> tuple[Array, Array]:
    """Where each operator may begin, and where its name ends."""
    lines = np.flatnonzero(np.frombuffer(text, np.uint8) == 10) + 1
    # an event opens with a line of four bytes; its name stands on the fourth
    opening = np.flatnonzero(np.diff(lines[:-3]) == 4)
    opening = opening[lines[opening] < len(text) - len(_HEAD) - _MARGIN]
    heads = np.ndarray((len(text) - len(_HEAD) + 1,), f"S{len(_HEAD)}", text, strides=(1,))
    opening = opening[heads[lines[opening]] == _HEAD]
    return lines[opening], lines[opening + 4] - len(b'",\n')


def _sequence(reader: _Text) -> tuple[Array, Array]:
    """The sequence number and the forward thread's, which are given together or not at all: -1."""
    there = reader.has(_SEQUENCE[0])
    reader.at = reader.at + there * len(_SEQUENCE[0])
    number = reader.number(there)
    reader.good &= reader.has(_SEQUENCE[1]) | ~there
    reader.at = reader.at + there * len(_SEQUENCE[1])
    return number, reader.number(there)


def _is_plain(name: bytes) -> bool:
    """Whether it stands in JSON as it is."""
    if b'"' in name or b"\\" in name or (name and min(name) < 0x20):
        return False
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True


def _without(text: bytes, begins: Array, ends: Array) -> bytes:
    apart = np.flatnonzero(begins[1:] != ends[:-1])
    kept_from = [0, *ends[apart].tolist(), int(ends[-1])]
    kept_to = [int(begins[0]), *begins[apart + 1].tolist(), len(text)]
    return b"".join(text[a:b] for a, b in zip(kept_from, kept_to, strict=True))
