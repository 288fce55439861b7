"""A 64-bit hash of all bytes of a storage, the same for the same bytes on every device.

On the host it is there at once (3–4 GB/s on one core, `zlib.crc32` 2.5 with half the bits). On a CUDA device a few
reductions are enqueued on the current stream, and the numbers are read back once, at the end: nothing waits for them.

The bytes are read as words of 64 bits, rows of `WORDS` of them: Σ_i K^i Σ_j w_j m(x_ij) modulo 2⁶⁴, with
m(x) = y XOR (y >> 32) and y = x · C, odd and modulo 2⁶⁴. m is one to one and spreads each bit of a word: changes of
high bits alone, such as signs or powers of two, do not cancel out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuprof.model.table import Array

WORDS = 32_768
_ROWS_AT_ONCE = 32  # 8 MiB of device memory for as long as one piece takes
_SLOTS = 65_536
_ROW_FACTOR = 0x9E3779B97F4A7C15
_MASK = 2**64 - 1
_BEFORE_FIRST = pow(_ROW_FACTOR, -1, 2**64)
_FIRST, _SECOND = -7046029254386353131, -4658895280553007687  # odd
_SPREAD = 0xD6E8FEB86659FD93  # odd
_LOW_HALF = 2**32 - 1
_FACTOR, _HALF = np.uint64(_SPREAD), np.uint64(32)


def sealed(number: int, nbytes: int, dtype: str) -> int:
    """The fingerprint of a hash: with the size and type of what it is of, as int64, and never 0."""
    seal = int.from_bytes(dtype.encode()[-8:].ljust(8, b" "), "little")
    mixed = (number ^ (nbytes * _ROW_FACTOR) ^ (seal * (_FIRST & _MASK))) & _MASK
    mixed = ((mixed ^ (mixed >> 31)) * (_SECOND & _MASK)) & _MASK
    return (mixed - 2**64 if mixed >= 2**63 else mixed) or 1


def _weights(numbers: Any) -> Any:
    """Odd 64-bit weights from 0, 1, 2, …: an array or a tensor, by the same arithmetic."""
    mixed = (numbers + 1) * _FIRST
    mixed = (mixed ^ (mixed >> 29)) * _SECOND
    return (mixed ^ (mixed >> 32)) | 1


class HostHash:
    """Hashes memory of this process."""

    def __init__(self) -> None:
        with np.errstate(over="ignore"):
            self._weights = _weights(np.arange(WORDS, dtype=np.int64))
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
            power = power * _ROW_FACTOR & _MASK
        # the rest, filled up with zeros; where memory does not lie at words, all of it
        for first in range(full_rows * 8, nbytes, WORDS * 8):
            count = min(nbytes - first, WORDS * 8)
            size = -(-count // 8)
            self._row[size - 1 : size] = 0
            self._row.view(np.uint8)[:count] = np.asarray(_Memory(address + first, count))
            whole += self._hash_row(self._row[:size]) * power
            power = power * _ROW_FACTOR & _MASK
        return whole & _MASK

    def _hash_row(self, row: Array) -> int:
        spread, mixed = self._spread[: len(row)], self._mixed[: len(row)]
        np.multiply(row.view(np.uint64), _FACTOR, out=spread)
        np.right_shift(spread, _HALF, out=mixed)
        np.bitwise_xor(mixed, spread, out=mixed)
        return int(np.dot(mixed.view(np.int64), self._weights[: len(row)]))


class DeviceHash:
    """Hashes storages on one device, without waiting for it; `numbers` does, once."""

    def __init__(self, device: Any) -> None:
        self._device = device
        self._slots: Any = None
        self._used = 0
        # made on the stream that uses them: nothing has to wait for another stream
        self._weights: dict[int, tuple[Any, Any]] = {}

    def enqueue(self, storage: Any, nbytes: int, stream: int) -> int | None:
        """Hash it on the current stream, whose number that is; where the hash will be among `numbers`. None where there
        are too many, or the memory does not lie at words. What torch raises is the caller's to handle."""
        import torch

        if self._used >= _SLOTS or storage.data_ptr() % 8:
            return None
        if self._slots is None:
            self._slots = torch.empty(_SLOTS, dtype=torch.int64, device=self._device)
        if stream not in self._weights:
            numbers = torch.arange(WORDS, dtype=torch.int64, device=self._device)
            factors = torch.full((_ROWS_AT_ONCE,), _signed(_ROW_FACTOR), device=self._device).cumprod(0)
            self._weights[stream] = _weights(numbers), factors
        words = torch.empty(0, dtype=torch.int64, device=self._device).set_(storage, 0, (nbytes // 8,), (1,))
        pieces, power = [], 1
        for first in range(0, nbytes // 8, _ROWS_AT_ONCE * WORDS):
            piece = words[first : first + _ROWS_AT_ONCE * WORDS]
            pieces.append(self._piece(piece, power, stream))
            power = power * pow(_ROW_FACTOR, _ROWS_AT_ONCE, 2**64) & _MASK
        if nbytes % 8:
            pieces.append(self._last(storage, nbytes, stream))
        total = pieces[0] if pieces else torch.zeros(1, dtype=torch.int64, device=self._device)
        for more in pieces[1:]:
            total = total + more
        self._slots[self._used : self._used + 1].copy_(total)
        self._used += 1
        return self._used - 1

    def numbers(self) -> list[int]:
        """All hashes so far, unsealed. Waits for the device."""
        import torch

        if self._slots is None:
            return []
        if self._slots.is_cuda:
            torch.cuda.synchronize(self._device)
        return [number & _MASK for number in self._slots[: self._used].tolist()]

    def _piece(self, words: Any, power: int, stream: int) -> Any:
        weights, factors = self._weights[stream]
        mixed = _mixed(words)
        total: Any = None
        full = len(words) // WORDS
        if full:
            rows = mixed[: full * WORDS].view(full, WORDS).mul_(weights).sum(1).mul_(factors[:full])
            total = rows.sum(0, keepdim=True) * _signed(power * _BEFORE_FIRST & _MASK)
            power = power * pow(_ROW_FACTOR, full, 2**64) & _MASK
        if len(words) > full * WORDS:
            rest = mixed[full * WORDS :]
            part = rest.mul_(weights[: len(rest)]).sum(0, keepdim=True) * _signed(power)
            total = part if total is None else total + part
        return total

    def _last(self, storage: Any, nbytes: int, stream: int) -> Any:
        """Of the last bytes, filled up to a word; it stands where the next word of its row would."""
        import torch

        count, word = nbytes % 8, nbytes // 8
        last = torch.zeros(8, dtype=torch.uint8, device=self._device)
        rest = torch.empty(0, dtype=torch.uint8, device=self._device).set_(storage, word * 8, (count,), (1,))
        last[:count].copy_(rest)
        number = last.view(torch.int64)
        power = pow(_ROW_FACTOR, word // WORDS, 2**64)
        return _mixed(number) * self._weights[stream][0][word % WORDS : word % WORDS + 1] * _signed(power)


def _mixed(words: Any) -> Any:
    """m of the module's formula for a tensor of int64, whose own shift would repeat the sign."""
    spread = words * _signed(_SPREAD)
    return spread.bitwise_xor_((spread >> 32).bitwise_and_(_LOW_HALF))


def _signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number


class _Memory:
    """Bytes at an address, for numpy: read only, nothing copied."""

    def __init__(self, address: int, nbytes: int):
        self.__array_interface__ = {"data": (address, True), "shape": (nbytes,), "typestr": "|u1", "version": 3}
