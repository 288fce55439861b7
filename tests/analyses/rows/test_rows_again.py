"""Which rows are computed again, in small programs that really run under the close look."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.rows.rows_again import RowsAgain
from gpuprof.model.context import RunContext, Window
from tests.support.looked_runs import looked_at
from tests.support.trace_builder import TraceBuilder

torch = pytest.importorskip("torch")
nn, F = torch.nn, torch.nn.functional
N, D, TURNS = 200, 32, 4


def found(turn: Callable[[Any, Any, Any], Any], net: Any, x: Any, *, turns: int = TURNS) -> RowsAgain:
    """`turn` gets the net, the tensor and numbers of rows, as many as there are."""
    torch.manual_seed(0)

    def code(look: Any) -> Any:
        kept = []
        look.iteration_ended()
        for _ in range(turns):
            kept.append(turn(net, x, torch.from_numpy(torch.randint(len(x), (len(x),)).numpy())))
            look.iteration_ended()
        return kept

    return Results(looked_at(code, iterations=turns + 1)).get(RowsAgain)


@torch.no_grad()
def resampled(net: Any, x: Any, idx: Any) -> Any:
    return net(x[idx]).mean()


def layers() -> Any:
    return nn.Sequential(nn.Linear(D, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 3), nn.Softmax(-1)).eval()


NETS = {
    "layers": (layers, (N, D)),
    "convolutions": (
        lambda: nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(8, 3),
        ).eval(),
        (N, 3, 8, 8),
    ),
    "tokens": (lambda: nn.Sequential(nn.Embedding(50, D), nn.Flatten(), nn.Linear(6 * D, 3)), (N, 6)),
    "transformer": (
        lambda: nn.TransformerEncoderLayer(D, 4, 64, batch_first=True, norm_first=True, dropout=0.0),
        (N, 5, D),
    ),
    "attention": (lambda: nn.TransformerEncoderLayer(D, 4, 64, batch_first=True).eval(), (N, 5, D)),
}


@pytest.mark.parametrize("name", NETS)
def test_what_is_computed_for_rows_that_were_taken_before(name: str) -> None:
    make, shape = NETS[name]
    x = torch.randint(50, shape) if name == "tokens" else torch.randn(shape)
    again = found(resampled, make(), x)
    assert (again.source_rows, again.taken_rows, again.gathers) == (N, TURNS * N, TURNS)
    assert again.part == pytest.approx(1 - 1 / TURNS) and not again.frozen
    assert again.share > 0.1 * again.part
    assert again.result_bytes <= N * 5 * D * 4


class Recurrent(nn.Module):
    def __init__(self, kind: Any) -> None:
        super().__init__()
        self.rnn, self.head = kind(D, 16, batch_first=True), nn.Linear(16, 1)

    def forward(self, x: Any) -> Any:
        return self.head(self.rnn(x)[0][:, -1])


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_recurrent_networks(kind: Any) -> None:
    again = found(resampled, Recurrent(kind), torch.randn(N, 7, D))
    assert (again.source_rows, again.gathers) == (N, TURNS) and again.share > 0.05


class Mixing(nn.Module):
    """Of a row and of the others in its batch."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(D, D)
        self.place = nn.Parameter(torch.randn(N, D))

    def forward(self, x: Any) -> Any:
        return self.layer(x - x.mean(0))


def noisy(net: Any, x: Any, idx: Any) -> Any:
    with torch.no_grad():
        rows = x[idx]
        return net(rows + torch.randn_like(rows))


def by_place(net: Any, x: Any, idx: Any) -> Any:
    with torch.no_grad():
        return net.layer(x[idx] + net.place)


def trained(net: Any, x: Any, idx: Any) -> Any:
    loss = net(x[idx]).sum()
    loss.backward()
    with torch.no_grad():
        for each in net.parameters():
            each -= 0.01 * each.grad
    return loss.detach()


def grown(net: Any, x: Any, idx: Any) -> Any:
    """The rows change in between."""
    with torch.no_grad():
        out = net(x[idx]).sum()
        x += 1
    return out


SCALE = iter(range(2, 10_000))


