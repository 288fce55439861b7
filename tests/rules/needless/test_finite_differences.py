"""A solver that is given no gradient: how much of its time the differences take, and what is said of it."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Cell
from gpuprof.model.operands import Operand, Operands
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.registry import rule
from tests.rules.cases.host.costly_call_per_item import MODEL, library
from tests.support.trace_builder import CELL_FILE, TraceBuilder

SOURCE = """def objective(p):
    return misfit(torch.from_numpy(p)).item()

fit = minimize(objective, start, method="BFGS")
model(fit.x)
"""
CALLER, OBJECTIVE = (CELL_FILE, "<module>", 4), (CELL_FILE, "objective", 2)
MINIMIZE = library("scipy/optimize/_minimize.py", "minimize")
SCALAR = library("scipy/optimize/_differentiable_functions.py", "ScalarFunction._update_grad")
VECTOR = library("scipy/optimize/_differentiable_functions.py", "VectorFunction._update_jac")
ESTIMATE = library("scipy/optimize/_numdiff.py", "approx_derivative")


def fitted(
    estimates_ms: float = 450,
    *,
    least: int | None = 20,
    most: int | None = 20,
    function: tuple[str, str, int] = SCALAR,
    torch: bool = True,
    source: str = SOURCE,
) -> Trace:
    """Of a second: so long in the differences, 50 ms in the value alone, the rest in a model."""
    builder = TraceBuilder()
    if torch:
        builder.operator("aten::mm", 1_000, 20_000)
    builder.operator("aten::mm", 980_000, 20_000)
    for part in range(10):
        at, length = part * 100_000 + 1, 100 * estimates_ms
        builder.stack(at, length, CALLER, MINIMIZE, function, ESTIMATE, OBJECTIVE)
        builder.stack(at + length, 5_000, CALLER, MINIMIZE, function, OBJECTIVE)
        builder.stack(at + length + 5_000, 95_000 - length, (CELL_FILE, "<module>", 5), MODEL)
    p = Operand(
        file=CELL_FILE, first=1, last=2, name="p", kind="numpy.ndarray", fewest_elements=least, most_elements=most
    )
    cell = Cell(source=source, filename=CELL_FILE)
    return builder.context(cell=cell, operands=Operands(looks=9, seen=(p,))).build()


def said(**changed: Any) -> Finding | None:
    answer = rule("derivative_in_full").judge(Results(fitted(**changed)))
    assert answer is None or isinstance(answer, Finding)
    return answer


def test_all_but_four_calls_are_saved() -> None:
    found = said()
    assert found is not None and found.saving is not None
    assert found.severity is Severity.MEDIUM
    assert found.title == "`minimize` estimates the gradient by differences: 45 % of the cell"
    assert found.explanation == (
        "Line 4 gives `minimize` no gradient. For each gradient it calls `objective` 20 times more, once for each "
        "parameter: 450 ms."
    )
    assert found.evidence == {"work_ms": pytest.approx(450), "work_share": 0.45, "parameters": 20}
    assert (found.saving.low_ns, found.saving.central_ns, found.saving.high_ns) == pytest.approx(
        (450e6 * 14 / 20, 450e6 * 16 / 20, 450e6 * 18 / 20)
    )
    assert found.saving.share == pytest.approx(0.36) and found.where.lines == (4,)
    assert "`jac=True`" in found.change


def test_severity_goes_by_what_is_saved() -> None:
    # 16 of 20 calls
    for estimates_ms, severity in ((125.1, Severity.LOW), (251, Severity.MEDIUM), (501, Severity.HIGH)):
        found = said(estimates_ms=estimates_ms)
        assert found is not None and found.severity is severity
    assert said(estimates_ms=124.9) is None


@pytest.mark.parametrize(("least", "most"), [(7, 7), (19, 20), (None, None)])
def test_of_few_parameters_or_of_unknown_ones_nothing_is_said(least: int | None, most: int | None) -> None:
    assert said(least=least, most=most) is None
    assert said(least=8, most=8) is not None


def test_of_a_function_with_several_outputs_nothing_is_said() -> None:
    assert said(function=VECTOR) is None


def test_without_torch_the_formula_is_work_for_a_person() -> None:
    found = said(estimates_ms=700, torch=False)
    assert found is not None and found.severity is Severity.LOW and "a formula" in found.change


def test_the_gradient_of_a_model_is_that_of_its_parameters() -> None:
    """`p.grad` is None where `p` is written into them."""
    writes = "    vector_to_parameters(torch.from_numpy(p), net.parameters()); return misfit(net).item()"
    found, plain = said(source=SOURCE.replace("    return misfit(torch.from_numpy(p)).item()", writes)), said()
    assert found is not None and plain is not None
    assert found.change.startswith(plain.change) and "parameters" not in plain.change
    assert found.change.endswith(
        "If `objective` writes `p` into a model (`vector_to_parameters(p, net.parameters())`), `p.grad` is None: call "
        "`net.zero_grad()` before, and return the gradient "
        "`parameters_to_vector([each.grad for each in net.parameters()]).double().numpy()`."
    )
