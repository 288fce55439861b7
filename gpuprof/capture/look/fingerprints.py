"""A 64-bit hash of all bytes of a storage, on the host: 3–4 GB/s on one core (`zlib.crc32` 2.5 with half the bits).

The bytes are read as words of 64 bits, rows of `WORDS` of them: Σ_i K^i Σ_j w_j m(x_ij) modulo 2⁶⁴, with
m(x) = y XOR (y >> 32) and y = x · C, odd and modulo 2⁶⁴. m is one to one and spreads each bit of a word: changes of
high bits alone, such as signs or powers of two, do not cancel out. `device_hash` has the same for up to one row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuprof.model.table import Array

WORDS = 32_768
ROW_FACTOR = 0x9E3779B97F4A7C15
MASK = 2**64 - 1
_FIRST, _SECOND = -7046029254386353131, -4658895280553007687  # odd
SPREAD = 0xD6E8FEB86659FD93  # odd
_FACTOR, _HALF = np.uint64(SPREAD), np.uint64(32)


def sealed(number: int, nbytes: int, dtype: str) -> int:
    """The fingerprint of a hash: with the size and type of what it is of, as int64, and never 0."""
    seal = int.from_bytes(dtype.encode()[-8:].ljust(8, b" "), "little")
    mixed = (number ^ (nbytes * ROW_FACTOR) ^ (seal * (_FIRST & MASK))) & MASK
    mixed = ((mixed ^ (mixed >> 31)) * (_SECOND & MASK)) & MASK
    return (mixed - 2**64 if mixed >= 2**63 else mixed) or 1


def weights(numbers: Any) -> Any:
    """Odd 64-bit weights from 0, 1, 2, …: an array or a tensor, by the same arithmetic."""
    mixed = (numbers + 1) * _FIRST
    mixed = (mixed ^ (mixed >> 29)) * _SECOND
    return (mixed ^ (mixed >> 32)) | 1


class HostHash:
    """Hashes memory of this process."""

    def __init__(self) -> None:
        with np.errstate(over="ignore"):
            self._weights = weights(np.arange(WORDS, dtype=np.int64))
        self._spread, self._mixed = np.empty(WORDS, np.uint64), np.empty(WORDS, np.uint64)
        self._row = np.empty(WORDS, np.int64)

    def of(self, address: int, nbytes: int) -> int:
        """The hash of that memory, unsealed."""
        whole = 0
        words = nbytes // 8 if address % 8 == 0 else 0
        power = 1
        content = np.asarray(_Memory(address, words * 8)).view(np.int64) if words else self._row[:0]
        full_rows = words // WORDS * WORDS
        for first in range(0, full_rows, WORDS):
            whole += self._hash_row(content[first : first + WORDS]) * power
            power = power * ROW_FACTOR & MASK
        # the rest, filled up with zeros; where memory does not lie at words, all of it
        for first in range(full_rows * 8, nbytes, WORDS * 8):
            count = min(nbytes - first, WORDS * 8)
            size = -(-count // 8)
            self._row[size - 1 : size] = 0
            self._row.view(np.uint8)[:count] = np.asarray(_Memory(address + first, count))
            whole += self._hash_row(self._row[:size]) * power
            power = power * ROW_FACTOR & MASK
        return whole & MASK

    def _hash_row(self, row: Array) -> int:
        spread, mixed = self._spread[: len(row)], self._mixed[: len(row)]
        np.multiply(row.view(np.uint64), _FACTOR, out=spread)
        np.right_shift(spread, _HALF, out=mixed)
        np.bitwise_xor(mixed, spread, out=mixed)
        return int(np.dot(mixed.view(np.int64), self._weights[: len(row)]))


def signed(number: int) -> int:
    """The int64 of the same bits."""
    return number - 2**64 if number >= 2**63 else number


class _Memory:
    """Bytes at an address, for numpy: read only, nothing copied."""

    def __init__(self, address: int, nbytes: int):
        self.__array_interface__ = {"data": (address, True), "shape": (nbytes,), "typestr": "|u1", "version": 3}
