"""Which sums follow from less than they are computed of, in real looks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from gpuprof.analyses.demand.cancellation import Cancelled
from gpuprof.analyses.demand.flow import Flow
from gpuprof.analyses.demand.looked import operators_of, values_of
from tests.support.looked_runs import looked_at

Sum = Callable[[torch.Tensor, torch.Tensor, Any], torch.Tensor]


def left(combine: Sum, factor: Any) -> str:
    """Of which of its terms the sum that is kept follows: `a`, `b`."""
    trace = looked_at(lambda look: combine(torch.ones(4, 5).exp(), torch.ones(4, 5).sin(), factor))
    operators, values = operators_of(trace), values_of(trace)
    needed = Flow(operators, values, cancelled=Cancelled.of(operators, values)).needed
    terms = {"aten::exp": "a", "aten::sin": "b"}
    return "".join(
        terms[each.name] for each, how in zip(operators, needed, strict=True) if each.name in terms and how.share
    )


@pytest.mark.parametrize(
    ("combine", "factor", "terms"),
    [
        (lambda a, b, w: a + w * (b - a), 1.0, "b"),
        (lambda a, b, w: a + w * (b - a), 0.0, "a"),
        (lambda a, b, w: (1 - w) * a + w * b, 1, "b"),
        (lambda a, b, w: (1 + w) * a - w * b, 0.0, "a"),
        (lambda a, b, w: torch.add(a, b, alpha=w), 0, "a"),
        (lambda a, b, w: torch.rsub(a, b, alpha=w), 0, "b"),
        (lambda a, b, w: torch.lerp(a, b, w), 1.0, "b"),
        (lambda a, b, w: torch.lerp(a, b, w), 0.0, "a"),
        (lambda a, b, w: a + (b - a).mul_(w), 1.0, "b"),
        (lambda a, b, w: a + b / w - b, 1.0, "a"),
        (lambda a, b, w: b + w * a * 0.1 + 0.2 * a - 0.3 * a, 1.0, "b"),
        (lambda a, b, w: a + w * (b - a), 7.5, "ab"),
        (lambda a, b, w: a + w * (b - a), torch.tensor(1.0), "ab"),
        (lambda a, b, w: a + w * (b * a), 1.0, "ab"),
        (lambda a, b, w: a + w * (b - a[:1]), 1.0, "ab"),
        (lambda a, b, w: a + torch.div(b, w, rounding_mode="floor") - b, 1.0, "ab"),
        (lambda a, b, w: a - a, 1.0, "a"),
        (lambda a, b, w: a + w * -(a - b), 1.0, "b"),
        (lambda a, b, w: 2 * b * w + a + a * -0.5 - 0.5 * a, 1.0, "b"),
    ],
)
def test_sums_of_which_a_term_is_gone(combine: Sum, factor: Any, terms: str) -> None:
    assert left(combine, factor) == terms
