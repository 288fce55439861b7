"""Subnormal numbers of what operators read: counted by sample on the host, and nothing of the cell is changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from gpuprof.capture.look import subnormals
from gpuprof.capture.look.subnormals import SubnormalCounter, measured_slowdown
from gpuprof.model.look_schema import LOOKED_VALUES
from gpuprof.model.table import Table
from tests.capture.look.looks import look_at

N = 20_000


def counted(tensor: torch.Tensor, *, left_ns: int = 10**12) -> float | None:
    return SubnormalCounter(lambda: left_ns).count(tensor, tensor.untyped_storage())


@pytest.mark.parametrize(
    ("dtype", "low", "normal"), [(torch.float32, 1e-39, 1.2e-38), (torch.float64, 1e-310, 2.3e-308)]
)
def test_the_share_of_a_tensor(dtype: torch.dtype, low: float, normal: float) -> None:
    values = torch.full((N,), normal, dtype=dtype)
    assert counted(values) == 0
    values[: N // 4] = -low
    assert counted(values) == pytest.approx(0.25, abs=0.01)
    values.zero_()
    assert counted(values) == 0
    values.fill_(torch.nan)
    assert counted(values) == 0


def test_what_is_not_counted() -> None:
    may_have = SubnormalCounter.may_have
    assert may_have(torch.ones(1024)) and not may_have(torch.ones(1023)) and not may_have(torch.ones(N).int())
    assert counted(torch.ones(N, dtype=torch.bfloat16)) is None
    assert counted(torch.ones(N), left_ns=0) is None


def test_a_part_of_what_is_made_again_and_again() -> None:
    counter = SubnormalCounter(lambda: 1)
    assert [number for number in range(1, 65) if counter.is_due("line")] == [1, 2, 4, 8, 16, 32, 48, 64]
    assert counter.is_due("another line")


def test_the_look_says_what_each_operator_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subnormals, "measured_slowdown", lambda: 12.5)
    x, kept = torch.full((N,), 1e-37), list[Any]()

    def code() -> None:
        x.mul_(0.01)
        kept.append(x + 1)
        kept.append(torch.empty(N).fill_(2.0))

    found = look_at(code)
    (multiplied,), (added,), (filled,) = (found.named(name) for name in ("mul_", "add", "fill_"))
    share = found.values["subnormals_share"]
    assert share[found.read(multiplied)[0]] == 0
    assert share[found.read(added)[0]] == 1
    assert not (share[found.read(filled)] == share[found.read(filled)]).any()  # nobody wrote to it
    assert found.facts.subnormal_slowdown == 12.5
    assert torch.equal(x, torch.full((N,), 1e-37).mul_(0.01))


def test_without_any_nothing_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subnormals, "measured_slowdown", lambda: pytest.fail("timed"))
    x = torch.zeros(N)
    assert look_at(lambda: x + 1).facts.subnormal_slowdown is None


def test_a_thread_that_flushes_them_takes_no_longer() -> None:
    assert measured_slowdown() > 0
    if torch.set_flush_denormal(True):
        try:
            assert counted(torch.full((N,), 1e-37) * 0.01) == 0
        finally:
            torch.set_flush_denormal(False)


def test_a_recording_without_the_column_says_that_nothing_was_counted() -> None:
    table = Table(LOOKED_VALUES, {"storage": [1, 2]})
    assert np.isnan(table["subnormals_share"]).all()
