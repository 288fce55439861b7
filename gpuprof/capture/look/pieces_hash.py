"""The hash of `fingerprints` by reductions over pieces of a storage, each with what it needs of memory for itself: ten
kernels and more for one value. For devices that do not multiply bytes, and for memory at odd addresses."""

from __future__ import annotations

from typing import Any

from gpuprof.capture.look.fingerprints import MASK, ROW_FACTOR, SPREAD, WORDS, signed

_ROWS_AT_ONCE = 32  # 8 MiB of device memory for as long as one piece takes
_BEFORE_FIRST = pow(ROW_FACTOR, -1, 2**64)
_LOW_HALF = 2**32 - 1


class PiecesHash:
    """Hashes storages on a device, on the current stream. `weights`: the words' weights, a tensor there."""

    def __init__(self, weights: Any) -> None:
        import torch

        self._weights, self._device = weights, weights.device
        self._factors = torch.full((_ROWS_AT_ONCE,), signed(ROW_FACTOR), device=self._device).cumprod(0)

    def of(self, storage: Any, nbytes: int) -> Any:
        """The hash, unsealed: a tensor of one int64, not waited for. `nbytes`: 8 or more."""
        import torch

        words = torch.empty(0, dtype=torch.int64, device=self._device).set_(storage, 0, (nbytes // 8,), (1,))
        pieces, power = [], 1
        for first in range(0, nbytes // 8, _ROWS_AT_ONCE * WORDS):
            piece = words[first : first + _ROWS_AT_ONCE * WORDS]
            pieces.append(self._piece(piece, power))
            power = power * pow(ROW_FACTOR, _ROWS_AT_ONCE, 2**64) & MASK
        if nbytes % 8:
            pieces.append(self._last(storage, nbytes))
        total = pieces[0]
        for more in pieces[1:]:
            total = total + more
        return total

    def _piece(self, words: Any, power: int) -> Any:
        mixed = _mixed(words)
        total: Any = None
        full = len(words) // WORDS
        if full:
            rows = mixed[: full * WORDS].view(full, WORDS).mul_(self._weights).sum(1).mul_(self._factors[:full])
            total = rows.sum(0, keepdim=True) * signed(power * _BEFORE_FIRST & MASK)
            power = power * pow(ROW_FACTOR, full, 2**64) & MASK
        if len(words) > full * WORDS:
            rest = mixed[full * WORDS :]
            part = rest.mul_(self._weights[: len(rest)]).sum(0, keepdim=True) * signed(power)
            total = part if total is None else total + part
        return total

    def _last(self, storage: Any, nbytes: int) -> Any:
        """Of the last bytes, filled up to a word; it stands where the next word of its row would."""
        import torch

        count, word = nbytes % 8, nbytes // 8
        last = torch.zeros(8, dtype=torch.uint8, device=self._device)
        rest = torch.empty(0, dtype=torch.uint8, device=self._device).set_(storage, word * 8, (count,), (1,))
        last[:count].copy_(rest)
        number = last.view(torch.int64)
        power = pow(ROW_FACTOR, word // WORDS, 2**64)
        return _mixed(number) * self._weights[word % WORDS : word % WORDS + 1] * signed(power)


def _mixed(words: Any) -> Any:
    """m of the formula for a tensor of int64, whose own shift would repeat the sign."""
    spread = words * signed(SPREAD)
    return spread.bitwise_xor_((spread >> 32).bitwise_and_(_LOW_HALF))
