"""What is told of gradients that nobody reads; a diff only where none of what a statement computes has one that is."""

from __future__ import annotations

import dataclasses

import msgspec
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Cell
from gpuprof.model.memory import Composition, ModuleBytes
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.needless.unread_gradients import UnreadGradients
from tests.rules.cases.needless.unread_gradients import one_statement
from tests.rules.cell.executed_cells import TWO_MODELS
from tests.rules.needless.test_product_order import looked_cell
from tests.rules.needless.unread_runs import even


def found(read: str = "", cell: str = TWO_MODELS) -> Finding:
    trace = one_statement(read)
    trace = dataclasses.replace(trace, context=msgspec.structs.replace(trace.context, cell=Cell(source=cell)))
    finding = UnreadGradients().check(Results(trace))
    assert isinstance(finding, Finding)
    return finding


def test_what_goes_into_the_loss_is_computed_without_a_graph() -> None:
    assert "+    with torch.no_grad():\n+        fake = G(z)\n" in (found().diff or "")


@pytest.mark.parametrize("read", ["inner", "first"])
def test_where_some_of_its_gradients_are_read_it_keeps_its_graph(read: str) -> None:
    assert found(read).diff is None


def test_the_text_has_to_allow_it() -> None:
    later = TWO_MODELS.replace("    opt.step()\n", "    opt.step()\n    fake.sum().backward()\n")
    assert found(cell=later).diff is None


GAN = """import torch; torch.manual_seed(0)
nn = torch.nn
bce = nn.functional.binary_cross_entropy_with_logits
G = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 32))
D = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
og, od = torch.optim.SGD(G.parameters(), 0.1), torch.optim.SGD(D.parameters(), 0.1)
real, one, zero = torch.randn(16, 32), torch.ones(16, 1), torch.zeros(16, 1)
def step():
    od.zero_grad()
    fake = G(torch.randn(16, 8))
    d_loss = bce(D(real), one) + bce(D(JUDGED), zero)
    d_loss.backward()
    od.step()
    og.zero_grad()
    fooled = D(MADE)
    g_loss = bce(fooled, one)
    g_loss.backward()
    og.step()
"""


def told(source: str, models: str = "D G") -> Finding:
    """Of a cell that ran under the close look, with all operators of equal length."""
    trace = even(looked_cell(source, "step()"))
    weighed = Composition(device="cpu", modules=tuple(ModuleBytes(name=f"{each}.0") for each in models.split()))
    context = msgspec.structs.replace(trace.context, compositions=(weighed,) if models else ())
    finding = UnreadGradients().check(Results(dataclasses.replace(trace, context=context)))
    assert isinstance(finding, Finding)
    return finding


def gan(judged: str, made: str) -> str:
    return GAN.replace("JUDGED", judged).replace("MADE", made)


def test_gradients_that_go_through_a_model_to_another_one_are_not_cut() -> None:
    change = told(gan("fake.detach()", "fake")).change
    assert change == (
        "Call `D.requires_grad_(False)` before the forward pass at line 15, and `D.requires_grad_(True)` after it. The "
        "loss at line 17 needs gradients through this model: do not detach them."
    )
    unnamed = told(gan("fake.detach()", "fake"), models="").change
    assert "after it, where `D` is the model whose gradients nobody reads." in unnamed


def test_what_it_says_of_a_generators_step_leaves_its_gradients_as_they_are() -> None:
    source = gan("fake.detach()", "fake")
    frozen = source.replace(
        "    fooled = D(fake)\n", "    D.requires_grad_(False)\n    fooled = D(fake)\n    D.requires_grad_(True)\n"
    )
    weights = []
    for each in (source, frozen):
        names: dict[str, object] = {}
        exec(f"{each}for _ in range(3):\n    step()\n", names)
        exec("kept = [p.sum().item() for p in (*G.parameters(), *D.parameters())]", names)
        weights.append(names["kept"])
    assert weights[0] == weights[1]


def test_each_of_two_models_in_its_own_way() -> None:
    """The discriminator's loss reaches the generator, and the generator's loss the discriminator."""
    again = "G(torch.randn(16, 8))"
    change = told(gan("fake", "fooling").replace("    fooled", f"    fooling = {again}\n    fooled")).change
    assert "`D.requires_grad_(False)` before the forward pass at line 16" in change
    assert "Compute what the loss at line 12 gets from line 10 without a graph, as the diff does." in change
    assert "line 11" not in change


def test_what_another_loss_goes_back_through_keeps_its_graph() -> None:
    """One batch of the generator for both losses."""
    change = told(gan("fake", "fake").replace("d_loss.backward()", "d_loss.backward(retain_graph=True)")).change
    assert change.startswith("Detach what the loss at line 12 gets from line 10, where it is passed on: `model(x.det")
    assert "Not within line 10: other gradients through it are used." in change


ATTACK = """import torch; torch.manual_seed(0)
nn = torch.nn
net = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
x = torch.randn(16, 32)
def step():
    moved = x.detach().requires_grad_(True)
    net(moved).mean().backward()
    return moved.grad.sign()
"""


def test_the_gradient_of_an_input_is_asked_for_in_the_names_of_the_cell() -> None:
    change = told(ATTACK).change
    assert "`(gradient,) = torch.autograd.grad(net(moved).mean(), moved)` in place of" in change
    assert "`net(moved).mean().backward()` and `moved.grad`. Or call" in change
    unclear = told(ATTACK.replace("return moved.grad", "return x.grad, moved.grad")).change
    assert (
        "torch.autograd.grad(loss, x)` in place of `loss.backward()` and `x.grad`, where `x` is the tensor" in unclear
    )


def test_a_part_of_a_model_that_is_not_trained_is_not_named_as_a_whole() -> None:
    source = """import torch; torch.manual_seed(0)
nn = torch.nn
net = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.SGD(net[4].parameters(), 0.1)
x = torch.randn(16, 32)
def step():
    loss = net(x).mean()
    net.zero_grad()
    loss.backward()
    opt.step()
"""
    change = told(source, models="net").change
    assert change.startswith("Call `.requires_grad_(False)` on the parameters whose gradients nobody reads before")
    assert "net" not in change and "etach" not in change
