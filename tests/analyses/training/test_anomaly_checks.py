"""Anomaly detection, seen by what it does."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.training.anomaly_checks import AnomalyChecks
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.registry import rule
from tests.support.trace_builder import TraceBuilder

NODE = "autograd::engine::evaluate_function: "


def backward(checked: int, *, within: str | None = None) -> Trace:
    """Four nodes of 100 µs, the first `checked` of which look for NaN, themselves or in an operator `within`."""
    builder = TraceBuilder().step(0, 1000)
    for place in range(4):
        at = place * 100
        builder.operator(f"{NODE}MulBackward0", at, 100, sequence=3 - place).operator("MulBackward0", at, 40)
        if place < checked:
            if within:
                builder.operator(within, at + 45, 40)
            builder.operator("aten::isnan", at + 50, 20)
    return builder.operator(f"{NODE}torch::autograd::AccumulateGrad", 400, 10).build()


@pytest.mark.parametrize(("checked", "on"), [(4, True), (3, True), (2, False), (0, False)])
def test_most_nodes_are_checked_where_it_is_on(checked: int, on: bool) -> None:
    found = Results(backward(checked)).get(AnomalyChecks)
    assert (found.nodes, found.checked, found.on) == (4, checked, on)
    assert found.checks.total_ns == checked * 20_000


def test_checks_of_the_users_own_functions_are_none() -> None:
    assert not Results(backward(4, within="MyFunctionBackward")).get(AnomalyChecks).on


def test_the_rule_needs_no_flag_for_it() -> None:
    found = rule("debug_mode_on").check(Results(backward(4)))
    assert isinstance(found, Finding)
    assert "anomaly detection" in found.title


def test_every_shared_trace(any_shared_trace: Trace) -> None:
    assert not Results(any_shared_trace).get(AnomalyChecks).on
