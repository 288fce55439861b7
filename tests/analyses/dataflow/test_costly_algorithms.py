"""Operators with a cheaper alternative in real looks, and their near misses."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.costly_algorithms import Algorithm, CostlyAlgorithms, CostlyUse
from gpuprof.analyses.demand.algorithm_costs import distances
from gpuprof.capture.look.close_look import CloseLook
from tests.support.look_builder import LookBuilder
from tests.support.looked_runs import looked_at


def uses(code: Callable[[], Any], iterations: int = 2) -> tuple[CostlyUse, ...]:
    """Of code that runs in each iteration."""

    def run(look: CloseLook) -> None:
        for _ in range(iterations):
            code()
            look.iteration_ended()

    return Results(looked_at(run, iterations=iterations + 1)).get(CostlyAlgorithms).uses


def worth(code: Callable[[], Any], iterations: int = 2) -> tuple[CostlyUse, ...]:
    return tuple(each for each in uses(code, iterations) if each.factor >= 2)


def signal(*shape: int) -> torch.Tensor:
    return torch.rand(shape)


def test_a_long_convolution() -> None:
    wave, room = signal(1, 1, 20_000), signal(1, 1, 4_000)
    (found,) = uses(lambda: F.conv1d(wave, room, padding=3_999))
    assert (found.algorithm, found.size, found.count) == (Algorithm.CONVOLUTION, 4_000, 2)
    assert found.shapes == "1 channel, 23,999 samples, 4,000 taps" and found.factor > 4
    with torch.inference_mode():
        (same,) = uses(lambda: F.conv1d(wave, room, padding=3_999))
    assert same.factor == found.factor


def test_convolutions_that_are_as_they_should_be() -> None:
    wave, channels = signal(1, 1, 20_000), signal(8, 64, 500)
    for code in (
        lambda: F.conv1d(wave, signal(1, 1, 64)),
        lambda: F.conv1d(wave, signal(1, 1, 4_000), stride=100),
        lambda: F.conv1d(wave, signal(1, 1, 400), dilation=10),
        lambda: F.conv_transpose1d(wave, signal(1, 1, 4_000)),
        lambda: F.conv1d(channels, signal(64, 64, 9)),
        lambda: F.conv1d(channels, signal(64, 64, 31)),
        lambda: F.conv1d(channels, signal(64, 1, 31), groups=64),
        lambda: F.conv2d(signal(1, 1, 64, 64), signal(1, 1, 32, 32)),
    ):
        assert worth(code) == ()


@pytest.mark.parametrize("invert", [torch.linalg.inv, torch.inverse])
def test_an_inverse_that_is_only_multiplied(invert: Callable[[torch.Tensor], torch.Tensor]) -> None:
    matrix, right = torch.rand(200, 200) + 200 * torch.eye(200), torch.rand(200, 3)
    (found,) = uses(lambda: invert(matrix) @ right)
    assert (found.algorithm, found.size, len(found.rows)) == (Algorithm.INVERSE, 200, 4)
    assert found.shapes == "200×200, multiplied with 3 columns" and 2 < found.factor < 3
    (vector,) = uses(lambda: right[:, 0] @ invert(matrix))
    assert vector.shapes == "200×200, multiplied with 1 column"
    (batch,) = uses(lambda: invert(torch.stack([matrix] * 2)) @ torch.stack([right] * 2))
    assert batch.shapes == "2×200×200, multiplied with 3 columns"
    with torch.inference_mode():
        assert uses(lambda: invert(matrix) @ right)[0].algorithm is Algorithm.INVERSE


def test_an_inverse_that_is_needed() -> None:
    matrix, right, kept = torch.rand(200, 200) + 200 * torch.eye(200), torch.rand(200, 3), list[torch.Tensor]()
    held = torch.linalg.inv(matrix)

    def diagonal() -> torch.Tensor:
        inverse = torch.linalg.inv(matrix)
        return inverse @ right + inverse.diagonal()[:, None]

    def keep() -> None:
        kept.append(torch.linalg.inv(matrix))
        kept[-1] @ right

    def show() -> None:
        inverse = torch.linalg.inv(matrix)
        inverse.numpy().sum()
        inverse @ right

    for code in (
        diagonal,
        keep,
        show,
        lambda: torch.linalg.inv(matrix),
        lambda: held @ right,
        lambda: torch.linalg.inv(matrix) @ torch.rand(200, 800),
        lambda: torch.linalg.inv(matrix).sum(),
        lambda: torch.linalg.solve(matrix, right),
    ):
        assert worth(code, 3) == (), code


def test_differences_of_all_pairs() -> None:
    one, other = torch.rand(90, 24), torch.rand(80, 24)
    for code in (
        lambda: ((one[:, None, :] - other[None, :, :]) ** 2).sum(-1),
        lambda: (one[:, None] - other[None]).square().sum(2).sqrt(),
        lambda: (one.unsqueeze(1) - other.unsqueeze(0)).norm(dim=-1),
        lambda: torch.linalg.vector_norm(other[None] - one[:, None], dim=-1),
        lambda: (one[:, None] - other).abs().sum(-1),
        lambda: (one.view(2, 45, 1, 24) - other.view(2, 1, 40, 24)).pow(2).mean(-1),
    ):
        (found,) = worth(code)
        assert (found.algorithm, found.size) == (Algorithm.DIFFERENCES, 24), code
    assert worth(lambda: ((one[:, None] - other) * (one[:, None] - other)).sum(-1)) == ()  # two that are multiplied


@pytest.mark.parametrize(
    ("code", "squared"),
    [
        (lambda apart: apart.square().sum(-1), True),
        (lambda apart: apart.norm(dim=-1), True),
        (lambda apart: torch.linalg.vector_norm(apart, 2, dim=-1), True),
        (lambda apart: apart.norm(p=1, dim=-1), False),
        (lambda apart: torch.linalg.vector_norm(apart, 1, dim=-1), False),
        (lambda apart: apart.abs().sum(-1), False),
        (lambda apart: apart.abs().mean(2), False),
        (lambda apart: apart.norm(p=float("inf"), dim=-1), None),
        (lambda apart: torch.linalg.vector_norm(apart, 0, dim=-1), None),
        (lambda apart: apart.norm(p=1, dim=0), None),
        (lambda apart: apart.abs().sum((-1, 0)), None),
        (lambda apart: apart.abs().sum(), None),
    ],
)
def test_what_is_summed_of_differences_says_what_they_cost(code: Callable[..., Any], squared: bool | None) -> None:
    one, other = torch.rand(90, 24), torch.rand(80, 24)
    found = uses(lambda: code(one[:, None] - other[None]))
    if squared is None:
        assert found == ()
    else:
        assert [each.factor for each in found] == [distances(24, squared=squared)]


def test_differences_with_gradients() -> None:
    one, other = torch.rand(60, 16, requires_grad=True), torch.rand(50, 16)
    (found,) = worth(lambda: ((one[:, None] - other[None]) ** 2).sum(-1).mean().backward())
    (forward,) = worth(lambda: ((one[:, None] - other[None]) ** 2).sum(-1))
    assert found.count == forward.count == 2


def test_differences_that_are_needed() -> None:
    one, other, weight = torch.rand(90, 24), torch.rand(80, 24), torch.rand(24)
    kept = list[torch.Tensor]()

    def read_twice() -> torch.Tensor:
        apart = one[:, None] - other[None]
        return (apart**2).sum(-1) + apart.amax(-1)

    def keep() -> None:
        kept.append(one[:, None] - other[None])
        (kept[-1] ** 2).sum(-1)

    for code in (
        read_twice,
        keep,
        lambda: ((one[:, None] - other[None]) ** 2).sum(0),
        lambda: (torch.sub(one[:, None], other[None], alpha=2) ** 2).sum(-1),
        lambda: ((one[:, None].half() - other[None].half()) ** 2).sum(-1),
        lambda: (one[:, None].long() - other[None].long()).abs().sum(-1),
        lambda: ((one[:, None] - other[None]) ** 2).amax(-1),
        lambda: ((one[:, None] - other[None]) ** 3).sum(-1),
        lambda: (((one[:, None] - other[None]) ** 2) * weight).sum(-1),
        lambda: ((one[:80] - other) ** 2).sum(-1),
        lambda: ((one[:, None] - other[:1]) ** 2).sum(-1),
        lambda: torch.cdist(one, other),
        lambda: (one[:, None] - other[None]).norm(p=3, dim=-1),
    ):
        assert worth(code, 3) == (), code


def test_what_each_of_two_looks_holds_at_its_end() -> None:
    """The inverse of the last iteration is held by a name, in the first look as in the second."""
    look = LookBuilder().tensor("b", shape=(300, 2))
    for turn in range(4):
        look.tensor("A", shape=(300, 300))
        look.operator("aten::linalg_inv_ex", 50, reads="A", makes=f"i{turn}", shape=(300, 300), iteration=turn)
        look.operator("aten::mm", 5, reads=f"i{turn} b", makes="y", shape=(300, 2), iteration=turn)
        if turn % 2 == 0:
            look.free(f"i{turn}")
    trace = look.build()
    both = trace.looked_operators.replace(look=[0, 0, 0, 0, 1, 1, 1, 1])
    (one,) = Results(trace).get(CostlyAlgorithms).uses
    (two,) = (
        Results(dataclasses.replace(trace, tables={**trace.tables, "looked_operators": both}))
        .get(CostlyAlgorithms)
        .uses
    )
    assert (one.count, two.count) == (3, 4)


@pytest.mark.parametrize(
    ("code", "length", "factor"),
    [
        (lambda a, b: (a[:, None, :] * b[None, :, :]).sum(-1), 40, 10),
        (lambda a, b: (a.T[:, :, None] * b.T[:, None, :]).sum(0), 40, 10),
        (lambda a, b: torch.mul(a.unsqueeze(1), b).sum(dim=2, keepdim=True), 40, 10),
        (lambda a, b: (torch.rand(300, 200) * b[:, 0]).sum(1), 200, 2.5),
        (lambda a, b: (torch.rand(300, 200) * a[:, :1]).sum(0), 300, 2.5),
        (lambda a, b: (torch.rand(8, 100, 40) * torch.rand(8, 100, 1)).sum(1), 100, 2.2),
    ],
)
def test_products_that_are_summed(code: Callable[..., Any], length: int, factor: float) -> None:
    a, b = signal(300, 40), signal(200, 40)
    (found,) = worth(lambda: code(a, b).exp())
    assert (found.algorithm, found.size, found.factor, found.count) == (Algorithm.PRODUCTS, length, factor, 2)


def test_a_weighted_sum_in_a_training_step() -> None:
    mask, risk = (signal(300, 300) > 0.5).float(), signal(300).requires_grad_()

    def step() -> None:
        (mask * risk.exp()[None, :]).sum(dim=1).log().sum().backward()

    (found,) = worth(step)
    assert found.algorithm is Algorithm.PRODUCTS and len(found.rows) >= 4


@pytest.mark.parametrize(
    "code",
    [
        # row by row, without any pair
        lambda a, b: (a[:200] * b).sum(-1),
        # all of them, and two axes at a time
        lambda a, b: (a[:, None] * b[None]).sum(),
        lambda a, b: (a[:, None] * b[None]).sum((1, 2)),
        # an axis that one side alone has
        lambda a, b: (a[:, None] * b[None]).sum(0),
        # short sums of few lines, and what a batch of vectors hardly gains
        lambda a, b: (torch.rand(300, 20) * a[0, :20]).sum(1),
        lambda a, b: (torch.rand(8, 100, 128) * torch.rand(8, 1, 128)).sum(2),
        lambda a, b: (torch.rand(300, 200) * 3.0).sum(1),
        # something else reads them
        lambda a, b: [(product := a[:, None] * b[None]).sum(-1), product.amax()],
        lambda a, b: (a[:, None] * b[None]).amax(-1),
        lambda a, b: (a[:, None] * b[None]).half().sum(-1),
    ],
)
def test_products_that_no_matrix_product_makes_sooner(code: Callable[..., Any]) -> None:
    a, b = signal(300, 40), signal(200, 40)
    assert worth(lambda: code(a, b)) == ()


WIDE = torch.rand(400, 4_000)
PICKED = torch.randint(0, 4_000, (64,))


@pytest.mark.parametrize(
    "code",
    [
        lambda: WIDE[:, PICKED],
        lambda: WIDE.index_select(1, PICKED),
        lambda: WIDE.T[PICKED],
        lambda: WIDE[:, PICKED].T @ torch.rand(400, 2),
    ],
    ids=["columns", "index_select", "rows of a transposed view", "then multiplied"],
)
def test_columns_of_a_row_major_matrix(code: Callable[[], Any]) -> None:
    (found,) = Results(looked_at(lambda look: [code() for _ in range(3)])).get(CostlyAlgorithms).uses
    assert (found.algorithm, found.size, found.count) == (Algorithm.COLUMNS, 400, 3)
    assert found.shapes == "64 columns of 400×4,000" and found.factor == 2.4


SMALL, FLAT, MASK = torch.rand(400, 400), torch.rand(32, 60_000), torch.rand(400) > 0.5
TRANSPOSED = torch.rand(4_000, 400).T


@pytest.mark.parametrize(
    "code",
    [
        lambda: WIDE[torch.randint(0, 400, (64,))],
        lambda: TRANSPOSED[:, PICKED],
        lambda: SMALL[:, torch.randint(0, 400, (64,))],
        lambda: FLAT[:, PICKED],
        lambda: WIDE[torch.arange(64), PICKED],
        lambda: (WIDE * 2)[:, PICKED],
        lambda: WIDE[MASK],
        lambda: WIDE[:, PICKED[:, None]],
    ],
    ids=["rows", "transposed", "cached", "few rows", "single numbers", "made anew", "flags", "two axes"],
)
def test_what_gathers_no_columns(code: Callable[[], Any]) -> None:
    assert Results(looked_at(lambda look: [code() for _ in range(3)])).get(CostlyAlgorithms).uses == ()


def test_systems_with_one_matrix_solved_one_by_one() -> None:
    matrix, sides = torch.rand(200, 200) + 200 * torch.eye(200), torch.rand(5, 200)

    def one_by_one() -> None:
        for side in sides:
            torch.linalg.solve(matrix, side)

    (found,) = worth(one_by_one)
    assert (found.algorithm, found.size, found.count) == (Algorithm.FACTORED_AGAIN, 200, 4)
    assert found.shapes == "200×200, 1 column at a time" and found.factor > 10


def test_systems_of_which_each_has_its_own_matrix() -> None:
    matrices, sides = torch.rand(5, 200, 200) + 200 * torch.eye(200), torch.rand(200, 5)
    changing = torch.rand(200, 200) + 200 * torch.eye(200)

    def own() -> None:
        for matrix in matrices:
            torch.linalg.solve(matrix, sides)

    def changed() -> None:
        for _ in range(3):
            changing.add_(torch.eye(200))
            torch.linalg.solve(changing, sides)

    assert uses(own, iterations=1) == ()
    assert uses(changed) == ()
    # two may be one before and one after
    assert uses(lambda: torch.linalg.solve(changing, sides), iterations=2) == ()


def test_one_solve_with_many_right_hand_sides() -> None:
    matrix, sides = torch.rand(50, 50) + 50 * torch.eye(50), torch.rand(50, 2_000)
    assert worth(lambda: torch.linalg.solve(matrix, sides), iterations=4) == ()
