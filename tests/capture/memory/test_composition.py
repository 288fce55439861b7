"""What models and optimizers hold, against models of known size."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch

from gpuprof.capture.base.signal import WatchedCell
from gpuprof.capture.memory.composition import CompositionWatch
from gpuprof.capture.session.session import Session
from gpuprof.model.memory import Composition

NewSession = Callable[..., Session]
F32 = 4


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = torch.nn.Linear(64, 128, bias=False)
        self.norm = torch.nn.BatchNorm1d(128)
        self.head = torch.nn.Linear(128, 32)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.norm(self.embed(x)))


EMBED, NORM, HEAD = 64 * 128, 2 * 128, 128 * 32 + 32
ELEMENTS = EMBED + NORM + HEAD
# running mean and variance, and the number of batches as int64
BUFFERS = 2 * 128 * F32 + 8


def step(net: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    net(torch.randn(16, 64)).sum().backward()
    optimizer.step()


def weighed(optimizer: torch.optim.Optimizer, namespace: dict[str, Any] | None = None) -> Composition:
    watch = CompositionWatch(WatchedCell(namespace))
    watch.after_step(optimizer, 1)
    (found,) = watch.facts()
    return found


def test_adam_to_the_byte() -> None:
    net = Net()
    optimizer = torch.optim.Adam(net.parameters())
    step(net, optimizer)
    found = weighed(optimizer)
    tensors = len(list(net.parameters()))
    assert found.device == "cpu" and found.whole and found.after_steps == 1
    assert found.parameter_bytes == F32 * ELEMENTS
    assert found.gradient_bytes == F32 * ELEMENTS
    # two moments, and one float32 step counter a tensor
    assert found.state_bytes == 2 * F32 * ELEMENTS + F32 * tensors
    assert found.buffer_bytes == BUFFERS


@pytest.mark.parametrize(("momentum", "state"), [(0.0, 0), (0.9, F32 * ELEMENTS)])
def test_sgd_has_state_only_with_momentum(momentum: float, state: int) -> None:
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=momentum)
    step(net, optimizer)
    assert weighed(optimizer).state_bytes == state


def test_parts_of_the_model_are_named() -> None:
    net = Net()
    optimizer = torch.optim.Adam(net.parameters())
    step(net, optimizer)
    parts = {part.name: part for part in weighed(optimizer).modules}
    assert set(parts) == {"net.embed", "net.norm", "net.head"}
    assert (parts["net.embed"].parameter_bytes, parts["net.embed"].gradient_bytes) == (F32 * EMBED, F32 * EMBED)
    assert parts["net.embed"].state_bytes == 2 * F32 * EMBED + F32
    assert parts["net.norm"].buffer_bytes == BUFFERS


def test_a_wrapper_of_one_child_is_looked_through() -> None:
    (found,) = CompositionWatch(WatchedCell({"model": torch.nn.Sequential(torch.nn.Sequential(Net(), Net()))})).facts()
    assert {(part.name, part.parameter_bytes) for part in found.modules} == {
        ("model.0.0", F32 * ELEMENTS),
        ("model.0.1", F32 * ELEMENTS),
    }


def test_a_shared_storage_counts_once() -> None:
    """GIVEN a head tied to the embedding, half of the parameters frozen, and gradients of one tensor only."""
    table = torch.nn.Embedding(100, 16)
    head = torch.nn.Linear(16, 100, bias=False)
    head.weight = table.weight
    frozen = torch.nn.Linear(16, 16, bias=False).requires_grad_(False)
    model = torch.nn.Sequential(table, frozen, head)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.tensor([1, 2])).sum().backward()
    optimizer.step()
    found = weighed(optimizer)
    assert found.parameter_bytes == F32 * (100 * 16 + 16 * 16)
    assert found.gradient_bytes == F32 * 100 * 16


def test_sparse_gradients_are_their_indices_and_values() -> None:
    table = torch.nn.Embedding(1000, 8, sparse=True)
    optimizer = torch.optim.SGD(table.parameters(), lr=0.1)
    table(torch.tensor([1, 2, 3])).sum().backward()
    assert weighed(optimizer).gradient_bytes == 3 * 8 * F32 + 3 * 8


def test_a_model_that_nobody_steps_is_found_among_the_names() -> None:
    watch = CompositionWatch(WatchedCell({"net": Net(), "other": 3, 7: Net()}))  # type: ignore[dict-item]
    (found,) = watch.facts()
    assert (found.parameter_bytes, found.state_bytes, found.after_steps) == (F32 * ELEMENTS, 0, 0)


def test_gradients_zeroed_later_still_count() -> None:
    net = Net()
    optimizer = torch.optim.Adam(net.parameters())
    watch = CompositionWatch()
    step(net, optimizer)
    watch.after_step(optimizer, 1)
    optimizer.zero_grad()
    (found,) = watch.facts()
    assert found.gradient_bytes == F32 * ELEMENTS


def test_nothing_is_kept_alive() -> None:
    """GIVEN a step in a function that drops a tensor later: the variables looked at must not be held."""
    watch = CompositionWatch()
    alive: list[weakref.ref[torch.Tensor]] = []

    def train() -> bool:
        net = Net()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        kept = torch.ones(10)
        alive.append(weakref.ref(kept))
        watch.after_step(optimizer, 1)
        del kept
        return alive[0]() is None

    assert train()
    gc.collect()
    assert [found.parameter_bytes for found in watch.facts()] == [F32 * ELEMENTS]


def test_a_tensor_that_cannot_be_sized_is_said() -> None:
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    optimizer.state[net.head.bias]["odd"] = torch.ones(2).as_subclass(_Odd)
    found = weighed(optimizer)
    assert not found.whole
    assert found.parameter_bytes == F32 * ELEMENTS


class _Odd(torch.Tensor):
    # without one of its own it keeps close looks from beginning
    def __new__(cls, data: torch.Tensor) -> torch.Tensor:
        return data.as_subclass(cls)

    def untyped_storage(self) -> Any:
        raise NotImplementedError


def test_a_profiled_cell_keeps_it(new_session: NewSession) -> None:
    net = Net()
    optimizer = torch.optim.Adam(net.parameters())
    session = new_session()
    session.start()
    for _ in range(4):
        optimizer.zero_grad()
        step(net, optimizer)
    context = session.stop().context
    (found,) = context.compositions
    assert (found.parameter_bytes, found.gradient_bytes) == (F32 * ELEMENTS, F32 * ELEMENTS)
    assert context.held is None
    assert context.step_memory == ()
