"""What is differentiated in full, and whether the text only multiplies it with a vector."""

from __future__ import annotations

import pytest

from gpuprof.rules.cell.derivative_text import DerivativeText, derivative_text

IMPORTS = """import torch
from torch.func import hessian, jacfwd, jacrev as reverse
from torch.autograd import functional as A
from torch.autograd.functional import jacobian
"""


def read(*lines: str, at: int = 1, transform: bool = True) -> DerivativeText | None:
    """Of a function with these lines; `at`: which of them, from 1."""
    source = IMPORTS + "def step(f, x, v):\n" + "".join(f"    {line}\n" for line in lines)
    return derivative_text(source, 5 + at, transform=transform)


@pytest.mark.parametrize(
    "call", ["reverse(f)(x)", "jacfwd(f)(x)", "torch.func.hessian(f)(x)", "jacfwd(f, chunk_size=9)(x)"]
)
def test_calls_of_transforms(call: str) -> None:
    assert read(f"J = {call}", "return J.T @ J") == DerivativeText("f", "x", "J")
    assert read(f"return {call}") == DerivativeText("f", "x")


def test_a_name_that_stands_for_the_derivative() -> None:
    assert read("derive = reverse(f)", "J = derive(x)", "return J", at=2) == DerivativeText("f", "x", "J")
    assert read("derive = reverse(f)", "derive = jacfwd(f)", "J = derive(x)", at=3) is None


@pytest.mark.parametrize(
    "call", ["jacobian(f, x)", "A.hessian(f, x)", "A.jacobian(func=f, inputs=x)", "jacobian(f, x, vectorize=True)"]
)
def test_calls_of_functions(call: str) -> None:
    assert read(f"H = {call}", "return H", transform=False) == DerivativeText("f", "x", "H")
    assert read(f"H = {call}", "return H", transform=True) is None


@pytest.mark.parametrize(
    "line",
    [
        "J = reverse(f, argnums=1)(x)",
        "J = reverse(f, (0, 1))(x, v)",
        "J = reverse(f)(x + 1)",
        "J = reverse(f)()",
        "J = reverse(f)(x) + jacfwd(f)(x)",
        "J = other(f)(x)",
        "J = x",
    ],
)
def test_what_the_text_does_not_tell(line: str) -> None:
    assert read(line) is None


@pytest.mark.parametrize(
    "line", ["H = jacobian(f, x, create_graph=True)", "H = jacobian(f, (x, v))", "H = jacobian(f)"]
)
def test_functions_that_are_not_told(line: str) -> None:
    assert read(line, transform=False) is None
    assert derivative_text("def broken(:", 1, transform=False) is None


@pytest.mark.parametrize(
    ("product", "from_left"),
    [("{} @ v", False), ("v @ {}", True), ("{}.T @ v", True), ("v @ {}.mT", False), ("-({} @ v)", False)],
)
def test_products_with_one_vector(product: str, from_left: bool) -> None:
    named = read("H = hessian(f)(x)", f"return {product.format('H')}")
    assert named == DerivativeText("f", "x", "H", "v", from_left)
    assert read(f"return {product.format('hessian(f)(x)')}") == DerivativeText("f", "x", "", "v", from_left)


@pytest.mark.parametrize(
    "lines",
    [
        ("H = hessian(f)(x)", "return torch.linalg.solve(H, v)"),
        ("H = hessian(f)(x)", "return H.diagonal() * v"),
        ("H = hessian(f)(x)", "return torch.linalg.inv(H) @ v"),
        ("H = hessian(f)(x)", "print(H)", "return H @ v"),
        ("H = hessian(f)(x)", "return H @ v, H @ x"),
        ("H = hessian(f)(x)", "for _ in range(50):", "    v = H @ v", "return v"),
        ("H = hessian(f)(x)", "return [H @ each for each in v]"),
        ("H = hessian(f)(x)", "return lambda v: H @ v"),
        ("H = hessian(f)(x)", "H = H @ v", "return v"),
        ("H = hessian(f)(x)", "return H @ (v + x)"),
        ("H = hessian(f)(x)", "return H * v"),
    ],
)
def test_a_matrix_that_is_needed(lines: tuple[str, ...]) -> None:
    found = read(*lines)
    assert found == DerivativeText("f", "x", "H")


def test_a_matrix_that_is_kept_for_later_turns() -> None:
    kept = ("if fresh:", "    H = hessian(f)(x)", "return H @ v")
    assert read(*kept, at=2) == DerivativeText("f", "x", "H")
    other = ("if fresh:", "    H = hessian(f)(x)", "else:", "    v = H @ v")
    assert read(*other, at=2) == DerivativeText("f", "x", "H")
    within = ("if fresh:", "    H = hessian(f)(x)", "    if small:", "        v = H @ v")
    assert read(*within, at=2) == DerivativeText("f", "x", "H", "v", False)


def test_what_other_cells_may_read() -> None:
    alone = "H = hessian(f)(x)\ny = H @ v\n"
    assert derivative_text(f"from torch.func import hessian\n{alone}", 2, transform=True) == DerivativeText(
        "f", "x", "H"
    )
    turns = "".join(f"    {line}\n" for line in alone.splitlines())
    found = derivative_text(f"for x in data:\n{turns}", 2, transform=True)
    assert found == DerivativeText("f", "x", "H", "v", False)
