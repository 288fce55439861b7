from __future__ import annotations

import pytest
import torch

from gpuprof.code_edits.models.products import order_products
from tests.code_edits.executed import run

LEFT, RIGHT = ((0, 1), 2), (0, (1, 2))
CHAIN = """\
class Net:
    weight = torch.rand(6, 6)
net = Net()
x = torch.rand(6, 1)
y = (data.tensors[0][:6, :6].T
     + 1)
out = 2 * (net.weight @ y   @ x) + 1  # here
"""


def test_parentheses_give_the_order() -> None:
    after = order_products(CHAIN, 7, LEFT, RIGHT)
    assert after == CHAIN.replace("(net.weight @ y   @ x)", "(net.weight @ (y @ x))")
    torch.manual_seed(0)
    torch.testing.assert_close(run(after)["out"], run(CHAIN)["out"])


@pytest.mark.parametrize(
    ("before", "ran", "wanted", "after"),
    [
        ("y = x @ (a @ b)", RIGHT, LEFT, "y = (x @ a) @ b"),
        ("f(a @ b.T @ x, n=1)", LEFT, RIGHT, "f(a @ (b.T @ x), n=1)"),
        ("y = a @ b @ c @ d", ((LEFT[0], 2), 3), (0, (1, (2, 3))), "y = a @ (b @ (c @ d))"),
        ("z = a @ b @ c + 3", LEFT, RIGHT, "z = a @ (b @ c) + 3"),
        ("z = -(a @ b @ c)", LEFT, RIGHT, "z = -(a @ (b @ c))"),
        ("z = (a @ b @ c).T", LEFT, RIGHT, "z = (a @ (b @ c)).T"),
    ],
)
def test_where_it_stands(before: str, ran: object, wanted: object, after: str) -> None:
    assert order_products(f"{before}\n", 1, ran, wanted) == f"{after}\n"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "line",
    [
        "y = a @ (b @ c)",  # another order than the one that ran
        "y = a @ b",
        "y = a @ b @ c; z = a @ b @ d",
        "y = a @ f(b) @ c",
        "y = a @ b[0] @ c",
        "y = a @ b.t() @ c",
        "y = -a @ b @ c",
        "y = (a @ b +\n     1) @ c",
        "y = (a @ b\n     @ c)",
        "y = a * b * c",
    ],
)
def test_doubt_leaves_the_line(line: str) -> None:
    assert order_products(f"{line}\n", 1, LEFT, RIGHT) is None
