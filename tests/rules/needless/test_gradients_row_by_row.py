"""The change that is told for gradients of single rows, in programs that run."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Cell
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.needless.gradients_row_by_row import GradientsRowByRow
from tests.rules.cases.needless.gradients_row_by_row import fires
from tests.support.trace_builder import TraceBuilder

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


ROWS, NODES = 12, 3
LOOP = "rows = [torch.autograd.grad(each, x{}, retain_graph=True)[0] for each in residuals]"


def through_one_graph(call: str = LOOP.format(""), node_us: float = 20, *, gpu: bool = False) -> Finding | None:
    """Ten steps of 1 ms: line 3 goes back through three nodes for each of twelve outputs."""
    builder = TraceBuilder()
    for step in range(10):
        at = 1000 * step
        builder.step(at, 1000).line(2, at)
        for node in range(NODES):
            builder.operator("aten::sin", at + 5 * node, 5, sequence=10 * step + node)
        builder.line(3, at + 50)
        for row in range(ROWS):
            begins = at + 60 + 75 * row
            builder.operator("aten::ones_like", begins, 2)
            for node in reversed(range(NODES)):
                name = "autograd::engine::evaluate_function: SinBackward0"
                begins += node_us
                builder.operator(name, begins - node_us + 3, node_us - 1, sequence=10 * step + node, forward_thread=1)
        builder.line(4, at + 970).operator("aten::sum", at + 975, 20)
    if gpu:
        builder.device().kernel("k", 10, 5)
    source = f"for x in data:\n    residuals = model(x)\n    {call}\n    step(rows)\n"
    found = GradientsRowByRow().check(Results(builder.context(cell=Cell(source=source)).build()))
    return found if isinstance(found, Finding) else None


def test_outputs_of_one_graph() -> None:
    found = through_one_graph()
    assert found is not None and found.title.startswith("Gradients at line 3 go through the same graph")
    assert found.evidence["runs_of_a_node"] == ROWS and found.where.lines == (3,)
    assert "`(rows,) = torch.autograd.grad(out, x, torch.eye(len(out)).to(out), is_grads_batched=True)`" in found.change


def test_where_a_gpu_has_the_work_the_time_on_the_host_says_little() -> None:
    on_cpu, on_gpu = through_one_graph(), through_one_graph(gpu=True)
    assert on_cpu is not None and on_cpu.severity > Severity.LOW
    assert on_gpu is not None and on_gpu.severity is Severity.LOW


def test_the_graph_of_the_gradients_is_kept() -> None:
    found = through_one_graph(LOOP.format(", create_graph=True"))
    assert found is not None and "is_grads_batched=True, create_graph=True)`" in found.change


@pytest.mark.parametrize("call", [LOOP.format(", is_grads_batched=True"), "rows = jacobian(residuals, x)"])
def test_a_call_that_is_no_loop_over_outputs(call: str) -> None:
    assert through_one_graph(call) is None


def test_all_of_the_gradients_by_one_call() -> None:
    x = torch.rand(4, requires_grad=True)
    out = torch.sin(x).roll(1) * x
    row_by_row = [torch.autograd.grad(each, x, retain_graph=True)[0] for each in out]
    (rows,) = torch.autograd.grad(out, x, torch.eye(len(out)).to(out), is_grads_batched=True)
    torch.testing.assert_close(rows, torch.stack(row_by_row))
