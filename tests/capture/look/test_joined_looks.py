"""Two looks as one: numbers go on, names and lines are the same ones, and what was seen in part is left out."""

from __future__ import annotations

import msgspec
import numpy as np
import torch

from gpuprof.capture.look.close_look import CloseLook
from gpuprof.capture.look.joined_looks import TakenLook, joined
from gpuprof.model.table import Table


def taken(rounds: int, width: int = 4) -> TakenLook:
    """A look at iterations of two operators; the weights were there before."""
    weights = torch.ones(width, width)
    look = CloseLook(__file__, iterations=rounds, most_seconds=20.0)
    with look:
        for _ in range(rounds):
            weights.mm(weights).relu()
            look.iteration_ended()
    return TakenLook(*look.result())


def told(looks: TakenLook, table: int, column: str) -> list[str]:
    numbers = looks.tables[table][column].tolist()
    return [looks.look.names[each] if each >= 0 else "" for each in numbers]


def test_rows_and_numbers_go_on() -> None:
    one, two = taken(2), taken(3, 5)
    both = joined([one, two])
    operators, values, reads, results = both.tables
    assert [len(table) for table in both.tables] == [
        len(a) + len(b) for a, b in zip(one.tables, two.tables, strict=True)
    ]
    first = len(one.tables[0])
    assert operators["look"].tolist() == [0] * first + [1] * (len(operators) - first)
    assert np.unique(operators["iteration"]).tolist() == [0, 1, 3, 4, 5]
    assert not set(values["storage"][: len(one.tables[1])]) & set(values["storage"][len(one.tables[1]) :])
    # each read is of a value that was made before, or that was there, by the same look
    maker = values["made_by"][reads["value"]]
    known = maker >= 0
    assert (maker[known] < reads["operator"][known]).all()
    assert (operators["look"][maker[known]] == operators["look"][reads["operator"][known]]).all()
    made = values["made_by"][results["value"]]
    assert (made == results["operator"]).all()


def test_names_and_lines_mean_what_they_meant() -> None:
    one, two = taken(2), taken(3, 5)
    both = joined([one, two])
    for table, column in ((0, "name"), (0, "arguments"), (1, "shape"), (1, "dtype"), (2, "shape"), (3, "geometry")):
        assert told(both, table, column) == told(one, table, column) + told(two, table, column)
    places = [both.look.places[each] for each in both.tables[0]["place"].tolist()]
    alone = [look.look.places[each] for look in (one, two) for each in look.tables[0]["place"].tolist()]
    assert places == alone
    assert len(set(both.look.places)) == len(both.look.places)


def test_what_is_said_of_both() -> None:
    one, two = taken(2), taken(3, 5)
    look = joined([one, two]).look
    assert (look.iterations, look.ended_by, look.operators_share) == (5, "iterations", 1.0)
    assert [(each.iterations, each.first_iteration, each.told) for each in look.parts] == [(2, 0, True), (3, 3, True)]
    assert look.cost_ns == one.look.cost_ns + two.look.cost_ns
    assert (look.start_ns, look.end_ns) == (one.look.start_ns, two.look.end_ns)


def test_a_part_does_not_spoil_a_whole_one() -> None:
    one, two = taken(2), taken(3)
    part = TakenLook(two.tables, msgspec.structs.replace(two.look, operators_share=None))
    assert joined([one, part]) is one
    assert joined([part, one]) is one
    smaller = TakenLook(one.tables, msgspec.structs.replace(one.look, operators_share=0.3))
    assert joined([smaller, part]) is part
    assert joined([TakenLook((), one.look)]).tables == tuple[Table, ...]()


def trained(optimizer_class: type[torch.optim.Optimizer]) -> TakenLook:
    weights = torch.ones(3, 3, requires_grad=True)
    optimizer = optimizer_class([weights], lr=0.1)
    look = CloseLook(__file__, iterations=2, most_seconds=20.0)
    with look:
        for _ in range(2):
            weights.mm(weights).tanh().sum().backward()
            optimizer.step()
            look.iteration_ended()
    return TakenLook(*look.result())


def test_nodes_and_optimizers_are_those_of_their_look() -> None:
    one, two = trained(torch.optim.SGD), trained(torch.optim.Adagrad)
    both = joined([one, two])
    operators = both.tables[0]
    back = operators["forward_operator"] >= 0
    assert back.any() and operators["graph"][operators["forward_operator"][back]].all()
    assert (operators["look"][operators["forward_operator"][back]] == operators["look"][back]).all()
    assert told(both, 0, "optimizer") == told(one, 0, "optimizer") + told(two, 0, "optimizer")
    called = [both.look.places[each].function for each in operators["called_at"].tolist() if each >= 0]
    assert set(called) == {"trained"}
