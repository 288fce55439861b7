from __future__ import annotations

import pytest

from gpuprof.code_edits.loops.kept_losses import detach_kept
from tests.code_edits.executed import TRAINING, assert_rest_is_kept, line_of, run

KEPT = TRAINING.replace("total += loss.item()", "total += loss")
KEPT = KEPT.replace("losses.append(loss.item())", "losses.append(loss)")
KEPT += "total, losses = total.item(), [each.item() for each in losses]\n"
LINES = (line_of(KEPT, "total += loss"), line_of(KEPT, "losses.append"))


def test_sums_and_lists_keep_the_numbers_without_the_graphs() -> None:
    after = detach_kept(KEPT, LINES)
    assert after is not None
    assert "    total += loss.detach()\n" in after and "    losses.append(loss.detach())\n" in after
    assert_rest_is_kept(KEPT, after)
    graphs = "kept = total\nkept_list = losses[0]\ntotal, losses ="
    before, changed = (run(cell.replace("total, losses =", graphs, 1)) for cell in (KEPT, after))
    assert (changed["total"], changed["losses"]) == (before["total"], before["losses"])
    assert before["kept"].requires_grad and not changed["kept"].requires_grad
    assert before["kept_list"].grad_fn and changed["kept_list"].grad_fn is None


LOOP = "for x in y:\n    loss = f(x)\n    scaler.scale(loss / 2).backward()\n    {}\n"


@pytest.mark.parametrize(
    ("line", "becomes"),
    [
        ("t = t + loss", "t = t + loss.detach()"),
        ("ts.append((x, loss))", "ts.append((x, loss.detach()))"),
        ("t += loss * 2", None),
        ("t -= loss", None),
        ("loss += loss", None),
        ("ts.append(f(loss))", None),
    ],
)
def test_a_loss_that_stands_alone_is_detached(line: str, becomes: str | None) -> None:
    cell = LOOP.format(line)
    assert detach_kept(cell, (4,)) == (becomes and cell.replace(line, becomes))


@pytest.mark.parametrize("end", ["t.backward()\n", "(t / 2).backward()\n", "torch.stack(t).sum().backward()\n"])
def test_a_graph_that_is_needed_stays(end: str) -> None:
    assert detach_kept(LOOP.format("t += loss") + end, (4,)) is None


def test_every_line_or_none() -> None:
    assert detach_kept(KEPT, (*LINES, 3)) is None
    assert detach_kept(KEPT, ()) is None
