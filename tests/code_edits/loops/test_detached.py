"""What goes from one model into the loss of another needs no graph, where no other loss takes it."""

from __future__ import annotations

import pytest
import torch

from gpuprof.code_edits.loops.detached import without_graph
from tests.code_edits.executed import assert_rest_is_kept, line_of, run

TWO_MODELS = """\
import torch
G, D = nn.Linear(8, 8), nn.Linear(8, 4)
opt_d = torch.optim.SGD(D.parameters(), lr=0.1)
opt_g = torch.optim.SGD(G.parameters(), lr=0.1)
for x, _ in DataLoader(data, batch_size=16):
    fake = G(torch.randn(16, 8))  # here
    loss_d = D(fake).exp().mean() - D(x).mean()
    opt_d.zero_grad()
    loss_d.backward()  # back
    opt_d.step()
    again = G(torch.randn(16, 8))
    loss_g = -D(again).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
shown = [*D.parameters(), *G.parameters()]
"""


def edited(cell: str) -> str | None:
    return without_graph(cell, [line_of(cell, "# here")], line_of(cell, "# back"))


@pytest.mark.parametrize(
    "cell",
    [
        TWO_MODELS,
        TWO_MODELS.replace("again", "fake"),
        TWO_MODELS.replace("import torch\n", "import torch  # checkpoint\n"),
    ],
)
def test_both_models_learn_the_same(cell: str) -> None:
    after = edited(cell)
    assert after is not None
    assert_rest_is_kept(cell, after)
    for before, changed in zip(run(cell)["shown"], run(after)["shown"], strict=True):
        assert torch.equal(before, changed)


def test_it_is_computed_without_gradients_or_detached_where_the_cell_switches_them_itself() -> None:
    assert "    with torch.no_grad():\n        fake = G(torch.randn(16, 8))  # here\n" in (edited(TWO_MODELS) or "")
    switching = TWO_MODELS.replace("opt_d = ", "torch.set_grad_enabled(True)\nopt_d = ")
    assert "    fake = G(torch.randn(16, 8)).detach()  # here\n" in (edited(switching) or "")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # a later loss takes it
        ("    again = G(torch.randn(16, 8))\n", "    again = fake\n"),
        ("-D(again)", "-D(fake)"),
        (
            "    again = G(torch.randn(16, 8))\n",
            "    if x.sum() > 0:\n        fake = G(torch.randn(16, 8))\n    again = fake\n",
        ),
        ("    opt_d.step()\n", "    opt_d.step()\n    (fake - x).square().mean().backward()\n"),
        ("    fake = G(torch", "    loss_g = -D(fake).mean()\n    fake = G(torch"),
        ("shown = [", "D(fake).sum().backward()\nshown = ["),
        ("shown = [", "def later():\n    return fake\nshown = ["),
        # its own backward pass is another one, or does not always come
        ("    loss_d.backward()  # back\n", "    loss_d.sum().backward()\n    loss_d.backward()  # back\n"),
        ("    loss_d.backward()  # back\n", "    if x.sum() > 0:\n        loss_d.backward()  # back\n"),
        # gradients in other ways
        ("loss_d.backward()", "loss_d.backward(retain_graph=True)"),
        ("opt_d.zero_grad()", "slope = torch.autograd.grad(loss_d, fake, create_graph=True)"),
        ("    opt_d.zero_grad()\n", "    fake.retain_grad()\n    opt_d.zero_grad()\n"),
        ("    opt_d.zero_grad()\n", "    fake.requires_grad_()\n    opt_d.zero_grad()\n"),
        # it is no call of one statement, or has no graph
        ("    fake = G(torch.randn(16, 8))  # here", "    fake = x  # here"),
        ("    fake = G(torch.randn(16, 8))  # here", "    fake, other = G(torch.randn(16, 8)), 1  # here"),
        ("    fake = G(torch.randn(16, 8))  # here", "    a = 1; fake = G(torch.randn(16, 8))  # here"),
        (
            "    fake = G(torch.randn(16, 8))  # here",
            "    with torch.no_grad():\n        fake = G(torch.randn(16, 8))  # here",
        ),
        ("import torch\n", "import torch.nn as torch\n"),
    ],
)
def test_what_may_need_its_graph_keeps_it(old: str, new: str) -> None:
    assert old in TWO_MODELS
    assert edited(TWO_MODELS.replace(old, new)) is None


def test_lines_that_are_none_are_passed_over() -> None:
    here, back = line_of(TWO_MODELS, "# here"), line_of(TWO_MODELS, "# back")
    assert without_graph(TWO_MODELS, [1, 7, here], back) == edited(TWO_MODELS)
    assert without_graph(TWO_MODELS, [], back) is None and without_graph(TWO_MODELS, [here], 3) is None
