"""Whose memory an array shows, and that shared memory counts once."""

from __future__ import annotations

import itertools
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gpuprof.capture.memory.array_memory import is_array, storages_of_array
from gpuprof.capture.memory.tensor_references import held_tensors

MIB = 1 << 20


def block(mib: int = 1) -> Any:
    return np.ones(mib * MIB // 4, np.float32)


def rows(namespace: dict[str, Any]) -> list[tuple[str, int, int, int]]:
    return [(each.name, each.bytes, each.tensors, each.arrays) for each in held_tensors(namespace, "train()")]


def test_views_show_the_memory_of_their_base() -> None:
    whole = block()
    ((key, size),) = storages_of_array(whole[::2][3:].reshape(1, -1))
    assert size == whole.nbytes and storages_of_array(whole) == [(key, size)]


def test_an_array_of_a_tensor_has_the_storage_of_the_tensor() -> None:
    tensor = torch.zeros(MIB)
    ((key, size),) = storages_of_array(tensor[100:].numpy())
    assert (key, size) == ((tensor.device, tensor.data_ptr()), tensor.nbytes)
    assert rows({"tensor": tensor, "array": tensor.numpy()}) == [("tensor", 4 * MIB, 1, 0)]


def test_a_tensor_of_an_array_counts_once() -> None:
    array = block(4)
    assert rows({"array": array, "tensor": torch.from_numpy(array)}) == [("array", 4 * MIB, 1, 1)]
    assert rows({"tensor": torch.from_numpy(array), "array": array}) == [("tensor", 4 * MIB, 1, 0)]
    # `from_numpy` makes a storage in the middle of the memory
    assert rows({"array": array, "tensor": torch.from_numpy(array[MIB // 4 :])}) == [("array", 4 * MIB, 1, 1)]
    part_first = {"tensor": torch.from_numpy(array[MIB // 4 :]), "array": array}
    assert rows(part_first) == [("tensor", 3 * MIB, 1, 0), ("array", MIB, 1, 1)]


@pytest.mark.parametrize("kind", ["memmap", "view of memmap", "masked", "shared"])
def test_what_is_no_plain_memory_of_the_process(kind: str, tmp_path: Path) -> None:
    mapped = np.memmap(tmp_path / "numbers", np.float32, "w+", shape=(MIB,))
    value = {
        "memmap": mapped,
        "view of memmap": np.asarray(mapped)[10:],
        "masked": np.ma.masked_array(block(4)),
        "shared": np.asarray(memoryview(bytearray(4 * MIB))),
    }[kind]
    assert not is_array(value) or storages_of_array(value) == []
    assert rows({"value": value}) == []


def test_the_content_of_a_file_in_memory() -> None:
    assert rows({"file": np.frombuffer(bytes(4 * MIB), np.uint8)[16:]}) == [("file", 4 * MIB, 1, 1)]


def test_arrays_in_containers_and_attributes() -> None:
    class Rows:
        def __init__(self) -> None:
            self.table = block()

    namespace = {
        "list": [block(), {"deep": (block(), torch.zeros(MIB // 4))}],
        "queue": deque([block()]),
        "data": Rows(),
        "number": np.float64(3),
        "words": np.array(["a"] * 10),
    }
    assert rows(namespace) == [("list", 3 * MIB, 3, 2), ("queue", MIB, 1, 1), ("data", MIB, 1, 1)]


def test_small_views_keep_a_large_array() -> None:
    (row,) = held_tensors({"kept": [np.ones((256, 4096))[:, 0] for _ in range(3)]}, "train()")
    assert row.unseen_bytes == 3 * (8 * MIB - 8 * 256)


def test_what_another_library_shows_of_the_memory_is_in_use() -> None:
    import pandas as pd

    table = pd.DataFrame(np.ones((4096, 256)))
    (row,) = held_tensors({"column": table[3].to_numpy(), "table": table}, "train()")
    assert (row.name, row.bytes, row.unseen_bytes) == ("column", 8 * MIB, 0)
    whole = np.ones((4096, 256))
    parts = {"first": whole[:, 0], "again": whole[:, 0], "hidden": iter([whole[:, 1]])}
    del whole
    (row,) = held_tensors(parts, "train()")
    assert row.unseen_bytes == 0
    del parts["hidden"]
    (row,) = held_tensors(parts, "train()")
    assert row.unseen_bytes == 8 * MIB - 2 * 8 * 4096


def test_an_array_that_something_else_holds_is_in_use() -> None:
    array = block()
    namespace = {"array": array, "view": array[1:], "alone": block(2)}
    del array
    used = {row.name: row.used for row in held_tensors(namespace, "train()")}
    assert used == {"array": True, "alone": False}


def test_arrays_of_objects_and_records_are_weighed_only() -> None:
    records = np.zeros(5 * MIB, [("id", "i8"), ("score", "f4")])
    objects = np.full(5 * MIB, None, dtype=object)
    for each in (records, objects, np.ones(5 * MIB, np.complex64), np.full(10 * MIB, "a", "U1")):
        (row,) = held_tensors({"value": each}, "train()")
        assert (row.bytes, row.arrays, row.narrow_type, row.zeros_bytes) == (each.nbytes, 1, "", 0)


def test_batches_that_a_cycle_keeps() -> None:
    rows = torch.arange(float(1 << 20)).reshape(8, -1)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(rows), batch_size=2)
    stream = itertools.cycle(loader)
    batches = [next(stream)[0].sum() for _ in range(3)]
    (row,) = held_tensors({"stream": stream}, "next(stream)")
    # three batches of 1 MiB each; the data set's own 4 MiB may be reached as well
    assert len(batches) == 3 and row.cycled_bytes == 3 << 20
    assert row.bytes - row.cycled_bytes in (0, 4 << 20)


def test_what_a_cycle_goes_over_and_others_hold_is_not_its_own() -> None:
    parts = [torch.ones(1 << 18) for _ in range(3)]
    stream = itertools.cycle(parts)
    next(stream)
    (row,) = held_tensors({"parts": parts, "stream": stream}, "next(stream)\nparts")
    assert row.name == "parts" and not row.cycled_bytes
