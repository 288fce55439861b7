"""Double precision where no device is: judged by the types of the operators' inputs."""

from __future__ import annotations

import dataclasses

import msgspec
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Cell, Optimizer
from gpuprof.model.kinds import ValueKind
from gpuprof.model.memory import Composition
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.registry import judge, rule
from tests.rules.needless.test_looks_in_part import without_end
from tests.support.look_builder import LookBuilder
from tests.support.trace_builder import TraceBuilder

MATRICES = "[[256, 64], [64, 64]]"
CELL = "import torch\nx = torch.from_numpy(table)\nmodel = Net().double()\nfor rows in order:\n    step(rows)\n"


def training(
    double_us: float, *, name: str = "aten::mm", types: bool = True, steps: bool = True, source: str | None = None
) -> Trace:
    """Ten steps of 1 ms, of which an operator on float64 takes `double_us` and one on float32 100 µs."""
    builder = TraceBuilder().context(cell=Cell(source=source) if source else None)
    for at in range(0, 10_000, 1000):
        if steps:
            builder.step(at, 1000)
        kinds = ('["double", "double"]', '["float", "float"]') if types else (None, None)
        builder.operator(name, at, double_us, dims=MATRICES if types else None, types=kinds[0])
        builder.operator("aten::mm", at + 890, 100, dims=MATRICES if types else None, types=kinds[1])
        builder.operator("aten::add_", at + 995, 5, dims="[[], []]" if types else None, types=kinds[0])
    return builder.build()


def check(trace: Trace) -> Finding | Abstention | None:
    return rule("float64_compute").check(Results(trace))


def found(trace: Trace) -> Finding:
    answer = check(trace)
    assert isinstance(answer, Finding), answer
    return answer


@pytest.mark.parametrize(("double_us", "severity"), [(99, None), (100, Severity.MEDIUM), (400, Severity.HIGH)])
def test_it_matters_from_a_tenth_of_the_steps_on(double_us: float, severity: Severity | None) -> None:
    answer = check(training(double_us))
    assert (answer.severity if isinstance(answer, Finding) else answer) == severity


def test_half_of_the_time_is_saved_but_for_what_each_operator_takes_anyway() -> None:
    finding = found(training(501.2))
    assert finding.evidence["float64_share"] == pytest.approx(0.5012)
    assert finding.saving is not None
    figures = (finding.saving.low_ns, finding.saving.central_ns, finding.saving.high_ns)
    assert figures == pytest.approx((0.37 * 5e6, 0.5 * 5e6, 0.63 * 5e6))
    assert "--shapes" not in finding.change


def test_convolutions_may_gain_more_or_nothing() -> None:
    saving = found(training(501.2, name="aten::_slow_conv2d_forward")).saving
    assert saving is not None
    assert (saving.low_ns, saving.high_ns) == (0, pytest.approx(0.85 * 5e6))


def test_the_lines_where_it_enters_are_named() -> None:
    finding = found(training(400, source=CELL))
    assert finding.where.lines == (2, 3)
    assert "in the lines named" in finding.change
    assert "NumPy array" in found(training(400)).change


def test_solvers_need_it() -> None:
    assert check(training(400, name="aten::linalg_cholesky_ex")) is None


def test_a_cell_without_steps_is_not_judged() -> None:
    assert check(training(400, steps=False)) is None


def test_without_types_it_is_not_known_where_operators_matter() -> None:
    answer = check(training(400, types=False))
    assert isinstance(answer, Abstention) and "--shapes" in answer.how
    builder = TraceBuilder().step(0, 1000).operator("aten::mm", 0, 90).operator("aten::mm", 999, 1)
    assert check(builder.build()) is None


@pytest.mark.parametrize(("weight_bytes", "asked"), [(4, False), (8, True), (None, True)])
def test_types_are_asked_for_where_the_weights_may_be_double(weight_bytes: int | None, asked: bool) -> None:
    trace = training(400, types=False)
    weighed = () if weight_bytes is None else (Composition(device="cpu", parameter_bytes=1000 * weight_bytes),)
    stepped = (Optimizer(name="SGD", parameters=4, elements=1000, device="cpu", steps=10),)
    context = msgspec.structs.replace(trace.context, compositions=weighed, optimizers=stepped)
    assert isinstance(check(dataclasses.replace(trace, context=context)), Abstention) is asked


def test_it_is_reported() -> None:
    assert [each.rule for each in judge(Results(training(400)), strict=True).findings] == ["float64_compute"]


