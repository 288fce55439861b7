"""Which rows have no effect on a loss, in small programs that really run under the close look."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.demand.rows_without_effect import RowsWithoutEffect
from gpuprof.capture.look.close_look import CloseLook
from gpuprof.model.trace import Trace
from tests.support.look_builder import LookBuilder
from tests.support.looked_runs import looked_at

torch = pytest.importorskip("torch")
F = torch.nn.functional
B, T, D, V = 8, 16, 32, 400
_TURNS = 3


class Net(torch.nn.Module):
    """Mixes positions in its first part, and has a head for each."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(D, D)
        self.head = torch.nn.Linear(D, V)

    def hidden(self, x: Any) -> Any:
        x = x + x.mean(1, keepdim=True)
        return F.gelu(self.inner(x))

    def forward(self, x: Any) -> Any:
        return self.head(self.hidden(x))


def found(turn: Callable[[Net, Any, Any], Any]) -> tuple[RowsWithoutEffect, Trace]:
    """Of three iterations: `turn` gets the net, inputs, and a mask of one row of four."""
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)

    def code(look: CloseLook) -> Any:
        for _ in range(_TURNS):
            x, mask = torch.randn(B, T, D), torch.rand(B, T) < 0.25
            optimizer.zero_grad()
            result = turn(net, x, mask)
            loss = result[0] if isinstance(result, tuple) else result
            loss.backward()
            optimizer.step()
            look.iteration_ended()
        return None

    trace = looked_at(code, iterations=_TURNS)
    return Results(trace).get(RowsWithoutEffect), trace


def names(trace: Trace, result: RowsWithoutEffect, *, backward: bool) -> list[str]:
    operators = trace.looked_operators
    rows = [row for row in result.taken if operators["backward"][row] == backward]
    return [str(name) for name in trace.names_of(operators)[rows]]


def labeled(mask: Any) -> Any:
    labels = torch.randint(0, V, (B, T))
    labels[~mask] = -100
    return labels


def ignored(net: Net, x: Any, mask: Any) -> Any:
    return F.cross_entropy(net(x).view(-1, V), labeled(mask).view(-1))


def classes_in_the_middle(net: Net, x: Any, mask: Any) -> Any:
    return F.cross_entropy(net(x).transpose(1, 2), labeled(mask))


def shifted(net: Net, x: Any, mask: Any) -> Any:
    logits, labels = net(x)[:, :-1].contiguous(), labeled(mask)[:, 1:].contiguous()
    return F.cross_entropy(logits.view(-1, V), labels.view(-1))


def each_loss_masked(net: Net, x: Any, mask: Any) -> Any:
    losses = F.cross_entropy(net(x).view(-1, V), torch.randint(0, V, (B * T,)), reduction="none").view(B, T)
    weight = mask.float()
    return (losses * weight).sum() / weight.sum()


def smoothed(net: Net, x: Any, mask: Any) -> Any:
    return F.cross_entropy(net(x).view(-1, V), labeled(mask).view(-1), label_smoothing=0.1)


def squares_masked(net: Net, x: Any, mask: Any) -> Any:
    return (((net(x) - torch.randn(B, T, V)) ** 2).mean(-1) * mask).sum() / mask.sum()


def outputs_masked(net: Net, x: Any, mask: Any) -> Any:
    weight = mask.unsqueeze(-1).float()
    return F.mse_loss(net(x) * weight, torch.randn(B, T, V) * weight, reduction="sum") / mask.sum()


def filled(net: Net, x: Any, mask: Any) -> Any:
    losses = F.mse_loss(net(x), torch.randn(B, T, V), reduction="none").mean(-1)
    return losses.masked_fill(~mask, 0.0).sum() / mask.sum()


def chosen(net: Net, x: Any, mask: Any) -> Any:
    losses = F.smooth_l1_loss(net(x), torch.randn(B, T, V), reduction="none").mean(-1)
    return torch.where(mask, losses, 0.0).sum() / mask.sum()


def selected(net: Net, x: Any, mask: Any) -> Any:
    return F.cross_entropy(net(x).view(-1, V), torch.randint(0, V, (B * T,)), reduction="none")[mask.view(-1)].mean()


def weighed(net: Net, x: Any, mask: Any) -> Any:
    goal, weight = torch.rand(B, T, V), mask.unsqueeze(-1).float()
    return F.binary_cross_entropy_with_logits(net(x), goal, weight=weight, reduction="sum")


@pytest.mark.parametrize(
    "turn",
    [
        *(ignored, classes_in_the_middle, shifted, each_loss_masked, smoothed, squares_masked, outputs_masked),
        *(filled, chosen, selected, weighed),
    ],
)
def test_rows_that_are_left_out(turn: Callable[[Net, Any, Any], Any]) -> None:
    """Both layers behind the mean over positions, in both passes, in each iteration."""
    result, trace = found(turn)
    assert names(trace, result, backward=False).count("aten::addmm") == 2 * _TURNS
    assert names(trace, result, backward=True).count("aten::mm") == 3 * _TURNS  # inputs have no gradient
    assert 0.15 < result.kept / result.rows < 0.35
    assert 0.3 < result.share < 0.85 and 0.6 < result.wasted_ns / result.rows_ns < 0.85
    assert result.ignored == (turn in (ignored, classes_in_the_middle, shifted, smoothed))
