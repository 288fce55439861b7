"""Tensors of every kind pass through a look unchanged."""

from __future__ import annotations

import copy
import functools
import gc
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from gpuprof.capture.look.close_look import CloseLook
from tests.capture.look.looks import RECENT, look_at


def odd_tensors() -> dict[str, Callable[[], Any]]:
    """Operators on tensors of all kinds; each gives what can be compared."""
    square = torch.randn(4, 4, generator=torch.Generator().manual_seed(1))
    return {
        "sparse": lambda: (
            square.to_sparse() @ square,
            square.to_sparse().to_dense(),
            square.to_sparse_csr().values() + 1,
        ),
        "quantized": lambda: torch.quantize_per_tensor(square, 0.1, 0, torch.qint8).dequantize() + 1,
        "nested": lambda: torch.nested.nested_tensor([square, square[:2]]).to_padded_tensor(0.0) + 1,
        "jagged": lambda: (torch.nested.nested_tensor([square, square[:2]], layout=torch.jagged) * 2).values(),
        "meta": lambda: (torch.ones(3, device="meta") + 1).shape,
        "complex": lambda: (
            torch.view_as_complex(square.view(8, 2)).conj() * 2,
            square.to(torch.complex64).conj().imag.neg() + 1,
        ),
        "small types": lambda: [
            (square > 0).to(kind).float() + 1 for kind in (torch.bool, torch.bfloat16, torch.half, torch.uint8)
        ],
        "float8": lambda: square.to(torch.float8_e4m3fn).float() + 1,
        "inference": lambda: _inference(square),
        "vmap": lambda: torch.func.vmap(lambda row: row.sum() * 2)(square),
        "grad": lambda: torch.func.grad(lambda value: (value**2).sum())(square),
        "hessian": lambda: torch.func.hessian(lambda value: (value**3).sum())(square[0]),
        "empty": lambda: (torch.empty(0) + 1, torch.ones(()) + 1, square[:0].sum()),
        "expanded": lambda: square[:1].expand(4, 4) + square.t() + square.flip(0)[::2].repeat(2, 1),
        "shared": lambda: _shared(square),
        "resized": lambda: torch.ones(2).resize_(3, 3).zero_() + 1,
        "set": lambda: torch.empty(0).set_(square) + 1,
        "detached": lambda: square.clone().requires_grad_().detach_() + 1,
        "in-place views": lambda: square.clone().t_().unsqueeze_(0).squeeze_() + 1,
        "subclass": lambda: (square.clone().as_subclass(_plain_class()) * 2).as_subclass(torch.Tensor),
        "copied": lambda: __import__("copy").deepcopy(square) + 1,
        "checkpoint": _checkpointed,
        "printed": lambda: str(square + 1),
        "stft": lambda: torch.stft(square.view(-1), 8, return_complex=True, window=torch.hann_window(8)).abs(),
    }


@functools.cache
def _plain_class() -> type[torch.Tensor]:
    """Not made before it is needed: with torch 2.4 nothing is looked at while there is one."""

    class _Plain(torch.Tensor):
        def __new__(cls, data: torch.Tensor) -> torch.Tensor:
            return data.as_subclass(cls)

    return _Plain


def _inference(tensor: torch.Tensor) -> torch.Tensor:
    with torch.inference_mode():
        made = tensor * 2
        made.add_(1)
        return made + 1


def _shared(tensor: torch.Tensor) -> torch.Tensor:
    base = tensor.clone()
    first, second = base[0], base.view(-1)
    first.add_(1)
    second.mul_(2)
    base.data.add_(1)
    return base + first


def _checkpointed() -> torch.Tensor:
    from torch.utils.checkpoint import checkpoint

    weight = torch.ones(4, 4, requires_grad=True)
    checkpoint(lambda value: (value @ value).relu(), weight, use_reentrant=False).sum().backward()
    assert weight.grad is not None
    return weight.grad


