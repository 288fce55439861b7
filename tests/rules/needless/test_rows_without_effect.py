"""What is said of rows that a loss leaves out, in cells that really run under the close look."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.needless.rows_without_effect import RowsWithoutEffect
from tests.rules.needless.test_product_order import looked_cell

pytest.importorskip("torch")

CELL = """import torch; torch.manual_seed(0)
F = torch.nn.functional
body, head = torch.nn.Linear(64, 64), torch.nn.Linear(64, 500)
opt = torch.optim.SGD([*body.parameters(), *head.parameters()], 0.01)
x, labels = torch.randn(128, 64), torch.randint(1, 500, (128,))
m = (torch.rand(128) < 0.25).float()
labels[m == 0] = IGNORED
def step():
    h = F.gelu(body(x))
    logits = head(h + h.mean(0))
    loss = LOSS
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
NUMBER = "Divide by the same number as before: `.mean()` of the selected rows divides by fewer."


def change(loss: str, ignored: int) -> str:
    source = CELL.replace("LOSS", loss).replace("IGNORED", str(ignored))
    found = RowsWithoutEffect().check(Results(looked_cell(source, "step()")))
    assert isinstance(found, Finding) and 10 in found.where.lines
    return found.change


@pytest.mark.parametrize("ignored", [-100, 0])
def test_the_number_that_the_loss_ignores_is_that_of_the_program(ignored: int) -> None:
    told = change(f"F.cross_entropy(logits, labels, ignore_index={ignored})", ignored)
    assert f"(`hidden[labels != {ignored}]` of what goes in), and give the loss `labels[labels != {ignored}]`" in told
    assert NUMBER not in told and "`mask`" not in told


@pytest.mark.parametrize(
    ("loss", "ignored"),
    [
        ("(F.cross_entropy(logits, labels, reduction='none') * m).mean()", 1),
        ("F.cross_entropy(logits, labels, reduction='none').masked_fill(m == 0, 0.0).mean()", 1),
        ("F.cross_entropy(logits, labels, ignore_index=0, reduction='none').mean()", 0),
    ],
)
def test_a_mean_divides_by_the_rows_that_are_left_out_too(loss: str, ignored: int) -> None:
    assert NUMBER in change(loss, ignored)


def test_selected_losses_are_divided_by_their_own_number() -> None:
    told = change("F.cross_entropy(logits, labels, reduction='none')[m > 0].mean()", 1)
    assert NUMBER not in told
    assert "`mask` is true for the rows that count." in told
