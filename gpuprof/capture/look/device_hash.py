"""A 64-bit hash of all bytes of a storage on a device: about one kernel for each, read back once, at the end.

Storages of up to one row of `fingerprints` are copied, each to a row of its own; `ROWS` of them are then summed up at
once, by the formula there, and the rows are zeroed, since m(0) = 0: what is not filled does not count. Of a larger
storage, each `BLOCK` bytes become 8 sums of 32 bits, Σ_i b_i v_ik with odd 8-bit weights v, by one product of integer
matrices. That is exact: 4,096 · 128 · 127 is less than 2³¹. The sums and the bytes that fill no block take a row, or
several rows in turn. So it is the host's hash for up to one row, and another one above: nothing compares these.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from itertools import accumulate
from typing import Any

from gpuprof.capture.look.fingerprints import MASK, ROW_FACTOR, SPREAD, WORDS, signed, weights
from gpuprof.capture.look.pieces_hash import PiecesHash

ROWS = 32  # 8 MiB of device memory for each stream, while the look lasts
ROW_BYTES = WORDS * 8
BLOCK, SUMS = 4096, 8
_MOST_VALUES = 65_536
# cuBLAS reads bytes from addresses like that; those of torch's own are multiples of 512
_ALIGNED = 16
# of a product that is checked: cuBLAS takes no less than 17
_CHECKED_BLOCKS = 24

# a tensor of sums by its number, the first of its rows, and how many
_Place = tuple[int, int, int]


class DeviceHash:
    """Hashes storages on one device, without waiting for it; `numbers` does, once. `multiplies`: large ones by a
    product, not in pieces. What torch raises, such as that memory is used up, is the caller's to handle."""

    def __init__(self, device: Any) -> None:
        self._device = device
        # made on the stream that uses them: nothing has to wait for another stream
        self._stages: dict[int, _Stage] = {}
        self._sums: list[Any] = []
        self._places: list[_Place] = []
        self._multiplied: set[int] = set()
        self._check: int | None = None
        # until the device refuses
        self.multiplies = True

    def enqueue(self, storage: Any, nbytes: int, stream: int) -> int | None:
        """Hash it on the current stream, whose number that is; where the hash will be among `numbers`. None where there
        are too many, or the memory does not lie at words."""
        address = storage.data_ptr()
        if address % 8 or len(self._places) >= _MOST_VALUES:
            return None
        stage = self._stages.get(stream) or self._add_stage(stream)
        if nbytes <= ROW_BYTES:
            place = self._place(stage, 1)
            stage.copy(storage, nbytes, place[1])
        else:
            multiplied = self._multiply(stage, storage, nbytes) if address % _ALIGNED == 0 else None
            place = multiplied or self._in_pieces(stage, storage, nbytes)
        self._places.append(place)
        return len(self._places) - 1

    def warm_up(self, stream: int) -> None:
        """Have the device load what it needs for any value, on the current stream, whose number that is."""
        import torch

        for nbytes in (8, ROW_BYTES + BLOCK + 5):
            zeros = torch.zeros(nbytes, dtype=torch.uint8, device=self._device)
            self.enqueue(zeros.untyped_storage(), nbytes, stream)
        self._stages[stream].sum_up()

    def rest(self) -> None:
        """No more will come: sum up what waits to be, without waiting for it, and give the memory back."""
        import torch

        for number, stage in list(self._stages.items()):
            with stage.stream(), torch.inference_mode():
                if not (self._device.type == "cuda" and torch.cuda.is_current_stream_capturing()):
                    stage.sum_up()
                    del self._stages[number]

    def numbers(self) -> list[int | None]:
        """All hashes so far, unsealed; None where the device multiplies wrongly. Waits for the device."""
        import torch

        if not self._places:
            return []
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        with torch.inference_mode():
            for stage in self._stages.values():
                stage.sum_up()
            self._stages.clear()
            found = torch.cat(self._sums).tolist()
        begins = [0, *accumulate(len(each) for each in self._sums)]
        wrong = self._check is not None and found[begins[self._check]] != 0
        return [
            None if wrong and at in self._multiplied else _combined(found[begins[sums] + row :][:count])
            for at, (sums, row, count) in enumerate(self._places)
        ]

    def _add_stage(self, stream: int) -> _Stage:
        import torch

        # what is made in inference mode cannot be written to outside of it
        with torch.inference_mode(False):
            stage = self._stages[stream] = _Stage(self._device)
        return stage

    def _place(self, stage: _Stage, rows: int) -> _Place:
        """The next rows of a stage, which is emptied where there are not enough."""
        if stage.used + rows > ROWS:
            stage.sum_up()
        if stage.sums is None:
            stage.begin()
            stage.number = self._keep(stage.sums)
        stage.used += rows
        return stage.number, stage.used - rows, rows

    def _keep(self, sums: Any) -> int:
        self._sums.append(sums)
        return len(self._sums) - 1

    def _multiply(self, stage: _Stage, storage: Any, nbytes: int) -> _Place | None:
        import torch

        blocks, rest = divmod(nbytes, BLOCK)
        rows = -(-(blocks * SUMS * 4 + rest) // ROW_BYTES)
        if not self.multiplies or rows > ROWS:
            return None
        try:
            if self._check is None:
                self._check = self._keep(stage.difference())
            place = self._place(stage, rows)
            stage.multiply(storage, blocks, rest, place[1])
        except torch.cuda.OutOfMemoryError:
            raise
        except RuntimeError:  # no such product there
            self.multiplies = False
            return None
        self._multiplied.add(len(self._places))
        return place

    def _in_pieces(self, stage: _Stage, storage: Any, nbytes: int) -> _Place:
        return self._keep(stage.pieces().of(storage, nbytes)), 0, 1


class _Stage:
    """The rows of one stream. `used` of them are filled; their sums will be in `sums`, a tensor of that `number`."""

    def __init__(self, device: Any) -> None:
        import torch

        self._stream = torch.cuda.current_stream(device) if device.type == "cuda" else None
        self._weights = weights(torch.arange(WORDS, dtype=torch.int64, device=device))
        # one column after the other: cuBLAS multiplies bytes where one factor lies in rows and the other in columns
        factors = weights(torch.arange(BLOCK, dtype=torch.int64, device=device)).view(torch.int8).view(BLOCK, SUMS)
        self._factors = factors.bitwise_or_(1).t().contiguous().t()
        self._words = torch.zeros(ROWS, WORDS, dtype=torch.int64, device=device)
        halves = self._words.view(torch.int32)
        self._sums_of_blocks = halves.view(-1, SUMS)
        self._low, self._high = halves[:, ::2], halves[:, 1::2]
        self._bytes = self._words.view(torch.uint8).view(-1)
        self._rows = self._words.view(torch.uint8).unbind(0)
        self._no_bytes = torch.empty(0, dtype=torch.uint8, device=device)
        self._pieces: PiecesHash | None = None
        self.sums: Any = None
        self.used = self.number = 0

    def stream(self) -> AbstractContextManager[Any]:
        """Within it the stream is the current one."""
        import torch

        return nullcontext() if self._stream is None else torch.cuda.stream(self._stream)

    def begin(self) -> None:
        """Make room for the sums of all rows."""
        self.sums = self._words.new_empty(ROWS)

    def copy(self, storage: Any, nbytes: int, row: int) -> None:
        """Bytes as they are, to one row."""
        self._rows[row][:nbytes].copy_(self._no_bytes.new_empty(0).set_(storage, 0, (nbytes,), (1,)))

    def multiply(self, storage: Any, blocks: int, rest: int, row: int) -> None:
        """The sums of blocks and the bytes behind them, from one row on."""
        import torch

        content = self._factors.new_empty(0).set_(storage, 0, (blocks, BLOCK), (BLOCK, 1))
        first = row * ROW_BYTES // (SUMS * 4)
        torch._int_mm(content, self._factors, out=self._sums_of_blocks[first : first + blocks])
        if rest:
            begin = row * ROW_BYTES + blocks * SUMS * 4
            content = self._no_bytes.new_empty(0).set_(storage, blocks * BLOCK, (rest,), (1,))
            self._bytes[begin : begin + rest].copy_(content)

    def sum_up(self) -> None:
        """Of all rows, which are empty then."""
        import torch

        if self.sums is None:
            return
        self._words.mul_(signed(SPREAD))
        self._low.bitwise_xor_(self._high)
        self._words.mul_(self._weights)
        torch.sum(self._words, 1, out=self.sums)
        self._words.zero_()
        self.sums, self.used = None, 0

    def difference(self) -> Any:
        """In how many numbers a product is not what it has to be: a tensor of one int64."""
        import torch

        numbers = torch.arange(_CHECKED_BLOCKS * BLOCK // 8, dtype=torch.int64, device=self._words.device)
        blocks = weights(numbers).view(torch.int8).view(_CHECKED_BLOCKS, BLOCK)
        expected = (blocks.long()[:, :, None] * self._factors.long()).sum(1)
        return (torch._int_mm(blocks, self._factors) != expected).sum().view(1)

    def pieces(self) -> PiecesHash:
        """For what is not multiplied."""
        if self._pieces is None:
            self._pieces = PiecesHash(self._weights)
        return self._pieces


def _combined(rows: list[int]) -> int:
    total, power = 0, 1
    for each in rows:
        total += each * power
        power = power * ROW_FACTOR & MASK
    return total & MASK
