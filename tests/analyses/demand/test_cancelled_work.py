"""What a factor of 0 or 1 cancels, in small programs that really run under the close look."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.demand.cancelled_work import CancelledPlace, CancelledWork
from gpuprof.capture.look.close_look import CloseLook
from gpuprof.model.trace import Trace
from tests.support.look_builder import LookBuilder
from tests.support.looked_runs import looked_at

torch = pytest.importorskip("torch")


def cancelled(turn: Callable[[int], Any], turns: int = 4) -> tuple[list[CancelledPlace], Trace]:
    """Of the same in each of four iterations."""

    def code(look: CloseLook) -> list[Any]:
        kept = []
        for number in range(turns):
            kept.append(turn(number))
            look.iteration_ended()
        return kept

    trace = looked_at(code, iterations=turns)
    return list(Results(trace).get(CancelledWork).found), trace


def names(trace: Trace, place: CancelledPlace) -> set[str]:
    operators = trace.looked_operators
    return {str(name) for name in trace.names_of(operators)[place.rows]}


def test_nothing_without_a_look() -> None:
    assert not Results(LookBuilder().builder.build()).get(CancelledWork).found


def _guided(scale: float) -> Callable[[int], Any]:
    net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Tanh(), torch.nn.Linear(64, 64))
    x, y = torch.rand(32, 64), torch.rand(32, 64)

    def turn(_: int) -> Any:
        with torch.no_grad():
            with_label = net(x + y)
            without = net(x * 3)
            return (without + scale * (with_label - without)).mean().item()

    return turn


def test_guidance_of_scale_1_needs_one_of_two_passes() -> None:
    (place,), trace = cancelled(_guided(1.0))
    assert place.factor == 1 and place.factor_at == place.cancelled_at
    assert {"aten::addmm", "aten::tanh"} <= names(trace, place)
    products = [row for row in place.rows if trace.names_of(trace.looked_operators)[row] == "aten::addmm"]
    assert len(products) == 8  # two in each iteration, of four
    assert place.wasted_ns == place.rows_ns > 0


@pytest.mark.parametrize("scale", [0.0, 7.5, 1.0001, 2])
def test_guidance_of_another_scale(scale: float) -> None:
    """Of scale 0 the other pass is for nothing: `without + 0 * (with_label - without)`."""
    found, _ = cancelled(_guided(scale))
    assert [place.factor for place in found] == ([0] if not scale else [])


def _weighted(weight: float, *, printed: bool = False) -> Callable[[int], Any]:
    torch.manual_seed(0)
    net, other = torch.nn.Linear(64, 64), torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.Linear(128, 64))
    optimizer = torch.optim.SGD([*net.parameters(), *other.parameters()], lr=0.1, foreach=False)

    def turn(number: int) -> Any:
        x = torch.rand(64, 64)
        optimizer.zero_grad()
        main, auxiliary = net(x).square().mean(), other(x).square().mean()
        (main + weight * auxiliary).backward()
        optimizer.step()
        return auxiliary.item() if printed else None

    return turn


def test_a_loss_of_weight_0_needs_neither_forward_nor_backward() -> None:
    (place,), trace = cancelled(_weighted(0.0))
    assert place.factor == 0
    backward = trace.looked_operators["backward"][place.rows]
    assert backward.any() and not backward.all()
    assert {"aten::mm", "aten::addmm"} <= names(trace, place)


def test_a_loss_that_is_printed_needs_its_forward_pass() -> None:
    (place,), trace = cancelled(_weighted(0.0, printed=True))
    products = {"aten::addmm"} & names(trace, place)
    assert not products and trace.looked_operators["backward"][place.rows].all()


def test_a_loss_with_a_weight() -> None:
    assert cancelled(_weighted(0.1))[0] == []
    assert cancelled(_weighted(1.0))[0] == []


def test_only_in_some_iterations() -> None:
    x = torch.rand(64, 64)

    def turn(number: int) -> Any:
        return (x.sum() + float(number % 2) * (x @ x).exp()).mean().item()

    assert cancelled(turn)[0] == []


def test_what_cancels_by_rounding_alone_is_meant() -> None:
    """A compensated sum: `(t - s) - y` is what rounding lost."""
    values = torch.rand(8, 64, 64)

    def turn(_: int) -> Any:
        total, lost = torch.zeros(64, 64), torch.zeros(64, 64)
        for each in values:
            y = each.exp() - lost
            t = total + y
            lost = (t - total) - y
            total = t
        return total.sum().item()

    assert cancelled(turn)[0] == []


def test_a_straight_through_estimate_needs_what_its_gradients_go_to() -> None:
    net = torch.nn.Linear(64, 64)

    def turn(_: int) -> Any:
        z = net(torch.rand(64, 64))
        quantized = z + 1.0 * (z.round() - z).detach()
        quantized.square().mean().backward()
        grad = net.weight.grad.sum().item()
        net.zero_grad()
        return grad

    found, trace = cancelled(turn)
    assert all("aten::addmm" not in names(trace, place) and "aten::mm" not in names(trace, place) for place in found)


def test_a_learning_rate_of_0_says_nothing_of_the_gradients() -> None:
    net = torch.nn.Linear(64, 64)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.0, foreach=False)

    def turn(_: int) -> Any:
        optimizer.zero_grad()
        net(torch.rand(64, 64)).square().mean().backward()
        optimizer.step()

    assert cancelled(turn)[0] == []


def test_a_mean_with_momentum_0_keeps_what_else_reads_the_old_one() -> None:
    x, mean = torch.rand(64, 64), torch.zeros(64, 64)

    def turn(_: int) -> Any:
        nonlocal mean
        mean = 1.0 * mean + 0.1 * (x @ x)
        return mean.sum().item()

    assert cancelled(turn)[0] == []
