"""How many samples a batch has."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loops.batch_sizes import BatchSizes
from gpuprof.model.context import Loader
from tests.support.trace_builder import TraceBuilder


def _losses(*dims: str | None, name: str = "aten::mse_loss") -> TraceBuilder:
    """One step each, with a loss of these shapes."""
    builder = TraceBuilder()
    for number, each in enumerate(dims):
        builder.step(100 * number, 100).operator(name, 100 * number + 10, 10, dims=each)
    return builder


def test_loaders_tell_their_batch_sizes() -> None:
    builder = _losses("[[8], [8], []]").context(loaders=(Loader(workers=0, batch_size=16), Loader(workers=0)))
    sizes = Results(builder.build()).get(BatchSizes)
    assert (sizes.of_loaders, sizes.of_losses) == ({16}, {8})


@pytest.mark.parametrize(
    ("dims", "sizes"),
    [
        (["[[16, 10], [16], [], [], []]"] * 3, {16}),
        (["[[16, 10], [16], []]", "[[16, 10], [16], []]", "[[7, 10], [7], []]"], {16}),
        (["[[16, 10], [16], []]", "[[7, 10], [7], []]"], set()),
        (["[[16, 10], [1], []]"] * 3, set()),
        (["[[], [], []]"] * 3, set()),
        ([None] * 3, set()),
    ],
    ids=["every step", "most steps", "half the steps", "broadcast", "single numbers", "no shapes"],
)
def test_losses_compare_as_many_as_a_batch_has(dims: list[str | None], sizes: set[int]) -> None:
    assert Results(_losses(*dims).build()).get(BatchSizes).of_losses == sizes


def test_shapes_that_a_loss_compares_with_their_like() -> None:
    builder = _losses("[[30, 8], [30, 8], []]", "[[30, 8], [30, 8], []]", "[[30, 5], [30], []]", "[[7, 8], [7, 8], []]")
    sizes = Results(builder.build()).get(BatchSizes)
    assert (sizes.of_losses, sizes.compared) == ({30}, {(30, 8)})


def test_what_is_no_loss_tells_nothing() -> None:
    assert not Results(_losses("[[16], [16], []]", name="aten::add").build()).get(BatchSizes).of_losses


def test_every_shared_trace_is_read(any_shared_trace: Any) -> None:
    assert all(size > 0 for size in Results(any_shared_trace).get(BatchSizes).of_losses)
