"""Backward passes from one row each, in small programs that really run under the close look."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.rows.row_gradients import RowGradients
from gpuprof.capture.look.close_look import CloseLook
from tests.support.look_builder import LookBuilder
from tests.support.looked_runs import looked_at

torch = pytest.importorskip("torch")


def found(turn: Callable[[], Any], turns: int = 2) -> RowGradients:
    def code(look: CloseLook) -> list[Any]:
        kept = []
        for _ in range(turns):
            kept.append(turn())
            look.iteration_ended()
        return kept

    return Results(looked_at(code, iterations=turns)).get(RowGradients)


def net(inputs: int = 3, outputs: int = 1, *middle: Any) -> Any:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(inputs, 16), torch.nn.Tanh(), *middle, torch.nn.Linear(16, outputs))


def test_nothing_without_a_look() -> None:
    assert Results(LookBuilder().builder.build()).get(RowGradients).place < 0


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_jacobian_of_which_only_the_diagonal_can_be_other_than_zero(create_graph: bool) -> None:
    model = net()

    def turn() -> Any:
        x = torch.rand(20, 3)
        full = torch.autograd.functional.jacobian(lambda p: model(p).squeeze(1), x, create_graph=create_graph)
        return full.diagonal(dim1=0, dim2=1).sum().item()

    rows = found(turn)
    assert (rows.passes, rows.batch) == (20, 20)
    assert rows.rows is not None and rows.saved_part == 0.95


def test_gradients_of_the_weights_sample_by_sample() -> None:
    model = net()
    x, y = torch.rand(12, 3), torch.rand(12)

    def turn() -> Any:
        losses = (model(x).squeeze(1) - y).square()
        norms = []
        for each in range(12):
            gradients = torch.autograd.grad(losses[each], list(model.parameters()), retain_graph=True)
            norms.append(torch.stack([part.norm() for part in gradients]).norm())
        return torch.stack(norms).sum().item()

    rows = found(turn)
    assert (rows.passes, rows.batch) == (12, 12)


def test_derivatives_of_a_part_of_the_input() -> None:
    """Through slices of columns, and their sum."""
    model = net(4)

    def turn() -> Any:
        x = torch.rand(16, 2, requires_grad=True)
        out = model(torch.cat([x[:, :1].sin(), x[:, 1:].cos(), x], 1))[:, 0]
        return sum(torch.autograd.grad(out[each], x, retain_graph=True)[0].sum() for each in range(16)).item()

    assert found(turn).passes in (0, 16)


def test_all_rows_in_one_pass() -> None:
    model = net()

    def turn() -> Any:
        x = torch.rand(20, 3, requires_grad=True)
        return torch.autograd.grad(model(x).sum(), x)[0].sum().item()

    assert found(turn).place < 0


def test_each_class_of_one_image_needs_a_pass_of_its_own() -> None:
    model = net(6, 10, torch.nn.Linear(16, 16), torch.nn.Tanh(), torch.nn.Linear(16, 16), torch.nn.Tanh())

    def turn() -> Any:
        x = torch.rand(1, 6, requires_grad=True)
        scores = model(x)
        return sum(torch.autograd.grad(scores[0, each], x, retain_graph=True)[0].sum() for each in range(10)).item()

    assert found(turn).place < 0


def test_rows_that_depend_on_each_other() -> None:
    """Of a softmax over the batch every row has a gradient."""
    model = net()

    def turn() -> Any:
        x = torch.rand(20, 3, requires_grad=True)
        shares = model(x).squeeze(1).softmax(0)
        return sum(torch.autograd.grad(shares[each], x, retain_graph=True)[0].sum() for each in range(20)).item()

    assert found(turn).place < 0


def test_the_last_position_of_a_sequence_is_one_pass() -> None:
    model = net()

    def turn() -> Any:
        hidden = model(torch.rand(20, 3))
        hidden[-1].sum().backward()
        return None

    assert found(turn).passes <= 1


def test_the_same_row_again_is_another_calculation() -> None:
    model = net()

    def turn() -> Any:
        total = 0.0
        for _ in range(12):
            x = torch.rand(20, 3, requires_grad=True)
            total += torch.autograd.grad(model(x)[0].sum(), x)[0].sum().item()
        return total

    assert found(turn).place < 0


def test_one_pass_through_a_loop_over_rows_is_no_pass_per_row() -> None:
    weight = torch.rand(8, 8, requires_grad=True)

    def turn() -> None:
        drive = torch.rand(20, 4, 8, requires_grad=True) * 2
        state = torch.zeros(4, 8)
        for t in range(len(drive)):
            state = torch.tanh(drive[t] + state @ weight)
        state.sum().backward()

    assert found(turn).place < 0

    def independent() -> None:
        drive = torch.rand(20, 4, 8, requires_grad=True) * 2
        torch.stack([torch.tanh(drive[t]).sum() for t in range(len(drive))]).sum().backward()

    assert found(independent).place < 0
