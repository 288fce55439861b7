"""The root-cause order as a whole: it names rules that exist, has no circle, and leaves one finding for one cause."""

from __future__ import annotations

import dataclasses
import itertools

import msgspec
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base import precedence
from gpuprof.rules.base.precedence import ROOT_CAUSES, STALLS
from gpuprof.rules.registry import all_rules, judge
from tests.rules.cases.device import energy_idle
from tests.rules.cases.device.energy_idle import FACTS
from tests.rules.cases.host import launch_bound
from tests.rules.cases.loading import input_stall
from tests.support.trace_builder import TraceBuilder

NAMES = {each.name for each in all_rules()}


def test_it_names_rules_that_exist() -> None:
    assert set(ROOT_CAUSES) | set(itertools.chain(*ROOT_CAUSES.values())) <= NAMES


@pytest.mark.parametrize("name", ROOT_CAUSES)
def test_no_rule_yields_to_itself_in_a_circle(name: str) -> None:
    reached, ahead = set(), list(ROOT_CAUSES[name])
    while ahead:
        cause = ahead.pop()
        if cause not in reached:
            reached.add(cause)
            ahead.extend(ROOT_CAUSES.get(cause, ()))
    assert name not in reached


def test_rules_leave_the_order_to_that_table() -> None:
    assert not [each.name for each in all_rules() if "yields_to" in vars(type(each))]


def test_energy_of_idle_time_speaks_alone_only() -> None:
    assert precedence.ROOT_CAUSES["energy_idle"] == STALLS
    assert "energy_idle" in {each.rule for each in judge(Results(energy_idle.fires()), strict=True).findings}


@pytest.mark.parametrize("case", [input_stall, launch_bound], ids=lambda case: case.__name__[18:])
def test_a_stall_keeps_the_energy_of_its_idle_time_out_of_the_findings(case: object) -> None:
    """GIVEN a run with a stall WHEN its power was read as well THEN the stall alone is the finding."""
    trace = case.fires()  # type: ignore[attr-defined]
    builder = TraceBuilder(start_ns=trace.span_start_ns - 1000)
    for tick in range(101):
        builder.sample(tick * (trace.span_ns + 2000) / 1e5, power_mw=100_000)
    sampled = builder.operator("aten::mm", 0, 1).build().device_readings
    context = msgspec.structs.replace(trace.context, sampling={"static": [msgspec.to_builtins(FACTS)]})
    trace = dataclasses.replace(trace, tables={**trace.tables, "device_readings": sampled}, context=context)
    results = Results(trace)
    (alone,) = (each for each in all_rules() if each.name == "energy_idle")
    rules = {each.rule for each in judge(results, strict=True).findings}
    assert case.__name__.rpartition(".")[2] in rules  # type: ignore[attr-defined]
    assert alone.check(results) is not None
    assert "energy_idle" not in rules


def test_a_cause_is_known_by_all_of_its_time_not_by_what_is_shown_of_it() -> None:
    """GIVEN reads number by number, of which the longest runs and the longest reads lie in different steps."""
    builder = TraceBuilder().operator("aten::zeros", 0, 1)
    for number in range(12):
        at, slow = 1000 * number, 30 if number < 6 else 0
        builder.step(at, 1000)
        for access in range(110 if slow else 200):
            last = slow if access == 109 else 0
            builder.operator("aten::select", at + 4 * access, 1).operator("aten::item", at + 4 * access + 1, 2 + last)
    found = judge(Results(builder.operator("aten::mean", 11_999, 1).build()), strict=True).findings
    assert [each.rule for each in found] == ["tensor_by_element"]
