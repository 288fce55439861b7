"""Looks at the numbers of a variable: in place, by a sample, on the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from gpuprof.capture.lines import subnormal_looks
from gpuprof.capture.lines.subnormal_looks import SubnormalLooks

N = 4_096


def looked(*values: Any) -> SubnormalLooks:
    looks = SubnormalLooks()
    for each in values:
        looks.note(each)
    return looks


def part(share: float, low: float, dtype: Any = np.float32) -> Any:
    numbers = np.ones(N, dtype)
    numbers[: int(share * N)] = low
    return numbers


@pytest.fixture(autouse=True)
def timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subnormal_looks, "measured_slowdown", lambda: 30.0)


@pytest.mark.parametrize(
    ("value", "double"),
    [
        (part(0.1, 1e-39), False),
        (part(0.1, 1e-310, np.float64), True),
        (torch.from_numpy(part(0.1, 1e-39)), False),
        (torch.nn.Parameter(torch.from_numpy(part(0.1, -1e-39))), False),
        (torch.from_numpy(part(0.1, 1e-39)).reshape(64, 64), False),
    ],
)
def test_they_are_found(value: Any, double: bool) -> None:
    looks = looked(value)
    assert (looks.found, looks.share, looks.double, looks.times_slower) == (1, 1.0, double, 30.0)


@pytest.mark.parametrize(
    "value",
    [
        part(0.1, 1.2e-38),
        part(0.1, 0.0),
        part(0.005, 1e-39),
        part(0.1, 1e-39)[:1023],
        part(0.1, 1e-39).reshape(64, 64).T,
        torch.from_numpy(part(0.1, 1e-39)).reshape(64, 64).T,
        torch.ones(N, dtype=torch.float16),
        torch.ones(N, dtype=torch.int32),
        torch.ones(N).to_sparse(),
        [1e-39] * N,
        None,
    ],
)
def test_others_are_not(value: Any) -> None:
    looks = looked(value)
    assert (looks.found, looks.share, looks.times_slower) == (0, 0.0, 0.0)


def test_the_first_values_are_looked_at_and_every_fourth() -> None:
    normal, low = part(0.0, 0.0), part(0.5, 1e-39)
    # looked at: 1, 2, 4, 8 of these eight
    assert looked(*[normal] * 4, *[low] * 4).share == pytest.approx(1 / 4)
    assert looked(normal, normal, low, normal).found == 0


def test_a_lazy_copy_is_left_alone() -> None:
    lazy = torch._lazy_clone(torch.full((N,), 1e-39))
    assert torch._C._is_cow_tensor(lazy)
    assert looked(lazy).found == 0
    assert torch._C._is_cow_tensor(lazy)


def test_a_mode_of_the_users_is_not_asked() -> None:
    asked = []

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            asked.append(function)
            return function(*args, **(kwargs or {}))

    value = torch.from_numpy(part(0.1, 1e-39))
    with Mode():
        assert looked(value).found == 0
    assert not asked
