"""Full derivatives are told from the frames of torch that sampled stacks have."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.demand.full_derivatives import DerivativeKind, FullDerivative, FullDerivatives
from tests.rules.cases.host.costly_call_per_item import library
from tests.rules.cases.needless.derivative_in_full import (
    FUNCTIONAL,
    JACFWD,
    JACREV,
    TRANSFORMS,
    VMAP,
    abstains,
    computed,
)
from tests.support.trace_builder import CELL_FILE, TraceBuilder

Frame = tuple[str, str, int]
USER: Frame = (CELL_FILE, "residuals", 2)
JACOBIAN, HESSIAN = library(FUNCTIONAL, "jacobian"), library(FUNCTIONAL, "hessian")


def found(*below: Frame, for_ms: float = 500) -> tuple[FullDerivative, ...]:
    return Results(computed(for_ms, *below)).get(FullDerivatives).calls


@pytest.mark.parametrize(
    ("below", "kind", "transform", "vectorized"),
    [
        ((JACREV, VMAP), DerivativeKind.REVERSE, True, True),
        ((JACREV, VMAP, USER), DerivativeKind.REVERSE, True, True),
        ((JACFWD, VMAP, USER), DerivativeKind.FORWARD, True, True),
        ((JACFWD, VMAP, JACREV, USER), DerivativeKind.HESSIAN, True, True),
        ((JACREV, VMAP, JACREV), DerivativeKind.HESSIAN, True, True),
        ((JACOBIAN,), DerivativeKind.REVERSE, False, False),
        ((JACOBIAN, library("torch/_vmap_internals.py", "_vmap")), DerivativeKind.REVERSE, False, True),
        ((JACOBIAN, library(FUNCTIONAL, "_jacfwd"), VMAP), DerivativeKind.FORWARD, False, True),
        ((HESSIAN, JACOBIAN), DerivativeKind.HESSIAN, False, False),
        # the user's function has a Jacobian of its own: that of the outer line counts
        ((JACFWD, VMAP, USER, JACREV), DerivativeKind.FORWARD, True, True),
    ],
)
def test_kinds(below: tuple[Frame, ...], kind: DerivativeKind, transform: bool, vectorized: bool) -> None:
    (only,) = found(*below)
    assert (only.kind, only.transform, only.vectorized) == (kind, transform, vectorized)
    assert (only.line, only.cell_lines, only.ns, only.share) == (3, (3, 6), 500_000_000, 0.5)
    assert int((only.ends_ns - only.starts_ns).sum()) == only.ns
    assert {each.name: each.most_elements for each in only.operands} == {"theta": 10, "J": 20_000}


@pytest.mark.parametrize(
    "below",
    [
        (library("torch/autograd/__init__.py", "grad"),),
        (library(TRANSFORMS, "jvp"),),
        (library(TRANSFORMS, "grad.<locals>.wrapper"), USER),
        (library(FUNCTIONAL, "hvp"),),
        # within another transform the sizes of the names are those of a batch
        (VMAP, JACREV),
        (library("elsewhere/functional.py", "jacobian"),),
        (USER,),
    ],
)
def test_what_is_no_full_derivative(below: tuple[Frame, ...]) -> None:
    assert found(*below) == ()


def test_what_takes_next_to_nothing_is_left_out() -> None:
    assert found(JACREV, for_ms=9.9) == ()
    assert len(found(JACREV, for_ms=10.1)) == 1


def test_two_lines_are_two_calls_and_stacks_of_one_line_tell_together() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 1)
    for at, length, frames in (
        (0, 100, ((CELL_FILE, "f", 2), JACREV)),
        (100, 300, ((CELL_FILE, "f", 4), JACFWD, VMAP)),
        (400, 300, ((CELL_FILE, "f", 4), JACFWD, VMAP, JACREV)),
    ):
        builder.stack(at, length, *frames)
    calls = Results(builder.build()).get(FullDerivatives).calls
    assert [(each.line, each.kind, each.ns) for each in calls] == [
        (4, DerivativeKind.HESSIAN, 600_000),
        (2, DerivativeKind.REVERSE, 100_000),
    ]


def test_without_samples() -> None:
    none = Results(abstains()).get(FullDerivatives)
    assert (none.calls, none.total_ns) == ((), 0)