def looked(weights: str, *, source: str = "model = Net().double()", solver: bool = False) -> Trace:
    """Ten steps of 1 ms without types, and a look: of 100 µs of operators 80 µs with weights of that type."""
    builder = TraceBuilder().context(cell=Cell(source=f"for x in data:\n    y = model(x)\n{source}\n"))
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).line(2, at).operator("aten::addmm", at, 800).operator("aten::relu", at + 800, 200)
    look = LookBuilder(builder).tensor("w", shape=(64, 64), dtype=weights, kind=ValueKind.PARAMETER)
    for each in range(3):
        x = f"x{each}"
        look.tensor(x, content=each + 1, shape=(64, 64), dtype=weights)
        look.operator(
            "aten::addmm", 80, reads=f"w {x}", makes="y", shape=(64, 64), dtype=weights, line=2, iteration=each
        )
        look.operator("aten::relu", 20, reads="y", makes="z", shape=(64, 64), dtype="float32", line=2, iteration=each)
        if solver:
            look.operator("aten::linalg_cholesky_ex", 1, reads="z", makes="l", line=2, iteration=each)
    return look.build()


def test_a_look_at_a_part_of_an_iteration_counts_by_samples_of_its_lines() -> None:
    finding = found(without_end(looked("float64"), {1: 300, 2: 300, 90: 400}))
    assert finding.severity is Severity.MEDIUM and "so the share of the cell comes from samples" in finding.explanation
    assert finding.saving is not None and finding.saving.of_cell and finding.saving.share < 0.4
    assert check(without_end(looked("float64", solver=True), {1: 300, 2: 300})) is None
    for line_ms in ({}, {90: 1000}):
        answer = check(without_end(looked("float64"), line_ms))
        assert isinstance(answer, Abstention)


def test_without_types_the_close_look_tells_them() -> None:
    finding = found(looked("float64"))
    # the operator that reads what they make is one of them
    assert finding.evidence["float64_weights_share"] == 0.8 and finding.evidence["float64_share"] == 1.0
    assert finding.severity > Severity.LOW and finding.where.lines == (3,)
    assert finding.saving is not None and finding.saving.share == pytest.approx(0.6, abs=0.02)


def test_a_model_in_single_precision_is_none() -> None:
    assert check(looked("float32")) is None


def test_nor_one_beside_a_solver_and_a_default_that_is_set_is_a_decision() -> None:
    assert check(looked("float64", solver=True)) is None
    assert found(looked("float64", source="torch.set_default_dtype(torch.float64)")).severity is Severity.LOW


def met(other: str = "float32", *, source: str = "", widen: str = "aten::mul") -> Trace:
    """No model: of 100 µs of operators 60 on fp64 numbers, 40 where they meet others of a thousand."""
    builder = TraceBuilder().context(cell=Cell(source=f"for t in times:\n    u = wave(u)\n{source}\n"))
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).line(2, at).operator("aten::add", at, 600).operator("aten::mul", at + 600, 400)
    look = LookBuilder(builder).tensor("sponge", shape=(64, 64), dtype=other)
    for each in range(3):
        u = f"u{each}"
        look.tensor(u, content=each + 1, shape=(64, 64), dtype="float64")
        look.operator("aten::add", 60, reads=u, makes="v", shape=(64, 64), dtype="float64", line=2, iteration=each)
        look.operator(widen, 40, reads="v sponge", makes="w", shape=(64, 64), dtype="float64", line=3, iteration=each)
    return look.build()


def test_single_precision_that_becomes_double_is_nobodys_wish() -> None:
    finding = found(met())
    assert finding.severity > Severity.LOW and finding.evidence["widened_lines"] == 1
    assert "at line 3 fp32 tensors are combined with fp64 tensors and become fp64" in finding.explanation
    assert {2, 3} <= set(finding.where.lines)


@pytest.mark.parametrize(
    ("other", "source"),
    [
        ("float64", ""),
        ("int64", ""),
        ("float32", "a = x.double()"),
        ("float32", "a = torch.zeros(9, dtype=torch.float64)"),
    ],
)
def test_what_asks_for_double_precision_means_it(other: str, source: str) -> None:
    assert check(met(other, source=source)) is None


MEANT = "\nfor p in model.parameters():\n    u = torch.autograd.grad(y, x, create_graph=True)\n"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        (f"model = Net().double(){MEANT}", True),
        (f"model = nn.Sequential(a, b).to(device).double(){MEANT}", True),
        (f"model.to(device, dtype=torch.float64){MEANT}", True),
        ("model = Net().double()\noptimizer = torch.optim.LBFGS(model.parameters())", True),
        ("model = Net().double()", False),
        (f"model = Net().double(){MEANT.replace('True', 'False')}", False),
        # of the data
        (f"x = x.double(){MEANT}", False),
        (f"x = torch.FloatTensor(rows).double(){MEANT}", False),
        (f"x = x.to(torch.float64){MEANT}", False),
        (f"model = Net().float(){MEANT}", False),
    ],
)
def test_a_model_made_double_for_second_derivatives_is_a_minor_finding(text: str, meant: bool) -> None:
    assert (found(training(800, source=text)).severity is Severity.LOW) is meant
    if "model = Net().double()" in text:
        assert (found(looked("float64", source=text)).severity is Severity.LOW) is meant


def test_labels_are_left_as_they_are() -> None:
    for change in (found(training(400, source=CELL)).change, found(looked("float64")).change):
        assert "for arrays of floats (leave integer labels as they are)" in change
