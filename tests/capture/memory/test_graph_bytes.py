"""What autograd graphs keep, counted without touching it."""

from __future__ import annotations

import gc
import time
import weakref
from typing import Any

import pytest
import torch

from gpuprof.capture.memory.graph_bytes import GraphBytes
from tests.support.torch_versions import TELLS_WHAT_GRAPHS_KEEP

ROWS, WIDTH = 32, 64
SAVED = 4 * ROWS * WIDTH
_LONG_NS = 10**12

pytestmark = pytest.mark.skipif(
    not TELLS_WHAT_GRAPHS_KEEP, reason="this version of torch does not tell what graphs keep"
)


def net() -> torch.nn.Module:
    # relu keeps its result, and so does the second product: the same storage
    return torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, 1))


def weigh(tensors: list[Any], claimed: set[Any] | None = None, until_ns: int = _LONG_NS) -> dict[str, int]:
    return GraphBytes(set() if claimed is None else claimed, time.thread_time_ns() + until_ns).of(tensors)


def test_inputs_and_activations_count_once_and_weights_do_not() -> None:
    model, x = net(), torch.zeros(ROWS, WIDTH)
    assert weigh([model(x)]) == {"cpu": 2 * SAVED}
    assert weigh([model(x), model(x)]) == {"cpu": 3 * SAVED}


def test_what_a_name_holds_is_not_counted_again() -> None:
    x = torch.zeros(ROWS, WIDTH)
    assert weigh([net()(x)], {(x.device, x.untyped_storage().data_ptr())}) == {"cpu": SAVED}


def test_a_graph_that_went_backward_keeps_nothing() -> None:
    loss = net()(torch.zeros(ROWS, WIDTH)).sum()
    loss.backward()
    assert weigh([loss]) == {}


def test_a_chain_counts_each_part_once() -> None:
    state, states = torch.zeros(ROWS, WIDTH, requires_grad=True), []
    for _ in range(10):
        state = state.tanh()
        states.append(state)
    assert weigh(states) == {"cpu": 10 * SAVED}


def test_where_time_ends_the_median_stands_for_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    model = net()
    outputs = [model(torch.zeros(ROWS, WIDTH)) for _ in range(50)]
    times = iter(range(10**9))
    monkeypatch.setattr(time, "thread_time_ns", lambda: next(times))
    graph = GraphBytes(set(), 40)
    assert graph.of(outputs) == {"cpu": 50 * 2 * SAVED}
    assert len(graph._nodes) < 200


def test_hooks_that_unpack_are_not_called() -> None:
    unpacked: list[torch.Tensor] = []

    def unpack(value: torch.Tensor) -> torch.Tensor:
        unpacked.append(value)
        return value

    with torch.autograd.graph.saved_tensors_hooks(lambda value: value, unpack):
        output = net()(torch.zeros(ROWS, WIDTH))
    weigh([output])
    assert unpacked == []


class Doubled(torch.autograd.Function):
    """A function of the user, whose nodes answer for their attributes themselves."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return grad * 2


def test_functions_of_the_user_count_and_do_not_run() -> None:
    x = torch.zeros(ROWS, WIDTH, requires_grad=True).neg()
    apply: Any = Doubled.apply
    assert weigh([apply(x)]) == {"cpu": SAVED}


def test_nothing_is_kept_alive_and_gradients_are_the_same() -> None:
    model, x = net(), torch.ones(ROWS, WIDTH)
    output = model(x).sum()
    weigh([output])
    output.backward()
    found = [each.grad.clone() for each in model.parameters() if each.grad is not None]
    model.zero_grad()
    model(x).sum().backward()
    assert all(torch.equal(a, b.grad) for a, b in zip(found, model.parameters(), strict=True) if b.grad is not None)

    output = model(x)
    gone = weakref.ref(output)
    weigh([output])
    del output
    gc.collect()
    assert gone() is None


def test_a_part_of_a_large_graph_stands_for_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """GIVEN a sum over 400 states, and time to weigh some 100 of its 1,200 nodes."""
    state = torch.zeros(ROWS, WIDTH, requires_grad=True)
    total: Any = 0.0
    for _ in range(400):
        state = state.tanh()
        total = total + state.sum()
    times = iter(range(10**9))
    monkeypatch.setattr(time, "thread_time_ns", lambda: next(times))
    sizes = GraphBytes(set(), 100).of([total])
    assert 0.7 * 400 * SAVED < sizes["cpu"] < 1.3 * 400 * SAVED
