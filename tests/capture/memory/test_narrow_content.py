"""Numbers that a smaller type holds, and what is left in its type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from gpuprof.capture.memory import dense_arrays
from gpuprof.capture.memory.narrow_content import narrow_in
from gpuprof.capture.memory.tensor_references import held_tensors

RANDOM = np.random.default_rng(0)
PIXELS = RANDOM.integers(0, 256, (600, 3, 80, 80))
TYPES = ["int64", "int32", "int16", "uint64", "uint32", ">i4", ">f8", "float64", "float32", "float16"]


@pytest.fixture(autouse=True)
def no_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuprof.capture.memory.tensor_references._MOST_CONTENT_NS", 10**12)


@pytest.mark.parametrize(
    ("make", "types"),
    [
        (lambda: PIXELS.astype(np.float32), ("float32", "uint8")),
        (lambda: torch.from_numpy(PIXELS.astype(np.float32)), ("float32", "uint8")),
        (lambda: PIXELS, ("int64", "uint8")),
        (lambda: PIXELS.transpose(2, 3, 0, 1), ("int64", "uint8")),
        (lambda: PIXELS[:, ::-1], ("int64", "uint8")),
        (lambda: PIXELS[:, :2], ("int64", "uint8")),
        (lambda: PIXELS - 128, ("int64", "int8")),
        (lambda: PIXELS * 200, ("int64", "uint16")),
        (lambda: torch.from_numpy(PIXELS * 200), ("int64", "int32")),
        (lambda: torch.from_numpy(PIXELS * 100 - 9000), ("int64", "int16")),
        (lambda: PIXELS.astype(">f8"), ("float64", "uint8")),
        (lambda: RANDOM.random(8_000_000, np.float32).astype(np.float64), ("float64", "float32")),
        (lambda: RANDOM.random(8_000_000, np.float32).astype(np.float16).astype(np.float64), ("float64", "float16")),
        # labels in order, of which many are 0
        (lambda: np.sort(RANDOM.integers(0, 4, 8_000_000)), ("int64", "uint8")),
    ],
)
def test_numbers_of_a_smaller_type(make: Callable[[], Any], types: tuple[str, str]) -> None:
    value = make()
    found = narrow_in(value)
    assert found is not None and found.types == types
    assert found.wide_bytes == value.nbytes
    assert found.narrow_bytes == value.nbytes // np.dtype(types[0]).itemsize * np.dtype(types[1]).itemsize


def begun(number: float = 0) -> Any:
    """A buffer of which a third is filled."""
    made = np.full((600, 3, 80, 80), number, np.float32)
    made[:200] = PIXELS[:200]
    return made


@pytest.mark.parametrize(
    "make",
    [
        lambda: RANDOM.standard_normal(8_000_000),
        lambda: torch.randn(400, 3, 128, 128),
        lambda: (PIXELS / 255 - 0.5).astype(np.float32),
        lambda: RANDOM.random(8_000_000),
        lambda: RANDOM.integers(0, 1 << 40, 8_000_000),
        lambda: torch.randint(0, 50_000, (1_250_000,)),
        begun,
        lambda: begun(-1),
        lambda: begun(np.nan),
        lambda: np.zeros((600, 3, 80, 80), np.float32),
        lambda: np.ones((600, 3, 80, 80), np.float32),
        lambda: PIXELS.astype(np.uint8).repeat(4, 0),
        lambda: torch.ones(40_000_000, dtype=torch.bool),
        lambda: torch.from_numpy(PIXELS.astype(np.float32)).bfloat16(),
        lambda: torch.from_numpy(PIXELS.astype(np.float32)).requires_grad_(),
        lambda: torch.nn.Parameter(torch.from_numpy(PIXELS.astype(np.float32))),
        lambda: np.broadcast_to(PIXELS[0], PIXELS.shape),
    ],
    ids=[
        *("normal", "tensor", "normalized pictures", "fractions", "large", "small", "begun", "begun -1", "begun NaN"),
        *("zeros", "ones", "bytes", "bool", "bfloat16", "gradient", "weights", "broadcast"),
    ],
)
def test_what_needs_its_type(make: Callable[[], Any]) -> None:
    assert narrow_in(make()) is None


@settings(max_examples=150, deadline=None)
@given(
    arrays.arrays(
        st.sampled_from(TYPES).map(np.dtype),
        arrays.array_shapes(max_dims=4, max_side=7),
        elements={"allow_nan": True, "allow_infinity": True},
    ),
    st.sampled_from([lambda each: each, lambda each: each.T, lambda each: each[::-1], lambda each: each[..., ::2]]),
)
def test_a_small_array_is_read_wholly_and_its_type_holds_all(array: Any, view: Callable[[Any], Any]) -> None:
    """A block is as long as the largest of these."""
    shown = view(array)
    shown.flags.writeable = False
    before = dense_arrays.LEAST_CONTENT_BYTES
    dense_arrays.LEAST_CONTENT_BYTES = 0
    try:
        found = narrow_in(shown)
    finally:
        dense_arrays.LEAST_CONTENT_BYTES = before
    if found is not None:
        with np.errstate(all="ignore"):
            back = shown.astype(found.types[1]).astype(shown.dtype)
        assert np.array_equal(back, shown, equal_nan=shown.dtype.kind == "f")
        assert found.narrow_bytes < found.wide_bytes == shown.nbytes


@pytest.mark.parametrize("make", [lambda: np.zeros(1 << 27), lambda: np.zeros((1 << 14, 1 << 13)).T])
def test_little_is_read_and_nothing_copied(make: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    value, read = make(), 0
    for block in dense_arrays.sampled_blocks(value):
        read += block.size
        assert block.size <= 1 << 12
    assert read <= 1 << 18


def test_of_names() -> None:
    pixels = PIXELS.astype(np.float32)
    data = {"x": pixels, "more": torch.from_numpy(pixels + 0.0), "rest": RANDOM.random(8_000_000)}
    (row,) = held_tensors({"data": data}, "train()")
    assert (row.wide_type, row.narrow_type, row.arrays, row.tensors) == ("float32", "uint8", 2, 3)
    assert (row.wide_bytes, row.narrow_bytes) == (2 * pixels.nbytes, pixels.nbytes // 2)


def test_what_is_mostly_zeros_has_no_type() -> None:
    (row,) = held_tensors({"table": np.eye(10)[RANDOM.integers(0, 10, 600_000)]}, "train()")
    assert row.one_hot and row.zeros_share == 0.9 and row.narrow_type == ""


def test_of_the_attribute_of_an_object() -> None:
    class Images:
        def __init__(self) -> None:
            self.rest = RANDOM.random(9_000_000)
            self.x = PIXELS.astype(np.float32)

    (row,) = held_tensors({"train": Images()}, "train()")
    assert (row.attribute, row.narrow_type, row.wide_bytes) == ("x", "uint8", PIXELS.size * 4)
    (row,) = held_tensors({"train": [PIXELS.astype(np.float32)]}, "train()")
    assert (row.attribute, row.narrow_type) == ("", "uint8")
