"""Masks are counted where operators select by them, and nothing else is."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch

from gpuprof.capture.look.masks import MaskCounter, count_on_device, selecting
from tests.support.looked_runs import looked_at


def counted(tensor: torch.Tensor, name: str = "aten::where.self", left_ns: int = 10**12) -> float | None:
    found = MaskCounter(lambda: left_ns).count(tensor, tensor.untyped_storage(), name)
    assert found is None or isinstance(found[0], float)
    return None if found is None else float(found[0])


@pytest.mark.parametrize("zeros", [0, 1, 7, 12])
def test_the_share_of_false_elements(zeros: int) -> None:
    assert counted(torch.arange(12) >= zeros) == pytest.approx(zeros / 12)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64])
def test_numbers_are_masks_as_factors_alone(dtype: torch.dtype) -> None:
    tensor = torch.tensor([0, 0, 1, 0]).to(dtype)
    assert counted(tensor, "aten::mul.Tensor") == 0.75
    assert counted(tensor, "aten::where.self") is None


def test_a_factor_that_begins_with_another_number_is_no_mask() -> None:
    assert counted(torch.tensor([2.0, 0.0]), "aten::mul.Tensor") is None


@pytest.mark.parametrize(
    "tensor",
    [
        torch.zeros(2000),
        torch.zeros(20_000, dtype=torch.int64),
        torch.zeros(8, 32, dtype=torch.int64),
        torch.zeros(3, dtype=torch.complex64),
        torch.zeros(0, dtype=torch.bool),
        torch.zeros(12, dtype=torch.bool)[:6],
        torch.zeros(12, dtype=torch.bool)[6:],
    ],
)
def test_what_is_too_large_or_a_part_or_an_index_is_not_counted(tensor: torch.Tensor) -> None:
    assert counted(tensor, "aten::mul.Tensor") is None


def test_views_of_the_whole() -> None:
    done = torch.tensor([True, True, False, True])
    for view in (done[:, None], done.view(2, 2).T, done[:, None].expand(4, 9)):
        assert counted(view) == 0.25


def test_with_no_time_left_nothing_is_read() -> None:
    assert counted(torch.zeros(100, dtype=torch.bool), left_ns=50) is None


def test_the_count_of_a_device_is_the_same() -> None:
    mask = torch.arange(12) >= 5
    assert count_on_device(mask).item() == 7
    counter = MaskCounter(lambda: 10**12)
    counter._waiting["masks on cpu"] = [(count_on_device(mask), 12), (count_on_device(~mask), 12)]
    assert MaskCounter.waits(("masks on cpu", 1)) and not MaskCounter.waits(("cpu", 1))
    assert counter.told(("masks on cpu", 0))[0] == pytest.approx(5 / 12)
    assert counter.told(("masks on cpu", 1))[0] == pytest.approx(7 / 12)
    assert math.isnan(counter.told(("masks on cpu", 2))[0])


def test_which_arguments_select() -> None:
    assert selecting("aten::where.self") == ("condition",)
    assert selecting("aten::bitwise_or_.Tensor") == ("self", "other")
    assert selecting("aten::add.Tensor") == () == selecting("prims::mul")


def shares(code: Callable[[], Any]) -> list[float]:
    """Of all values of a look of which zeros were counted."""
    found = looked_at(lambda look: code()).looked_values["zeros_share"]
    return [float(each) for each in found if not math.isnan(each)]


def test_in_a_look() -> None:
    x, none, some = torch.rand(4, 5), torch.zeros(4, dtype=torch.bool), torch.tensor([True, True, True, False])

    assert shares(lambda: torch.where(none[:, None], x, 0.0)) == [1.0]
    assert shares(lambda: x.masked_fill(some[:, None], 0.0)) == [0.25]
    assert sorted(shares(lambda: none | some)) == [0.25, 1.0]
    assert shares(lambda: x * 2.0 + x) == []
    changed = torch.ones(4, 5)
    assert shares(lambda: changed.__setitem__(some, 0.0)) == [0.25]


def test_each_content_of_a_flag_is_counted_once() -> None:
    done, x = torch.zeros(4, dtype=torch.bool), torch.rand(4)

    def code() -> None:
        for row in range(4):
            torch.where(done, x, 0.0)
            torch.where(done, 0.0, x)
            done[row] = True

    assert shares(code) == [1.0, 0.75, 0.5, 0.25]


def test_in_a_backward_pass_nothing_is_counted() -> None:
    x, mask = torch.rand(4, requires_grad=True), torch.tensor([True, False, True, True])

    def code() -> None:
        torch.where(mask, x, 0.0).sum().backward()

    assert shares(code) == [0.25]
