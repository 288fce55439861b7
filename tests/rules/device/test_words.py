"""What the rules on devices say in addition to their figures."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.registry import rule
from tests.rules.cases import case_of
from tests.support.trace_builder import TraceBuilder


def test_the_reason_that_nvml_gives_is_passed_on() -> None:
    silent = rule("energy_idle").check(Results(case_of("energy_idle").abstains()))
    assert isinstance(silent, Abstention) and "NVML" not in silent.how
    trace = case_of("energy_idle").abstains()
    sampling = {**trace.context.sampling, "unavailable": "no driver"}
    context = msgspec.structs.replace(trace.context, sampling=sampling)
    told = rule("energy_idle").check(Results(replace(trace, context=context)))
    assert isinstance(told, Abstention) and told.how.endswith(" NVML said: no driver.")


def test_the_heaviest_operator_is_named() -> None:
    trace = case_of("cpu_build_or_cpu_tensors").fires()
    builder = TraceBuilder().context(environment=trace.context.environment, sampling=trace.context.sampling)
    for at, name, length in ((0, "aten::mm", 300), (400, "aten::addmm", 500), (1000, "aten::convolution", 100)):
        builder.operator(name, at * 1000, length * 1000)
    found = rule("cpu_build_or_cpu_tensors").check(Results(builder.build()))
    assert isinstance(found, Finding)
    assert "aten::addmm (1×, 500 ms)" in found.explanation
