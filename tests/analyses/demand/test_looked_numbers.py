"""Single numbers of tensors, in real looks: taken out by Python one after the other, or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.demand.looked_numbers import LookedNumbers
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.registry import rule
from tests.support.look_builder import LookBuilder
from tests.support.looked_runs import looked_at

N = 60


def seen(code: Callable[[], Any]) -> LookedNumbers:
    code()  # the first call of an operator takes long, and would be most of the time
    return Results(looked_at(lambda look: code())).get(LookedNumbers)


def compared() -> int:
    """As an edit distance does."""
    one, other, equal = torch.arange(N), torch.arange(N) % 7, 0
    for i in range(N):
        if one[i] == other[i]:
            equal += 1
    return equal


def added_up() -> float:
    table, total = torch.rand(2, N), 0.0
    for i in range(N):
        total += float(table[0, i]) * table[1][i].item()
    return total


def filled() -> torch.Tensor:
    table = torch.zeros(2, N)
    for i in range(N):
        table[0, i] = i * 0.5
        table[1, i] += table[0, i] * 2
    return table


def table_of_values() -> torch.Tensor:
    """Learned by a Q-update: the best of a row of four, and one number of it that is written."""
    table, state = torch.zeros(25, 4), 0
    for turn in range(N):
        action = int(table[state].argmax())
        after = (state * 7 + action + turn) % 25
        table[state, action] += 0.1 * (1.0 + 0.9 * table[after].max() - table[state, action])
        state = after
    return table


def board(position: list[int]) -> torch.Tensor:
    planes = torch.zeros(2, 7)
    for place, stone in enumerate(position):
        planes[stone, place] = 1.0
    return planes


def boards() -> list[torch.Tensor]:
    """A few numbers in each of many tensors."""
    return [board([turn % 2, 1, 0, 0]) for turn in range(N)]


def iterated() -> list[int]:
    return [int(each) for each in torch.arange(2 * N)]


@pytest.mark.parametrize(
    ("code", "writes"),
    [(compared, False), (added_up, False), (filled, True), (iterated, False), (table_of_values, True), (boards, True)],
)
def test_numbers_one_by_one(code: Callable[[], Any], writes: bool) -> None:
    found = seen(code)
    assert found.accesses >= 100 and found.rows is not None and len(found.rows) >= 100
    assert (found.writes > 0) == writes
    assert found.share > 0.3 and len(found.places) >= 1


def read_once() -> float:
    return sum(torch.rand(4 * N).tolist())


def rows_of_a_table() -> float:
    return sum(float(row.sum()) for row in torch.rand(4 * N, 5))


def single_numbers() -> torch.Tensor:
    """A simulation of tensors of one element; nothing is taken out of a larger one."""
    x, v = torch.tensor(1.0), torch.tensor(0.0)
    for _ in range(4 * N):
        v = v - 0.1 * x
        x = x + 0.1 * v
    return x


def between_work_on_all() -> float:
    x, total = torch.rand(4 * N), 0.0
    for i in range(4 * N):
        x = x * 0.99
        total += x[i].item()
    return total


def too_few() -> float:
    x = torch.rand(99)
    return sum(x[i].item() for i in range(99))


def rows_put_together() -> list[torch.Tensor]:
    """As a DataLoader does: a number of each row is only taken, not read."""
    x, y = torch.rand(200, 30), torch.rand(200)
    columns = zip(*[(x[i], y[i]) for i in range(200)], strict=True)
    return [torch.stack(each) for each in columns]


@pytest.mark.parametrize(
    "code", [rows_put_together, read_once, rows_of_a_table, single_numbers, between_work_on_all, too_few]
)
def test_what_takes_no_run_of_numbers(code: Callable[[], Any]) -> None:
    found = seen(code)
    assert (found.accesses, found.rows, found.share) == (0, None, 0.0)


def test_nothing_was_looked_at() -> None:
    assert Results(LookBuilder().builder.build()).get(LookedNumbers).rows is None


def test_the_finding_of_the_look() -> None:
    found = rule("tensor_by_element").check(Results(looked_at(lambda look: compared())))
    assert isinstance(found, Finding)
    assert found.title.startswith("Tensors are read one number at a time at ")
    assert "120 numbers are read by Python one after the other" in found.explanation and "].tolist()" in found.change
    written = rule("tensor_by_element").check(Results(looked_at(lambda look: filled())))
    assert isinstance(written, Finding) and "written and read" in written.title


def filled_with_gradients() -> torch.Tensor:
    """A recurrence whose numbers are written one by one."""
    rate, table = torch.tensor(0.9, requires_grad=True), torch.zeros(2 * N)
    table[0] = 1.0
    for i in range(1, 2 * N):
        table[i] = rate * table[i - 1].clone()
    return table


def read_of_a_weight() -> float:
    weight, total = torch.rand(2 * N, requires_grad=True), 0.0
    for i in range(2 * N):
        total += weight[i].item()
    return total


@pytest.mark.parametrize(
    ("code", "graph", "stacked", "listed"),
    [
        (filled_with_gradients, True, True, False),
        (filled, False, False, True),
        (read_of_a_weight, False, False, True),
    ],
)
def test_values_with_gradients_are_not_made_numbers(
    code: Callable[[], Any], graph: bool, stacked: bool, listed: bool
) -> None:
    assert seen(code).graph is graph
    found = rule("tensor_by_element").check(Results(looked_at(lambda look: code())))
    assert isinstance(found, Finding)
    assert ("`torch.stack` them" in found.change) is stacked and ("tolist()" in found.change) is listed
