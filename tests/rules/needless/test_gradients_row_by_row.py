"""The change that is told for gradients of single rows, in programs that run."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.needless.gradients_row_by_row import GradientsRowByRow
from tests.rules.cases.needless.gradients_row_by_row import fires

torch = pytest.importorskip("torch")


def change() -> str:
    found = GradientsRowByRow().check(Results(fires()))
    assert isinstance(found, Finding)
    return found.change


def test_the_columns_of_a_result_are_taken_one_by_one() -> None:
    assert "`(gradient,) = torch.autograd.grad(out.sum(), x)`" in change()
    assert "`out[:, j].sum()` for each column `j`" in change()
    x = torch.rand(5, 3, requires_grad=True)
    layer = torch.nn.Linear(3, 2)
    out = layer(x).tanh()
    columns = [torch.autograd.grad(out[:, j].sum(), x, retain_graph=True)[0] for j in range(2)]
    whole = torch.func.vmap(torch.func.jacrev(lambda row: layer(row).tanh()))(x)
    torch.testing.assert_close(torch.stack(columns, 1), whole)


def test_per_sample_gradients_with_dropout() -> None:
    assert "`torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(params, x, y)`" in change()
    assert 'with `randomness="different"` where the model has dropout' in change()
    params, x, y = torch.rand(3), torch.rand(5, 3), torch.rand(5)

    def loss(weight: Any, row: Any, target: Any) -> Any:
        return (torch.nn.functional.dropout(row * weight, 0.5).sum() - target) ** 2

    each = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0), randomness="different")(params, x, y)
    assert each.shape == (5, 3)
    with pytest.raises(RuntimeError, match="randomness"):
        torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(params, x, y)
