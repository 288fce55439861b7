"""Which full derivatives take more passes than needed, and what is said of them."""

from __future__ import annotations

import pytest
import torch

from gpuprof.analyses.basics.result import Results
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.registry import rule
from tests.rules.cases.host.costly_call_per_item import library
from tests.rules.cases.needless.derivative_in_full import FUNCTIONAL, JACFWD, JACREV, SOURCE, VMAP, computed

HESSIAN = library(FUNCTIONAL, "hessian")
PRODUCT = """def fit(theta):
    f, g = loss, direction()
    H = {}
    return H @ g

from torch.autograd.functional import hessian
from torch import func
"""


def said(trace: Trace) -> Finding | None:
    answer = rule("derivative_in_full").judge(Results(trace))
    assert answer is None or isinstance(answer, Finding)
    return answer


def product(call: str = "hessian(f, theta)", *below: tuple[str, str, int], **sizes: int | tuple[int, int]) -> Trace:
    return computed(500, *(below or (HESSIAN,)), source=PRODUCT.format(call), **sizes)


def test_a_hessian_times_a_vector() -> None:
    found = said(product(theta=300, g=300, H=90_000))
    assert found is not None and found.saving is not None
    assert found.title == "A full Hessian takes 300 passes where 2 would do: 50 % of the cell"
    assert "`torch.func.jvp(torch.func.grad(f), (theta,), (g,))[1]`" in found.change
    assert "The result is only multiplied with `g`." in found.explanation
    # what one call takes is known of loops: as long as 20 of its passes
    assert found.saving.central_ns == pytest.approx(500e6 * (1 - 20 / 300))
    assert said(product(theta=300, g=300)) is not None  # its own size was not seen


def test_what_the_change_says_gives_the_same() -> None:
    a, theta, g = torch.rand(5, 4, dtype=torch.float64), torch.rand(4).double(), torch.rand(4).double()
    names = {"torch": torch, "f": lambda x: (a @ x).sin().prod(), "theta": theta, "g": g}
    found = said(product(theta=300, g=300))
    assert found is not None
    torch.testing.assert_close(
        eval(found.change.split("`")[1], names), torch.autograd.functional.hessian(names["f"], theta) @ g
    )


@pytest.mark.parametrize("product_text", ["H @ g", "g @ H"])
def test_a_jacobian_times_a_vector(product_text: str) -> None:
    source = PRODUCT.format("func.jacrev(f)(theta)").replace("H @ g", product_text)
    left = product_text == "g @ H"
    found = said(computed(500, JACREV, VMAP, source=source, theta=50, g=5000 if left else 50, H=250_000))
    assert found is not None and found.evidence["passes_needed"] == 1 and found.evidence["passes"] == 5000
    a = torch.rand(6, 4).double()
    names = {"torch": torch, "f": lambda x: (a @ x).sin(), "theta": torch.rand(4).double()}
    names["g"] = torch.rand(6 if left else 4).double()
    jacobian = torch.func.jacrev(names["f"])(names["theta"])
    expected = names["g"] @ jacobian if left else jacobian @ names["g"]
    torch.testing.assert_close(eval(found.change.split("`")[1], names), expected)


def test_forward_mode_of_many_inputs() -> None:
    source = SOURCE.replace("jacrev", "jacfwd")
    found = said(computed(500, JACFWD, VMAP, source=source, theta=2000, J=10_000))
    assert found is not None and "`torch.func.jacrev(residuals)(theta)`" in found.change
    assert (found.evidence["passes"], found.evidence["passes_needed"]) == (2000, 5)
    assert "forward mode, with one pass for each input" in found.explanation
    assert said(computed(500, JACFWD, VMAP, source=source, theta=10, J=20_000)) is None  # the right mode


def test_few_numbers_take_the_time_of_the_calls() -> None:
    """Of 360 passes that run as one half of the time is kept, however few are needed."""
    found = said(computed(theta=17, J=17 * 360))
    assert found is not None and found.saving is not None
    assert found.saving.central_ns == pytest.approx(250e6)
    assert found.saving.high_ns == pytest.approx(500e6 * (1 - 17 / 360))


@pytest.mark.parametrize(
    "sizes",
    [
        {"theta": 10},  # not the size of the Jacobian
        {"J": 20_000},  # not that of its input
        {"theta": (10, 12), "J": 20_000},  # now so, now so
        {"theta": 10, "J": (20_000, 24_000)},
        {"theta": 30, "J": 20_000},  # not of this input
        {"theta": 10, "J": 100},  # square
    ],
)
def test_sizes_that_do_not_tell(sizes: dict[str, int | tuple[int, int]]) -> None:
    assert said(computed(**sizes)) is None


@pytest.mark.parametrize(
    "sizes",
    [
        {"theta": 300, "g": 900},  # a matrix of three columns
        {"theta": 300},
        {"g": 300},
        {"theta": 300, "g": 300, "H": 300},
        {"theta": 7, "g": 7},  # two passes for seven
    ],
)
def test_products_that_do_not_tell(sizes: dict[str, int]) -> None:
    assert said(product(**sizes)) is None


@pytest.mark.parametrize(
    "use",
    ["torch.linalg.solve(H, g)", "torch.linalg.inv(H) @ g", "H.diagonal() * g", "H @ g, torch.linalg.eigvalsh(H)"],
)
def test_a_hessian_that_is_needed(use: str) -> None:
    source = PRODUCT.format("hessian(f, theta)").replace("H @ g", use)
    assert said(computed(500, HESSIAN, source=source, theta=300, g=300, H=90_000)) is None
