"""Every labelled pair runs, at its smallest size, as code; where the cure must not change the result, it does not."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
import torch

from benchmarks.proving.pair import SMALLEST, Pair, all_pairs
from benchmarks.proving.play import play

# relative: what the correctness guard allows fused and foreach optimizers
TOLERANCE = 1e-4
PAIRS = all_pairs()


@pytest.fixture(autouse=True)
def settings_restored() -> Iterator[None]:
    """Pairs may change what is set for the whole process, as a notebook would."""
    threads, precision = torch.get_num_threads(), torch.get_float32_matmul_precision()
    default, anomaly = torch.get_default_dtype(), torch.is_anomaly_enabled()
    autotune = torch.backends.cudnn.benchmark
    # with more of them, tests that run side by side wait for each other
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
    torch.set_float32_matmul_precision(precision)
    torch.set_default_dtype(default)
    torch.autograd.set_detect_anomaly(anomaly)
    torch.backends.cudnn.benchmark = autotune
    torch._dynamo.reset()


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_every_variant_runs_at_the_smallest_size(pair: Pair) -> None:
    losses = {name: play(pair, name, SMALLEST, "cpu").losses for name in pair.variants}
    assert all(math.isfinite(loss) for found in losses.values() for loss in found)
    if pair.guard == "exact":
        assert losses["bad"], "an exact pair leaves its `loss` or `losses`"
        assert losses["good"] == pytest.approx(losses["bad"], rel=TOLERANCE)


def test_numbers_and_names_are_used_once() -> None:
    assert len({pair.number for pair in PAIRS}) == len(PAIRS)
