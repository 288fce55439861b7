"""A conversion there and back is left out of the expression, where nobody needs the copy that it makes."""

from __future__ import annotations

import pytest
import torch

from gpuprof.code_edits.data.round_trips import drop_round_trip
from tests.code_edits.executed import assert_rest_is_kept, line_of, run

CELL = """\
import torch
seen = []
for x in torch.randn(4, 5):
    z = x.exp()
    y = z.double().to(torch.float32) * 2  # here
    seen.append(y)
y = torch.stack(seen)
"""


def edited(cell: str, through: str = "float64") -> str | None:
    return drop_round_trip(cell, line_of(cell, "# here"), through)


@pytest.mark.parametrize("value", ["z", "(z + 1)", "z.abs()", "z[:3]"])
def test_the_changed_cell_computes_the_same_to_the_last_bit(value: str) -> None:
    cell = CELL.replace("z.double()", f"{value}.double()")
    after = edited(cell)
    assert after is not None and f"y = {value} * 2  # here" in after
    assert_rest_is_kept(cell, after)
    assert torch.equal(run(cell)["y"], run(after)["y"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("z.double().to(torch.float32)", "z.double()"),
        ("z.double().to(torch.float32)", "z.double().abs().to(torch.float32)"),
        ("z.double().to(torch.float32)", "z.cpu().cuda() + z.double().to(torch.float32)"),
        # what was a copy is written to, or what it is a copy of
        ("z.double().to(torch.float32) * 2", "z.double().to(torch.float32).mul_(2)"),
        ("z.double().to(torch.float32) * 2", "z.double().to(torch.float32); y += 1"),
        ("z.double().to(torch.float32) * 2", "z.double().to(torch.float32); z += 1"),
        ("z.double().to(torch.float32) * 2", "change(z.double().to(torch.float32))"),
    ],
)
def test_what_is_another_or_may_be_written_to_stays(old: str, new: str) -> None:
    assert old in CELL
    assert edited(CELL.replace(old, new)) is None


@pytest.mark.parametrize(
    ("way", "through", "said"),
    [
        ("double().float()", "float64", True),
        ("to(torch.float64).float()", "float64", True),
        ("half().float()", "float64", False),
        ("to(torch.float16).float()", "float16", True),
        ("cuda().cpu()", "cuda:0", True),
        ("cpu().cuda()", "cpu", True),
        ("to(device).cpu()", "cuda:0", False),
    ],
)
def test_it_is_the_conversion_that_was_seen(way: str, through: str, said: bool) -> None:
    cell = CELL.replace("double().to(torch.float32)", way)
    assert (edited(cell, through) is not None) is said