@pytest.mark.parametrize("kind", [each for each in odd_tensors() if RECENT or each != "subclass"])
@pytest.mark.filterwarnings("ignore")
def test_tensors_of_every_kind_pass_unchanged(kind: str) -> None:
    code = odd_tensors()[kind]
    expected = code()
    found: list[Any] = []
    look = look_at(lambda: found.append(code()))
    assert len(look.operators)
    for one, other in zip(_parts(expected), _parts(found[0]), strict=True):
        assert torch.equal(one, other) if isinstance(one, torch.Tensor) else one == other


def _parts(value: Any) -> list[Any]:
    return [part for each in value for part in _parts(each)] if isinstance(value, list | tuple) else [value]


def test_a_tensor_that_wraps_others_is_an_argument_without_a_value() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        fake = torch.ones(3)
    found = look_at(lambda: fake + 1)
    assert (found.values["fingerprint"] == 0).all()
    sparse = torch.eye(3).to_sparse()
    found = look_at(lambda: torch.sparse.mm(sparse, torch.ones(3, 3)))
    assert -1 in found.reads["value"].tolist()


@pytest.mark.parametrize("constructor", [None, lambda cls, data: torch.Tensor.__new__(cls, data)])
def test_where_a_class_is_made_by_torchs_constructor_nothing_begins(constructor: Any) -> None:
    made = type("Own", (torch.Tensor,), {} if constructor is None else {"__new__": constructor})
    look = CloseLook(__file__)
    assert not look.start()
    assert "Own" in str(look.result()[1].skipped)
    assert isinstance(made(torch.ones(2)), made)
    del made
    gc.collect()
    assert look.start() and look.stop()


def test_where_torch_cannot_make_classes_of_tensors_beside_a_mode_nothing_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As with torch 2.4, whose modes lack what newer ones say of themselves."""
    if RECENT:
        monkeypatch.delattr(TorchDispatchMode, "supports_higher_order_operators")
    made = type("Own", (torch.Tensor,), {"__new__": lambda cls, data: data.as_subclass(cls)})
    look = CloseLook(__file__)
    assert not look.start()
    assert "the tensor class" in str(look.result()[1].skipped)
    assert issubclass(made, torch.Tensor)
    del made
    gc.collect()


def test_a_storage_is_an_argument_without_its_bytes() -> None:
    """A copy by `copy.deepcopy` sets a storage, whose text has each of its bytes."""
    tensor = torch.full((30_000,), 7, dtype=torch.uint8)
    names = look_at(lambda: copy.deepcopy(tensor)).facts.names
    assert "aten::set_" in " ".join(names)
    assert max(len(name) for name in names) < 200


@pytest.mark.skipif(not RECENT, reason="this version of torch has no flex_attention, or no mode may see it")
def test_an_operator_of_higher_order_runs() -> None:
    from torch.nn.attention.flex_attention import flex_attention

    query = torch.randn(1, 1, 16, 16)
    expected = flex_attention(query, query, query)
    made: list[torch.Tensor] = []
    look_at(lambda: made.append(flex_attention(query, query, query)))
    assert torch.allclose(made[0], expected)


def test_of_sparse_tensors_how_many_entries_they_store() -> None:
    rows = torch.tensor([[1.0, 0.0, 0.0, 2.0], [0.0, 0.0, 0.0, 0.0], [0.0, 3.0, 0.0, 0.0]])
    for text, sparse in {
        "sparse_coo [3, 4] 3": rows.to_sparse(),
        "sparse_csr [3, 4] 3": rows.to_sparse_csr(),
    }.items():
        found = look_at(functools.partial(torch.matmul, sparse, torch.ones(4, 2)))
        own = found.reads["value"] < 0
        laid = [found.name(each) for each in found.reads["geometry"][own].tolist()]
        assert laid == [text] and (found.reads["shape"][own] == -1).all() and (found.reads["elements"][own] == -1).all()
    found = look_at(lambda: rows.to_sparse_csc() @ torch.ones(4, 2))
    assert (found.reads["geometry"][found.reads["value"] < 0] == -1).all()
