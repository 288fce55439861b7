from __future__ import annotations

import pytest
import torch

from gpuprof.code_edits.data.host_work import make_on_device, widen_on_device
from tests.code_edits.executed import assert_rest_is_kept, run

FILLED = """\
total = torch.zeros(())
for x, y in DataLoader(data, 16):
    noise = torch.randn(16, 8).to(device)  # the same kind of noise
    total = total + (x + 0 * noise).sum()
"""
WIDENED = """\
pixels = TensorDataset(torch.arange(64, dtype=torch.uint8).view(16, 4))
total = torch.zeros(())
for (x,) in DataLoader(pixels, 4):
    x = (x.float() / 255).to(device, non_blocking=True)  # 0..1
    total = total + x.sum()
"""


def test_a_tensor_is_made_where_it_is_used() -> None:
    after = make_on_device(FILLED, "randn")
    assert after == FILLED.replace("torch.randn(16, 8).to(device)", "torch.randn(16, 8, device=device)")
    assert after is not None
    assert torch.equal(run(after)["total"], run(FILLED)["total"])
    # on the CPU both take their numbers from the same generator
    assert torch.equal(run(after)["noise"], run(FILLED)["noise"])


@pytest.mark.parametrize(
    ("made", "becomes"),
    [
        ("torch.zeros(2).cuda()", 'torch.zeros(2, device="cuda")'),
        ("torch.zeros(2).to('cpu', non_blocking=True)", "torch.zeros(2, device='cpu')"),
        ("torch.zeros(2).to(torch.device('cpu'))", "torch.zeros(2, device=torch.device('cpu'))"),
        ("torch.zeros(2).to(self.device)", "torch.zeros(2, device=self.device)"),
        ("torch.zeros(2).to(x)", None),
        ("torch.zeros(2).to(torch.half)", None),
        ("torch.zeros(2).to(device, torch.half)", None),
        ("torch.zeros(2).to(device, dtype=torch.half)", None),
        ("torch.zeros(2, device='cpu').to(device)", None),
        ("torch.zeros(2, pin_memory=True).to(device)", None),
        ("torch.zeros(*sizes).to(device)", None),
        ("torch.ones(2).to(device)", None),
        ("np.zeros(2).to(device)", None),
        ("torch.zeros(2).float().to(device)", None),
    ],
)
def test_only_plain_copies_are_left_out(made: str, becomes: str | None) -> None:
    cell = f"for x in data:\n    mask = {made}\n"
    assert make_on_device(cell, "zeros") == (becomes and cell.replace(made, becomes))


def test_once_before_a_loop_costs_nothing() -> None:
    assert make_on_device("mask = torch.zeros(2).to(device)\n", "zeros") is None


def test_bytes_are_copied_and_widened_there() -> None:
    after = widen_on_device(WIDENED, "float32")
    assert after == WIDENED.replace(
        "(x.float() / 255).to(device, non_blocking=True)", "(x.to(device, non_blocking=True).float() / 255)"
    )
    assert after is not None
    assert_rest_is_kept(WIDENED, after)
    assert torch.equal(run(after)["total"], run(WIDENED)["total"])
    assert run(after)["x"].dtype == torch.float32


@pytest.mark.parametrize(
    ("copy", "becomes"),
    [
        ("x.float().to(device)", "x.to(device).float()"),
        ("x.float().div_(255).sub(0.5).cuda()", "x.cuda().float().div_(255).sub(0.5)"),
        ("torch.from_numpy(x).float().to(device)", "torch.from_numpy(x).to(device).float()"),
        ("(x.float() / y).to(device)", None),
        ("x.float().view(-1).to(device)", None),
        ("x.double().to(device)", None),
        ("x.float().to(other)", None),
        ("x.float().to(device, torch.half)", None),
        ("ring.float().to(device, non_blocking=True)", None),
    ],
)
def test_only_arithmetic_with_numbers_moves_along(copy: str, becomes: str | None) -> None:
    cell = f"for x, y in data:\n    z = {copy}\n"
    assert widen_on_device(cell, "float32") == (becomes and cell.replace(copy, becomes))


def test_what_the_loop_made_itself_is_not_copied_behind_its_back() -> None:
    cell = WIDENED.replace("    x = (", "    x = ring\n    x = (")
    assert widen_on_device(cell, "float32") is None
    assert widen_on_device(WIDENED, "int64") is None


def test_one_copy_on_the_line_that_widens() -> None:
    assert widen_on_device(WIDENED, "float32", (4, 9)) is not None
    assert widen_on_device(WIDENED, "float32", (3,)) is None
    assert widen_on_device(WIDENED + "    z = y.float().to(device)\n", "float32") is None
