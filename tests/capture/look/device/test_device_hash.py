"""The hash on a device, by torch's operators as a device runs them, on the host."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks.gpu_check.device_reference import device_hash, factors
from gpuprof.capture.look.device_hash import BLOCK, ROW_BYTES, ROWS, DeviceHash
from gpuprof.capture.look.fingerprints import HostHash, sealed

_CPU = torch.device("cpu")
_SIZES = [1, 7, 8, 9, ROW_BYTES - 1, ROW_BYTES, ROW_BYTES + 1, ROW_BYTES + BLOCK + 5, 40 * ROW_BYTES + 11]


class Launches(TorchDispatchMode):
    """Counts operators that would launch something: neither views nor empty memory."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.name().partition("::")[2].partition(".")[0]
        if not func.is_view and name not in ("empty", "new_empty", "set_", "detach"):
            self.names.append(name)
        return func(*args, **(kwargs or {}))


def _bytes(count: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(0, 256, (count,), dtype=torch.uint8, generator=torch.Generator().manual_seed(seed))


def _hashes(*tensors: torch.Tensor, streams: int = 1, multiplies: bool = True) -> list[int | None]:
    device = DeviceHash(_CPU)
    device.multiplies = multiplies
    at = [
        device.enqueue(each.untyped_storage(), each.untyped_storage().nbytes(), number % streams)
        for number, each in enumerate(tensors)
    ]
    found = device.numbers()
    return [found[each] for each in at if each is not None]


def _on_host(tensor: torch.Tensor) -> int:
    return HostHash().of(tensor.data_ptr(), tensor.untyped_storage().nbytes())


@pytest.mark.parametrize("count", _SIZES)
def test_it_is_that_of_the_reference_and_up_to_one_row_the_hosts(count: int) -> None:
    tensor = _bytes(count)
    assert _hashes(tensor) == [device_hash(tensor.numpy())]
    assert (_hashes(tensor) == [_on_host(tensor)]) == (count <= ROW_BYTES)


@pytest.mark.parametrize("count", [ROW_BYTES + 1, 33 * ROW_BYTES + 11])
def test_in_pieces_it_is_that_of_the_host(count: int) -> None:
    tensor = _bytes(count)
    assert _hashes(tensor, multiplies=False) == [_on_host(tensor)]


@given(st.lists(st.sampled_from(_SIZES[:-1]), min_size=1, max_size=8), st.integers(1, 3), st.integers(0, 40))
@settings(max_examples=25, deadline=None)
def test_neither_place_nor_stream_nor_what_was_there_before_counts(counts: list[int], streams: int, ahead: int) -> None:
    tensors = [_bytes(count, seed=at) for at, count in enumerate(counts)]
    others = [torch.full((9,), 255, dtype=torch.uint8)] * ahead + [torch.full((ROW_BYTES + 77,), 255).byte()] * 2
    found = _hashes(*others, *tensors, *others, *tensors, streams=streams)
    expected = [device_hash(each.numpy()) for each in tensors]
    first = len(others)
    assert found[first : first + len(tensors)] == found[2 * first + len(tensors) :] == expected


@given(st.sampled_from(_SIZES[:-1]), st.integers(0, 2**20), st.integers(1, 255))
@settings(max_examples=60, deadline=None)
def test_one_changed_byte_shows(count: int, at: int, change: int) -> None:
    tensor = _bytes(count)
    other = tensor.clone()
    other[at % count] ^= change
    assert len(set(_hashes(tensor, other))) == 2


@given(st.sampled_from([ROW_BYTES, 3 * ROW_BYTES + 4]), st.data())
@settings(max_examples=40, deadline=None)
def test_swapped_words_and_moved_ones_show(nbytes: int, data: Any) -> None:
    count = nbytes // 4
    one, other = data.draw(st.lists(st.integers(0, count - 1), min_size=2, max_size=2, unique=True))
    words = torch.arange(count, dtype=torch.int32)
    swapped = words.clone()
    swapped[one], swapped[other] = words[other], words[one]
    hot, moved = torch.zeros(count), torch.zeros(count)
    hot[one] = moved[other] = 1
    assert len(set(_hashes(words, swapped, hot, moved))) == 4


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64])
@pytest.mark.parametrize("count", [4097, 400_001])
def test_other_signs_order_tail_or_size_show(dtype: torch.dtype, count: int) -> None:
    tensor = (torch.arange(count, dtype=torch.float64) % 251 + 1).to(dtype)
    signs = tensor.clone()
    signs[torch.rand(count, generator=torch.Generator().manual_seed(0)) < 0.5] *= -1
    tail = tensor.clone()
    tail[-1] += 1
    longer = torch.cat([tensor, tensor.new_zeros(1)])
    tensors = [tensor, -tensor, signs, tail, tensor.flip(0), tensor.roll(1), tensor[:-1].clone(), longer]
    sizes = [each.untyped_storage().nbytes() for each in tensors]
    numbers = [number or 0 for number in _hashes(*tensors)]
    assert len({sealed(number, size, str(dtype)) for number, size in zip(numbers, sizes, strict=True)}) == 8


