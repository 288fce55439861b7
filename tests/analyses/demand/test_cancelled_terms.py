"""Which sums need less than they read, in real looks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.demand.cancelled_terms import cancelled_terms
from gpuprof.analyses.demand.looked import operators_of, values_of
from gpuprof.analyses.demand.unread_work import Unread, UnreadWork
from tests.support.looked_runs import looked_at

Sum = Callable[[torch.Tensor, torch.Tensor, Any], torch.Tensor]


def left(combine: Sum, factor: Any) -> list[str]:
    """What the last such sum consists of: the operators that made its terms."""
    trace = looked_at(lambda look: combine(torch.ones(4, 5).exp(), torch.ones(4, 5).sin(), factor))
    operators, values = operators_of(trace), values_of(trace)
    found = cancelled_terms(operators, values)
    last = found[max(found)] if found else ()
    return [operators[values[each.value].made_by].name for each in last]


@pytest.mark.parametrize(
    ("combine", "factor", "terms"),
    [
        (lambda a, b, w: a + w * (b - a), 1.0, ["aten::sin"]),
        (lambda a, b, w: a + w * (b - a), 0.0, ["aten::exp"]),
        (lambda a, b, w: (1 - w) * a + w * b, 1, ["aten::sin"]),
        (lambda a, b, w: (1 + w) * a - w * b, 0.0, ["aten::exp"]),
        (lambda a, b, w: torch.add(a, b, alpha=w), 0, ["aten::exp"]),
        (lambda a, b, w: torch.lerp(a, b, w), 1.0, ["aten::sin"]),
        (lambda a, b, w: a + (b - a).mul_(w), 1.0, ["aten::sin"]),
        (lambda a, b, w: a + b / w - b, 1.0, ["aten::exp"]),
        (lambda a, b, w: a + w * (b - a), 7.5, []),
        (lambda a, b, w: a + w * (b - a), torch.tensor(1.0), []),
        (lambda a, b, w: a + w * (b * a), 1.0, []),
        (lambda a, b, w: a + w * (b - a[:1]), 1.0, []),
        (lambda a, b, w: a - a, 1.0, []),
    ],
)
def test_sums_of_which_a_term_is_gone(combine: Sum, factor: Any, terms: list[str]) -> None:
    assert left(combine, factor) == terms


def wasted(scale: float, shown: bool = False, graph: bool = False) -> dict[Unread, float]:
    """Of guidance with that scale: the share of the time of all operators, by kind."""
    weight = torch.randn(500, 500, requires_grad=graph)
    x = torch.randn(500, 500)

    def steps(look: Any) -> Any:
        kept = []
        for _ in range(3):
            unguided = (x @ weight).sin()
            guided = (x @ weight).cos()
            out = unguided + scale * (guided - unguided)
            kept.append(out.detach().sum().item() + (unguided.sum().item() if shown else 0.0))
            if graph:
                out.sum().backward()
            look.iteration_ended()
        return kept

    found = Results(looked_at(steps, iterations=3)).get(UnreadWork)
    assert found.looked
    kinds = {each.kind for each in found.places}
    return {kind: sum(each.wasted_ns for each in found.places if each.kind is kind) / found.time_ns for kind in kinds}


def test_the_pass_that_cancels_is_not_needed() -> None:
    # in two of three iterations: of the last one it is not known who reads it later
    assert wasted(1.0)[Unread.CANCELLED] > 0.08
    assert Unread.CANCELLED not in wasted(2.0)


def test_what_is_read_elsewhere_is_needed() -> None:
    assert wasted(1.0, shown=True).get(Unread.CANCELLED, 0.0) == 0.0


def test_where_gradients_go_through_it_is_needed() -> None:
    assert wasted(1.0, graph=True).get(Unread.CANCELLED, 0.0) == 0.0
