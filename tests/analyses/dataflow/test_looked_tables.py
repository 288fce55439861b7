"""Tables whose rows are looked up, in real looks at training steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.looked_tables import Gradient, LookedTables
from gpuprof.capture.look.close_look import CloseLook
from gpuprof.model.known_operators import BAG, LOOKUP
from tests.support.looked_runs import looked_at

ROWS, WIDTH = 500, 8
INDICES = torch.arange(0, 48, 3)
Loss = Callable[[], torch.Tensor]


def tables(
    loss: Loss,
    weights: Iterable[torch.Tensor],
    *,
    optimizer: Callable[..., torch.optim.Optimizer] = torch.optim.SGD,
    before_step: Callable[[], object] = lambda: None,
) -> LookedTables:
    stepping = optimizer(list(weights), lr=0.1)

    def code(look: CloseLook) -> None:
        for _ in range(3):
            stepping.zero_grad()
            loss().backward()
            before_step()
            stepping.step()
            look.iteration_ended()

    return Results(looked_at(code, iterations=3)).get(LookedTables)


def weight() -> nn.Parameter:
    return nn.Parameter(torch.ones(ROWS, WIDTH))


def test_a_table_and_what_takes_it() -> None:
    table, head = nn.Embedding(ROWS, WIDTH), nn.Linear(WIDTH, 1)
    found = tables(lambda: head(table(INDICES)).sum(), [*table.parameters(), *head.parameters()])
    assert found.order == (Gradient(LOOKUP, (ROWS, WIDTH)),)
    (one,) = found.tables
    assert (one.rows, one.width, one.lookups, one.filled) == (ROWS, WIDTH, ("embedding",), len(INDICES))
    assert not one.read_whole and one.optimizers == ("SGD",)
    assert one.parts == {"aten::add_": pytest.approx(ROWS * WIDTH / (ROWS * WIDTH + WIDTH + 1))}


def test_a_parameter_that_is_indexed_is_a_table() -> None:
    table = weight()
    (one,) = tables(lambda: table[INDICES].square().sum(), [table]).tables
    assert (one.lookups, one.filled) == (("index",), len(INDICES))
    plain = torch.ones(ROWS, WIDTH, requires_grad=True)
    (one,) = tables(lambda: plain.index_select(0, INDICES).square().sum(), [plain]).tables
    assert one.lookups == ("index_select",)


def test_a_bag_is_one() -> None:
    bag = nn.EmbeddingBag(ROWS, WIDTH)
    found = tables(lambda: bag(INDICES.view(4, 4)).square().sum(), bag.parameters())
    assert found.order == (Gradient(BAG, (ROWS, WIDTH)),)
    assert found.tables[0].filled == len(INDICES)


def scaled() -> tuple[Loss, Iterable[torch.Tensor]]:
    table = nn.Embedding(ROWS, WIDTH, scale_grad_by_freq=True)
    return lambda: table(INDICES).sum(), table.parameters()


def sparse() -> tuple[Loss, Iterable[torch.Tensor]]:
    table = nn.Embedding(ROWS, WIDTH, sparse=True)
    return lambda: table(INDICES).sum(), table.parameters()


def largest() -> tuple[Loss, Iterable[torch.Tensor]]:
    bag = nn.EmbeddingBag(ROWS, WIDTH, mode="max")
    return lambda: bag(INDICES.view(4, 4)).sum(), bag.parameters()


def columns() -> tuple[Loss, Iterable[torch.Tensor]]:
    table = weight()
    return lambda: table[:, INDICES % WIDTH].sum(), [table]


def masked() -> tuple[Loss, Iterable[torch.Tensor]]:
    table, mask = weight(), torch.arange(ROWS) < 4
    return lambda: table[mask].sum(), [table]


def pairs() -> tuple[Loss, Iterable[torch.Tensor]]:
    table = weight()
    return lambda: table[INDICES, INDICES % WIDTH].sum(), [table]


def computed() -> tuple[Loss, Iterable[torch.Tensor]]:
    """What is indexed follows from all of the weight: its gradient goes on."""
    table = weight()
    return lambda: table.tanh()[INDICES].sum(), [table]


@pytest.mark.parametrize("made", [scaled, sparse, largest, columns, masked, pairs, computed])
def test_other_gradients_cannot_be_sparse(made: Callable[[], tuple[Loss, Iterable[torch.Tensor]]]) -> None:
    assert tables(*made()).tables == ()


def test_lookups_of_one_table_add_up_and_those_of_two_do_not() -> None:
    one, other = nn.Embedding(ROWS, WIDTH), nn.Embedding(ROWS, WIDTH)
    both = [*one.parameters(), *other.parameters()]
    (found,) = tables(lambda: (one(INDICES) * one(INDICES + 1)).sum(), both).tables
    assert found.filled == 2 * len(INDICES)
    (found,) = tables(lambda: (one(INDICES) * other(INDICES[:4]).sum()).sum(), both).tables
    assert found.filled == len(INDICES) and found.parts == {"aten::add_": 1.0}


def test_a_weight_of_the_same_size_has_a_part_of_its_own() -> None:
    table, head = nn.Embedding(ROWS, WIDTH), nn.Linear(WIDTH, ROWS, bias=False)
    (one,) = tables(lambda: head(table(INDICES)).square().mean(), [table.weight, head.weight]).tables
    assert not one.read_whole and one.parts == {"aten::add_": 0.5}


def test_what_reads_all_of_a_table_or_its_gradient_needs_it_dense() -> None:
    table = nn.Embedding(ROWS, WIDTH)

    def tied() -> torch.Tensor:
        return functional.linear(table(INDICES), table.weight).square().mean()

    def decayed() -> torch.Tensor:
        return table(INDICES).sum() + table.weight.square().sum()

    for loss in (tied, decayed):
        assert tables(loss, [table.weight]).tables[0].read_whole
    clipped = tables(
        lambda: table(INDICES).sum(), [table.weight], before_step=lambda: nn.utils.clip_grad_norm_(table.weight, 1.0)
    )
    assert clipped.tables[0].read_whole


def test_reading_the_table_without_a_graph_does_not() -> None:
    table = nn.Embedding(ROWS, WIDTH)

    def code() -> torch.Tensor:
        with torch.no_grad():
            table.weight.norm()
        return table(INDICES).sum()

    assert not tables(code, [table.weight]).tables[0].read_whole


@pytest.mark.parametrize(
    ("optimizer", "names"),
    [
        (lambda *a, **k: torch.optim.SGD(*a, momentum=0.9, **k), {"aten::mul_"}),
        (lambda *a, **k: torch.optim.SGD(*a, weight_decay=0.1, **k), {"aten::add"}),
        (lambda *a, **k: torch.optim.Adam(*a, foreach=True, **k), {"aten::_foreach_addcdiv_", "aten::_foreach_lerp_"}),
        (torch.optim.Adagrad, {"aten::addcdiv_"}),
    ],
)
def test_operators_of_the_optimizer_show_what_it_does(
    optimizer: Callable[..., torch.optim.Optimizer], names: set[str]
) -> None:
    table = nn.Embedding(ROWS, WIDTH)
    (one,) = tables(lambda: table(INDICES).sum(), [table.weight], optimizer=optimizer).tables
    assert names <= set(one.parts)


def test_steps_that_differ_tell_nothing() -> None:
    table, turns = nn.Embedding(ROWS, WIDTH), iter(range(10))
    found = tables(
        lambda: sum((table(INDICES).sum() for _ in range(1 + next(turns) % 2)), torch.zeros(())), [table.weight]
    )
    assert found.order == () and found.tables == ()


def test_without_an_optimizer_there_is_no_table() -> None:
    table = nn.Embedding(ROWS, WIDTH)
    trace = looked_at(lambda _: table(INDICES).sum().backward())
    assert Results(trace).get(LookedTables).tables == ()


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["embedding", "index"]), st.integers(1, 9)), min_size=1, max_size=5))
def test_every_lookup_has_its_gradient(lookups: list[tuple[str, int]]) -> None:
    weights = [nn.Parameter(torch.ones(100 + number, 4)) for number in range(len(lookups))]

    def loss() -> torch.Tensor:
        parts = []
        for table, (how, count) in zip(weights, lookups, strict=True):
            rows = torch.arange(count)
            parts.append((functional.embedding(rows, table) if how == "embedding" else table[rows]).square().sum())
        return torch.stack(parts).sum()

    found = tables(loss, weights)
    assert len(found.order) == len(lookups)
    told = {each.rows - 100: (each.lookups, each.filled) for each in found.tables}
    assert told == {number: ((how,), count) for number, (how, count) in enumerate(lookups)}