def test_the_bytes_of_a_block_are_weighed_by_odd_numbers_none_a_multiple_of_another() -> None:
    found = factors()
    assert (found % 2 == 1).all() and abs(found).max() < 128
    reduced = found // np.gcd.reduce(found, axis=1, keepdims=True) * np.sign(found[:, :1])
    assert len({tuple(row) for row in reduced.tolist()}) == BLOCK


@pytest.mark.parametrize(("count", "most"), [(1000, 1.25), (ROW_BYTES + 12, 2.2), (3 * ROW_BYTES, 1.5)])
def test_a_value_costs_one_launch_or_two(count: int, most: float) -> None:
    tensors = [_bytes(count, seed=at) for at in range(8)]
    device = DeviceHash(_CPU)
    device.warm_up(0)
    with Launches() as mode:
        for at in range(2 * ROWS):
            tensor = tensors[at % 8]
            device.enqueue(tensor.untyped_storage(), count, 0)
        device.rest()
    assert len(mode.names) / (2 * ROWS) <= most
    assert mode.names.count("_int_mm") == (2 * ROWS if count > ROW_BYTES else 0)


def test_a_device_that_cannot_multiply_bytes_does_without(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def refuse(*_: Any, **__: Any) -> None:
        asked.append(1)
        raise RuntimeError("no kernel for it")

    monkeypatch.setattr(torch, "_int_mm", refuse)
    tensors = [_bytes(count, seed=count) for count in (ROW_BYTES + 4, 9, 2 * ROW_BYTES)]
    assert _hashes(*tensors) == [_on_host(each) for each in tensors]
    assert len(asked) == 1


def test_what_a_device_multiplies_wrongly_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    product = torch._int_mm
    monkeypatch.setattr(torch, "_int_mm", lambda one, other, **given: product(one, other, **given).bitwise_or_(1))
    small = _bytes(9)
    assert _hashes(_bytes(ROW_BYTES + 4), small) == [None, _on_host(small)]


def test_used_up_memory_is_the_callers_to_handle(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise torch.cuda.OutOfMemoryError("out of memory")

    monkeypatch.setattr(torch, "_int_mm", refuse)
    device = DeviceHash(_CPU)
    with pytest.raises(torch.cuda.OutOfMemoryError):
        device.enqueue(_bytes(2 * ROW_BYTES).untyped_storage(), 2 * ROW_BYTES, 0)
    assert device.multiplies


@pytest.mark.parametrize(("shift", "taken"), [(3, False), (8, True), (16, True)])
def test_memory_that_does_not_lie_at_words_is_left_out(shift: int, taken: bool) -> None:
    memory = np.zeros(2 * ROW_BYTES + 64, np.uint8)
    begin = -memory.ctypes.data % 16 + shift
    tensor = torch.from_numpy(memory[begin : begin + 2 * ROW_BYTES])
    assert (DeviceHash(_CPU).enqueue(tensor.untyped_storage(), 2 * ROW_BYTES, 0) is not None) == taken


def test_a_device_is_read_once_and_only_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    monkeypatch.setattr(torch.Tensor, "tolist", lambda self: read.append(1) or torch._C.TensorBase.tolist(self))
    for name in ("item", "cpu", "numpy", "__bool__", "__int__", "__index__"):
        monkeypatch.setattr(torch.Tensor, name, lambda *_, name=name: pytest.fail(f"{name} waits for the device"))
    device = DeviceHash(_CPU)
    device.warm_up(0)
    tensors = [_bytes(count, seed=count) for count in (9, 4096, 100_001, 300_001)]
    at = [device.enqueue(each.untyped_storage(), each.numel(), 0) for each in tensors]
    device.rest()
    assert not read
    found = device.numbers()
    assert len(read) == 1
    monkeypatch.undo()
    assert [found[each] for each in at if each is not None] == [device_hash(each.numpy()) for each in tensors]


def test_after_the_look_only_the_sums_are_kept() -> None:
    device = DeviceHash(_CPU)
    for count in (9, ROW_BYTES + 9):
        device.enqueue(_bytes(count).untyped_storage(), count, 0)
    device.rest()
    assert not device._stages
    assert sum(each.untyped_storage().nbytes() for each in device._sums) <= 8 * (ROWS + 1)


def test_an_inference_mode_in_between_changes_nothing() -> None:
    tensors = [_bytes(count, seed=count) for count in (9, ROW_BYTES + 9)]
    device = DeviceHash(_CPU)
    with torch.inference_mode():
        device.warm_up(0)
        device.enqueue(tensors[0].untyped_storage(), 9, 0)
    device.enqueue(tensors[1].untyped_storage(), ROW_BYTES + 9, 0)
    assert device.numbers()[2:] == [device_hash(each.numpy()) for each in tensors]


def test_sums_of_a_block_hold_the_largest_bytes() -> None:
    extreme = (
        torch.where(torch.from_numpy(factors()[:, 0]) > 0, -128, 127).to(torch.int8).repeat(ROW_BYTES // BLOCK + 1)
    )
    assert math.prod((BLOCK, 128, 127)) < 2**31
    assert _hashes(extreme) == [device_hash(extreme.view(torch.uint8).numpy())]
