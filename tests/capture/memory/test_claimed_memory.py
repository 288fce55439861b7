"""Bytes are claimed once, however the ranges of memory lie."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.capture.memory.claimed_memory import ClaimedMemory

MIB = 1 << 20
HOST, DEVICE = torch.device("cpu"), torch.device("cuda:0")


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 12)), max_size=30))
def test_each_byte_of_the_host_once(ranges: list[tuple[int, int]]) -> None:
    claimed, known = ClaimedMemory(), set[int]()
    for begin, length in ranges:
        found = claimed.fresh([((HOST, begin * MIB), length * MIB)])
        mine = set(range(begin, begin + length))
        assert sum(size for _, size in found) == len(mine - known) * MIB
        known |= mine


def test_small_ones_and_those_of_devices_count_by_key() -> None:
    claimed = ClaimedMemory()
    for device, size in ((HOST, 100), (DEVICE, 4 * MIB)):
        assert claimed.fresh([((device, 64), size)]) == [((device, 64), size)]
        assert claimed.fresh([((device, 64), size)]) == []
        assert claimed.fresh([((device, 80), size)]) == [((device, 80), size)]
    assert claimed.keys == {(HOST, 64), (HOST, 80), (DEVICE, 64), (DEVICE, 80)}