def scaled(net: Any, x: Any, idx: Any) -> Any:
    """By another number each time."""
    with torch.no_grad():
        return net(x[idx] * next(SCALE))


def shifted(net: Any, x: Any, idx: Any) -> Any:
    """By a constant that is made of another number each time."""
    with torch.no_grad():
        return net(x[idx] + torch.full((1,), float(next(SCALE))))


def cropped(net: Any, x: Any, idx: Any) -> Any:
    """Other columns each time."""
    begin = next(SCALE) % 8
    with torch.no_grad():
        return net.layer(F.pad(x[idx][:, begin : begin + 20], (0, D - 20)))


def two_parts(net: Any, x: Any, idx: Any) -> Any:
    """One pass over each of the parts of one tensor."""
    part = next(SCALE) % TURNS * (N // TURNS)
    with torch.no_grad():
        return net(x[part : part + N // TURNS][idx[: N // TURNS] % (N // TURNS)])


def with_gradients(net: Any, x: Any, idx: Any) -> Any:
    """What is trained has to be computed anew."""
    return net(x[idx])


def dropped(net: Any, x: Any, idx: Any) -> Any:
    with torch.no_grad():
        return net(F.dropout(x[idx], 0.5))


@pytest.mark.parametrize(
    ("turn", "net"),
    [
        *((resampled, Mixing), (noisy, layers), (by_place, Mixing), (trained, layers), (grown, layers)),
        *((dropped, layers), (scaled, layers), (shifted, layers), (cropped, Mixing), (two_parts, layers)),
        (with_gradients, layers),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_rows_that_may_give_something_else_each_time(turn: Any, net: Any) -> None:
    assert found(turn, net(), torch.randn(N, D)).share < 0.02


def test_batches_of_one_pass_are_no_repetition() -> None:
    def batches(net: Any, x: Any, idx: Any) -> Any:
        with torch.no_grad():
            return [net(x[part]) for part in torch.from_numpy(torch.arange(len(x)).numpy()).split(50)]

    assert found(batches, layers(), torch.randn(N, D), turns=1).place < 0


def a_training_loop(take: Callable[[Any, int], Any]) -> RowsAgain:
    """Three of 60 steps over 200 rows, 50 at a time: 15 passes, with a frozen backbone."""
    torch.manual_seed(0)
    x, back, head = torch.randn(N, D), layers(), nn.Linear(3, 1)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)

    def code(look: Any) -> Any:
        look.iteration_ended()
        for step in range(3):
            with torch.no_grad():
                rows = back(take(x, step))
            head(rows).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
            look.iteration_ended()
        return head

    trace = looked_at(code, iterations=4)
    table = trace.looked_operators
    writes = table["writes"] & ~table["backward"]
    table = table.replace(optimizer=writes.astype("int32") - 1)
    return Results(with_steps(trace, table)).get(RowsAgain)


def with_steps(trace: Any, table: Any) -> Any:
    builder = TraceBuilder()
    for at in range(60):
        builder.iteration(at * 1000, 1000, plain=at > 5)
    plain = builder.context(window=Window(steps_recorded=5, ended_by="steps")).build()
    context = structs.replace(plain.context, look=trace.context.look)
    assert isinstance(context, RunContext)
    return dataclasses.replace(
        trace,
        context=context,
        tables={**trace.tables, "looked_operators": table, "iterations": plain.tables["iterations"]},
    )


def by_numbers(x: Any, step: int) -> Any:
    return x[torch.from_numpy(torch.randperm(len(x))[:50].numpy())]


def by_slices(x: Any, step: int) -> Any:
    return x[50 * step : 50 * step + 50]


@pytest.mark.parametrize("take", [by_numbers, by_slices])
def test_a_frozen_part_of_what_is_trained(take: Any) -> None:
    again = a_training_loop(take)
    assert again.frozen and again.source_rows == N and again.gathers == 3
    assert again.passes == pytest.approx(60 * 50 / N)
    assert again.part == pytest.approx(1 - 1 / 15)
    # two products, a normalization, an activation and a softmax in each
    assert len(again.rows) == 3 * 5
