from __future__ import annotations

import pytest
import torch

from gpuprof.code_edits.loops.optimizers import drop_zeroing_in_place, set_optimizer
from tests.code_edits.executed import TRAINING, assert_rest_is_kept, line_of, run

STEP = line_of(TRAINING, "opt.step()")


@pytest.mark.parametrize("argument", ["fused", "foreach"])
def test_the_optimizer_is_made_with_it_and_learns_the_same(argument: str) -> None:
    after = set_optimizer(TRAINING, STEP, "Adam", **{argument: "True"})
    assert after is not None and f"lr=1e-2, {argument}=True)  # the optimizer" in after
    assert_rest_is_kept(TRAINING, after)
    changed = run(after)
    assert changed["opt"].param_groups[0][argument] is True
    assert changed["losses"] == pytest.approx(run(TRAINING)["losses"], rel=1e-5)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("SGD(p, lr=1, foreach=False)", "SGD(p, lr=1, fused=True)"),
        ("SGD(p, foreach=True,  # fast\n    lr=1)", "SGD(p, fused=True,  # fast\n    lr=1)"),
        ("SGD(p, fused=False, foreach=False)", "SGD(p, fused=True)"),
        ("SGD([{'params': p}], lr=1)", "SGD([{'params': p}], lr=1, fused=True)"),
    ],
)
def test_fused_and_foreach_exclude_each_other(before: str, after: str) -> None:
    cell = f"from torch.optim import SGD\np = [torch.ones(1, requires_grad=True)]\nopt = {before}\nopt.step()\n"
    changed = set_optimizer(cell, cell.count("\n"), "SGD", fused="True")
    assert changed == cell.replace(before, after)
    run(changed)


@pytest.mark.parametrize(
    "cell",
    [
        "scaler.step(opt)  # here\nopt = torch.optim.Adam(p)\n",
        "opt = torch.optim.Adam(p)\ndef step(o):\n    o.step()  # here\nstep(opt)\n",
        "class T:\n  def __init__(self):\n    self.opt = Adam(p)\n  def go(self):\n    self.opt.step()  # here\n",
    ],
)
def test_the_optimizer_is_found_from_the_line_that_steps_it(cell: str) -> None:
    after = set_optimizer(cell, line_of(cell, "# here"), "Adam", fused="True")
    assert after == cell.replace("Adam(p)", "Adam(p, fused=True)")


@pytest.mark.parametrize(
    "cell",
    [
        "opt.step()  # here\n",
        "opt = torch.optim.SGD(p)\nopt.step()  # here\n",
        "opt = mine.Adam(p, **more)\nopt.step()  # here\n",
        "from mine import Adam\nopt = Adam(p)\nopt.step()  # here\n",
        "opt = torch.optim.Adam(p, differentiable=True)\nopt.step()  # here\n",
        "e = nn.Embedding(3, 3, sparse=True)\nopt = torch.optim.Adam(p)\nopt.step()  # here\n",
        "opt = torch.optim.Adam(p)\nopt = wrap(opt)\nopt.step()  # here\n",
        "a, b = torch.optim.Adam(p), torch.optim.Adam(q)\nstep(a, b)  # here\n",
        "opt = torch.optim.Adam(p, fused=True)\nopt.step()  # here\n",
    ],
)
def test_doubt_gives_no_change(cell: str) -> None:
    assert set_optimizer(cell, line_of(cell, "# here"), "Adam", fused="True") is None


def test_gradients_are_freed_instead_of_filled() -> None:
    after = drop_zeroing_in_place(TRAINING)
    assert after == TRAINING.replace("set_to_none=False", "")
    assert run(after)["losses"] == run(TRAINING)["losses"]
    assert drop_zeroing_in_place(after) is None
    assert drop_zeroing_in_place("m.zero_grad( False )\n") == "m.zero_grad( )\n"
    assert drop_zeroing_in_place("m.zero_grad(set_to_none=flag)\n") is None


def test_the_class_takes_no_more_by_position_than_is_thought() -> None:
    with pytest.raises(TypeError):
        torch.optim.Adam([torch.ones(1)], 1e-3, (0.9, 0.999), 1e-8, 0, False, True)  # type: ignore[misc]
