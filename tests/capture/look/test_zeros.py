"""Zeros of the operands of products: counted by sample or whole, once a value, and nothing of the cell is changed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from gpuprof.capture.look import zeros
from gpuprof.capture.look.close_look import CloseLook
from gpuprof.capture.look.zeros import NOT_COUNTED, ZeroCounter, statistics_of, zeros_of
from gpuprof.model.kinds import ValueKind, ZeroPattern
from tests.capture.look.looks import Found, look_at

N = 320
KINDS = torch.float16, torch.bfloat16, torch.float32, torch.float64


def counted(tensor: torch.Tensor, *, left_ns: int = 10**12, inspect: bool = False) -> tuple[float, ZeroPattern]:
    counter = ZeroCounter(lambda: left_ns, inspect=inspect)
    share, pattern = counter.told(counter.count(tensor, tensor.untyped_storage()))
    return share, ZeroPattern(pattern)


def scattered(share: float, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    chosen = torch.rand(shape or (N, N), generator=generator) < share
    return torch.where(chosen, torch.randn(chosen.shape, generator=generator), 0.0).to(dtype)


def one_hot(rows: int, columns: int) -> torch.Tensor:
    return torch.nn.functional.one_hot(torch.arange(rows) * 7 % columns, columns).float()


@pytest.mark.parametrize("dtype", KINDS)
def test_zeros_of_sparse_matrices_are_counted_exactly(dtype: torch.dtype) -> None:
    """A negative zero is a zero, whatever the type."""
    tensor = scattered(0.02, dtype=dtype)
    tensor[5] = -0.0
    share, pattern = counted(tensor)
    assert share == pytest.approx(1 - int(tensor.count_nonzero()) / tensor.numel(), abs=1e-12)
    assert pattern is ZeroPattern.NONE


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_other_matrices_by_a_sample(share: float) -> None:
    tensor = scattered(share, 700, 700)
    assert counted(tensor)[0] == pytest.approx(1 - share, abs=0.03)


def test_a_sample_is_in_step_with_no_row_or_column() -> None:
    for every in (2, 64, 256, 320, 4096):
        flat = torch.zeros(N * N)
        flat[::every] = 1.0
        share = zeros._sampled(flat.numpy().view(np.uint32), 0x7FFF_FFFF, 4_096)
        assert share == pytest.approx(1 - 1 / every, abs=0.02)


@pytest.mark.parametrize("dtype", KINDS)
def test_patterns(dtype: torch.dtype) -> None:
    hot = one_hot(400, 300).to(dtype)
    cases = [
        (torch.diag(torch.rand(N) + 1).to(dtype), ZeroPattern.DIAGONAL),
        (hot, ZeroPattern.ONE_HOT_ROWS),
        (hot.t().contiguous(), ZeroPattern.ONE_HOT_COLUMNS),
        (hot.t(), ZeroPattern.ONE_HOT_ROWS),  # rows are what lies together
        (2 * hot, ZeroPattern.NONE),
        (torch.diag(torch.rand(N), 1).to(dtype), ZeroPattern.NONE),
        (torch.stack([torch.eye(200) * 3] * 2).to(dtype), ZeroPattern.DIAGONAL),
        (torch.stack([one_hot(256, 200)] * 2).to(dtype), ZeroPattern.ONE_HOT_ROWS),
        (torch.zeros(N, N, dtype=dtype), ZeroPattern.NONE),
    ]
    for tensor, pattern in cases:
        share, found = counted(tensor)
        assert found is pattern
        assert share == pytest.approx(1 - int(tensor.count_nonzero()) / tensor.numel(), abs=1e-12)


def test_what_a_device_counts_is_what_the_host_counts() -> None:
    """The reductions of a device, on the host."""
    shapes = (torch.diag(torch.rand(N) + 1), one_hot(400, 300), one_hot(300, 400).t().contiguous(), scattered(0.02))
    for tensor in (*shapes, torch.stack([torch.eye(200) * 3] * 2), scattered(0.01, 2, 200, 200)):
        shape = zeros._in_memory(tensor)
        counts = statistics_of(tensor, shape)
        assert counts.dtype == torch.int64 and counts.shape == (7,)
        share, pattern = zeros_of(counts.tolist(), tensor.numel(), shape[0])
        assert (pytest.approx(share, abs=1e-12), ZeroPattern(pattern)) == counted(tensor)


def test_what_is_not_counted() -> None:
    sparse = scattered(0.01)
    storage = scattered(0.01, 2 * N, N)
    for tensor in (
        scattered(0.01, 100, 100),
        sparse.bool(),
        sparse.to(torch.complex64),
        storage[:N],
        storage[N:],
        sparse[:, None].expand(N, 2, N),
        sparse.reshape(2, N // 2, 1, N),
        scattered(0.01, N, 2, N).transpose(0, 1),
    ):
        assert math.isnan(counted(tensor)[0])
    assert counted(scattered(0.01, 100, 100), inspect=True)[0] > 0.98
    assert math.isnan(counted(torch._lazy_clone(sparse))[0]) and sparse.count_nonzero() > 0


def test_little_time_is_left() -> None:
    """Then a larger sample says how many, and not where."""
    share, pattern = counted(torch.eye(N), left_ns=1_000)
    assert share == pytest.approx(1 - 1 / N, abs=0.002) and pattern is ZeroPattern.NONE


def test_operands_of_products_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sparse, other = scattered(0.01), scattered(0.5)
    calls = []
    count = ZeroCounter.count
    monkeypatch.setattr(
        ZeroCounter, "count", lambda self, tensor, storage: calls.append(tensor.shape) or count(self, tensor, storage)
    )

    def code() -> None:
        for _ in range(3):
            sparse @ other
            torch.addmm(other, sparse, other)
            sparse + other
            torch.mv(sparse, other[0])

    found = look_at(code)
    assert calls == [(N, N)] * 2
    shares = _shares(found)
    assert shares[0] == pytest.approx(0.99, abs=0.003) and shares[1] == pytest.approx(0.5, abs=0.05)


def test_of_what_is_made_anew_a_few_are_counted() -> None:
    other = torch.rand(N, N)

    def code() -> None:
        for _ in range(9):
            torch.diag(other[0]) @ other

    found = look_at(code)
    shares = _shares(found)
    assert len(shares) == 1 + 4  # the other factor, and the first, second, fourth and eighth diagonal matrix
    assert sorted(shares)[1:] == pytest.approx([1 - 1 / N] * 4, abs=0.002)


def test_weights_are_not_counted_and_written_values_again() -> None:
    linear, sparse = torch.nn.Linear(N, N), scattered(0.01)

    def code() -> None:
        linear(sparse)
        sparse.mul_(2.0)
        linear(sparse)

    found = look_at(code)
    known = ~np.isnan(found.values["zeros_share"])
    assert known.sum() == 2  # before and after
    assert not known[found.values["kind"] == ValueKind.PARAMETER].any()
    assert found.values["zero_pattern"].dtype == np.uint8


@pytest.mark.parametrize("inspected", [False, True])
def test_small_ones_on_request(inspected: bool) -> None:
    small = scattered(0.01, 64, 64)
    found = look_at(lambda: small @ small, inspect=inspected)
    assert (not np.isnan(found.values["zeros_share"]).all()) is inspected


def test_nothing_is_changed() -> None:
    """Weights, random numbers and results, in training with sparse operands."""
    plain, looked = (_trained(looked_at) for looked_at in (False, True))
    assert all(torch.equal(one, other) for one, other in zip(plain, looked, strict=True))


def test_a_product_in_a_backward_pass_reads_what_was_counted() -> None:
    sparse, weight = scattered(0.01), torch.rand(N, 8, requires_grad=True)
    found = look_at(lambda: (sparse @ weight).sum().backward())
    forward, backward = found.named("mm")
    counted_values = set(np.flatnonzero(~np.isnan(found.values["zeros_share"])).tolist())
    assert counted_values == set(found.read(forward)) & set(found.read(backward))


def _shares(found: Found) -> list[float]:
    return [float(each) for each in found.values["zeros_share"] if not math.isnan(each)]


def _trained(looked_at: bool) -> list[torch.Tensor]:
    torch.manual_seed(4)
    neighbors = scattered(0.01)
    net = torch.nn.Sequential(torch.nn.Linear(N, N), torch.nn.ReLU(), torch.nn.Dropout(0.5), torch.nn.Linear(N, 4))
    optimizer = torch.optim.Adam(net.parameters())
    results: list[Any] = []

    def steps() -> None:
        for _ in range(3):
            optimizer.zero_grad()
            out = neighbors @ net(torch.diag(torch.rand(N)) @ neighbors)
            out.square().mean().backward()
            optimizer.step()
            results.append(out.detach())

    if looked_at:
        look = CloseLook(__file__, most_seconds=60.0)
        with look:
            steps()
        assert look.failure is None
        assert not np.isnan(look.result()[0][1]["zeros_share"]).all()
    else:
        steps()
    return [*net.state_dict().values(), *results, neighbors, torch.get_rng_state()]


def test_tensors_without_memory_are_left_alone() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    counter = ZeroCounter(lambda: 10**12)

    class Nowhere:
        def nbytes(self) -> int:
            return N * N * 4

        def data_ptr(self) -> int:
            return 0

    assert counter.told(counter.count(scattered(0.01), Nowhere()))[1] == 0

    one, other = scattered(0.01), scattered(0.01)

    def code() -> None:
        with FakeTensorMode():
            masked = torch.where(torch.rand(N, N) > 0.5, torch.rand(N, N), 0.0)
            masked @ torch.rand(N, N)
        one @ other

    assert len(_shares(look_at(code))) == 2


def test_not_counted_stands_for_unknown() -> None:
    assert math.isnan(NOT_COUNTED[0]) and NOT_COUNTED[1] == ZeroPattern.NONE
