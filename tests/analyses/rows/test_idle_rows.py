"""Which rows have no effect on a loss, in small programs that really run under the close look."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.rows.idle_rows import IdleRows
from gpuprof.capture.look.close_look import CloseLook
from gpuprof.model.trace import Trace
from tests.support.look_builder import LookBuilder
from tests.support.looked_runs import looked_at

torch = pytest.importorskip("torch")
F = torch.nn.functional
B, T, D, V = 8, 16, 64, 500
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


def found(turn: Callable[[Net, Any, Any], Any]) -> tuple[IdleRows, Trace]:
    """Of three iterations: `turn` gets the net, inputs, and a mask of one row of four."""
    torch.manual_seed(3)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)

    def code(look: CloseLook) -> Any:
        for _ in range(_TURNS):
            x, mask = torch.randn(B, T, D), torch.randperm(B * T).view(B, T) < B * T / 4
            optimizer.zero_grad()
            result = turn(net, x, mask)
            loss = result[0] if isinstance(result, tuple) else result
            loss.backward()
            optimizer.step()
            look.iteration_ended()
        return None

    trace = looked_at(code, iterations=_TURNS)
    return Results(trace).get(IdleRows), trace


def names(trace: Trace, result: IdleRows, *, backward: bool) -> list[str]:
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
    assert result.kept == 32 or (turn is shifted and 20 < result.kept < 33)
    assert 0.6 < result.wasted_ns / result.rows_ns < 0.85
    assert result.ignored == (turn in (ignored, classes_in_the_middle, shifted, smoothed))


def _claimed(turn: Callable[[Net, Any, Any], Any]) -> tuple[int, int]:
    """Products of forward and of backward passes."""
    result, trace = found(turn)
    forward = names(trace, result, backward=False).count("aten::addmm")
    return forward, names(trace, result, backward=True).count("aten::mm")


def losses_of(logits: Any) -> Any:
    return F.cross_entropy(logits.view(-1, V), torch.randint(0, V, (B * T,)), reduction="none").view(B, T)


def clipped_ratio(net: Net, x: Any, mask: Any) -> Any:
    """As in PPO: the clip stops the gradient of many rows."""
    advantage = torch.randn(B, T)
    ratio = losses_of(net(x)).neg().exp() * V
    return -torch.min(ratio * advantage, ratio.clamp(0.99, 1.01) * advantage).mean()


def hinge(net: Net, x: Any, mask: Any) -> Any:
    sign = torch.where(mask, 1.0, -1.0)
    return F.relu(1 - 100 * sign * net(x).mean(-1)).mean()


def hard_examples(net: Net, x: Any, mask: Any) -> Any:
    losses = losses_of(net(x))
    return (losses * (losses > losses.mean() * 1.01)).sum()


def hardest_examples(net: Net, x: Any, mask: Any) -> Any:
    losses = losses_of(net(x)).view(-1)
    return losses[losses.detach().topk(B * T // 4).indices].mean()


def top_losses(net: Net, x: Any, mask: Any) -> Any:
    return losses_of(net(x)).view(-1).topk(B * T // 4).values.mean()


def hard_examples_by_numpy(net: Net, x: Any, mask: Any) -> Any:
    losses = losses_of(net(x))
    shown = losses.detach().numpy()
    return (losses * torch.from_numpy(shown > shown.mean() * 1.01)).sum()


def pseudo_labels(net: Net, x: Any, mask: Any) -> Any:
    logits = net(x).view(-1, V)
    best, labels = logits.detach().softmax(-1).max(-1)
    labels[best < best.quantile(0.8)] = -100
    return F.cross_entropy(logits, labels)


def focal(net: Net, x: Any, mask: Any) -> Any:
    losses = losses_of(net(x))
    return ((1 - torch.exp(-losses)) ** 2 * losses).mean()


def few_left_out(net: Net, x: Any, mask: Any) -> Any:
    return ignored(net, x, torch.rand(B, T) < 0.9)


def stochastic_depth(net: Net, x: Any, mask: Any) -> Any:
    """A branch that is dropped for most samples, in front of a layer."""
    keep = (torch.arange(B) % 4 == 0).float()[:, None, None]
    return losses_of(net.head(x + net.inner(x) * keep)).mean()


def dropped_out(net: Net, x: Any, mask: Any) -> Any:
    return losses_of(net.head(F.dropout(net.hidden(x), 0.8))).mean()


def masked_between_layers(net: Net, x: Any, mask: Any) -> Any:
    return losses_of(net.head(net.hidden(x) * mask.unsqueeze(-1))).mean()


@pytest.mark.parametrize(
    "turn",
    [
        *(clipped_ratio, hinge, hard_examples, hardest_examples, top_losses, hard_examples_by_numpy, pseudo_labels),
        *(focal, few_left_out, stochastic_depth, dropped_out, masked_between_layers),
    ],
)
def test_rows_that_the_calculation_itself_decides(turn: Callable[[Net, Any, Any], Any]) -> None:
    """Or that are but few, or dropped in front of a layer."""
    result, _ = found(turn)
    assert result.place == -1 and not len(result.taken)


def test_a_mask_from_another_pass_is_known_before() -> None:
    """As in FixMatch, where what one pass is sure of is taught to another."""

    def sure(net: Net, x: Any, mask: Any) -> Any:
        with torch.no_grad():
            labels = net(x).softmax(-1).max(-1).indices
        return (F.cross_entropy(net(x + 1).view(-1, V), labels.view(-1), reduction="none").view(B, T) * mask).mean()

    def by_itself(net: Net, x: Any, mask: Any) -> Any:
        with torch.no_grad():
            best, labels = net(x).softmax(-1).max(-1)
        chosen = (best > best.quantile(0.8)).float()
        return (F.cross_entropy(net(x + 1).view(-1, V), labels.view(-1), reduction="none").view(B, T) * chosen).mean()

    # of the pass that only makes labels the same rows are needed
    assert _claimed(sure) == (4 * _TURNS, 3 * _TURNS)
    forward, backward = _claimed(by_itself)
    assert _TURNS <= forward <= 2 * _TURNS and backward >= 2 * _TURNS


def test_logits_that_a_metric_reads_all_of() -> None:
    """Then the backward pass alone is for nothing."""

    def with_metric(net: Net, x: Any, mask: Any) -> Any:
        logits = net(x)
        loss = F.cross_entropy(logits.view(-1, V), labeled(mask).view(-1))
        logits.detach().argmax(-1).float().mean().item()
        return loss

    forward, backward = _claimed(with_metric)
    assert not forward and backward >= 2 * _TURNS


def test_a_metric_of_the_labeled_rows_alone() -> None:
    """It indexes with the same mask, or with one that says the same."""

    def by_labels(net: Net, x: Any, mask: Any) -> Any:
        logits, labels = net(x), labeled(mask)
        loss = F.cross_entropy(logits.view(-1, V), labels.view(-1))
        hits = logits.detach().argmax(-1)[labels != -100] == labels[labels != -100]
        hits.float().mean().item()
        return loss

    assert _claimed(by_labels) == (2 * _TURNS, 3 * _TURNS)


def test_logits_that_are_kept() -> None:
    """Somebody may read them after the look."""
    shown: list[Any] = []

    def keeping(net: Net, x: Any, mask: Any) -> Any:
        logits = net(x)
        shown.append(logits.detach())
        return F.cross_entropy(logits.view(-1, V), labeled(mask).view(-1))

    forward, backward = _claimed(keeping)
    assert not forward and backward >= 2 * _TURNS


def test_rows_that_another_loss_reads() -> None:
    """Of the hidden states: the head alone is for nothing."""

    def two_losses(net: Net, x: Any, mask: Any) -> Any:
        hidden = net.hidden(x)
        return F.cross_entropy(net.head(hidden).view(-1, V), labeled(mask).view(-1)) + hidden.square().mean()

    assert _claimed(two_losses) == (_TURNS, 2 * _TURNS)


def test_layers_before_a_mixing_one() -> None:
    """Normalization over a batch needs all of its rows."""
    norm = torch.nn.BatchNorm1d(V)

    def normalized(net: Net, x: Any, mask: Any) -> Any:
        logits = norm(net(x).view(-1, V))
        return F.cross_entropy(net_after(logits), labeled(mask).view(-1))

    def net_after(logits: Any) -> Any:
        return logits * 2

    result, _ = found(normalized)
    assert result.place == -1


def test_a_mask_in_some_iterations_alone() -> None:
    turns = iter(range(_TURNS))

    def sometimes(net: Net, x: Any, mask: Any) -> Any:
        return ignored(net, x, mask if next(turns) else torch.ones(B, T, dtype=torch.bool))

    result, _ = found(sometimes)
    assert result.place == -1


def test_nothing_without_a_look() -> None:
    assert Results(LookBuilder().builder.build()).get(IdleRows).place == -1
