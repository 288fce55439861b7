"""One cause of full memory is one finding."""

from __future__ import annotations

import json

from gpuprof.analyses.basics.result import Results
from gpuprof.model.memory import HeldTensors
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.registry import judge, rule
from tests.rules.cases.memory import memory_near_limit
from tests.rules.memory.memory_runs import GIB, adam, allocator, run, weighed
from tests.support.trace_builder import TraceBuilder


def found(builder: TraceBuilder) -> dict[str, Finding]:
    judgement = judge(Results(builder.build()), strict=True)
    return {each.rule: each for each in judgement.findings if "memory" in each.rule or "peak" in each.rule}


def test_a_full_device_is_explained_by_what_fills_it() -> None:
    full = {"allocators": (allocator(15, 15.5),)}
    assert set(found(run(**full))) == {"memory_near_limit"}
    state = run(**full, compositions=(weighed(3, 3, 6.5),), optimizers=(adam(1),))
    judgement = judge(Results(state.build()), strict=True)
    assert [each.rule for each in judgement.findings] == ["optimizer_state_dominates"]
    assert judgement.findings[0].severity == Severity.HIGH


def test_logits_are_named_rather_than_activations() -> None:
    builder = TraceBuilder().device(0, memory_bytes=16 * GIB).operator("aten::linear", 0, 100)
    dims, types = json.dumps([[8192, 150_000], [8192]]), json.dumps(["float", "long int"])
    for at in range(0, 3000, 1000):
        builder.step(at, 1000)
        builder.memory(at + 10, 512, allocated=4 * GIB, reserved=12 * GIB)
        builder.operator("aten::cross_entropy_loss", at + 300, 50, dims=dims, types=types)
        builder.memory(at + 400, 7 * GIB, allocated=11 * GIB, reserved=12 * GIB)
        builder.operator("autograd::engine::evaluate_function: MmBackward0", at + 500, 400)
        builder.memory(at + 800, -7 * GIB, allocated=4 * GIB, reserved=12 * GIB)
    trace = builder.build()
    assert isinstance(rule("activations_dominate_peak").check(Results(trace)), Finding)
    judgement = judge(Results(trace), strict=True)
    assert [each.rule for each in judgement.findings] == ["logits_dominate_peak"]


def test_free_memory_that_is_a_mere_cache_is_no_fault() -> None:
    """GIVEN maxima of different times, and nothing that failed THEN only every allocation can tell which it is."""
    builder = run(allocators=(allocator(6, 14),))
    assert found(builder) == {}
    verdict = rule("fragmented_memory").check(Results(builder.build()))
    assert isinstance(verdict, Abstention) and "--memory" in verdict.how
    small = run(allocators=(allocator(4, 8),))
    assert rule("fragmented_memory").check(Results(small.build())) is None


def test_one_request_that_was_far_too_large_is_no_fragmentation() -> None:
    assert "fragmented_memory" not in found(run(allocators=(allocator(2, 4, ooms=1),)))


def test_expandable_segments_are_not_advised_twice() -> None:
    from gpuprof.model.context import Environment

    environment = Environment(allocator_config="expandable_segments:True,max_split_size_mb:64")
    builder = run(allocators=(allocator(10, 15, retries=3),), environment=environment)
    assert "on already" in found(builder)["fragmented_memory"].change


def test_held_tensors_are_urgent_only_where_memory_ran_out() -> None:
    held = (HeldTensors(name="old", kind="global", device="cuda:0", bytes=2 * GIB, tensors=1),)
    severities = []
    for peak, ooms in ((4, 0), (12, 0), (12, 1)):
        answer = rule("tensors_held_by_notebook").check(
            Results(run(held=held, allocators=(allocator(peak, peak + 1, ooms=ooms),)).build())
        )
        assert isinstance(answer, Finding)
        severities.append(answer.severity)
    assert severities == [Severity.LOW, Severity.MEDIUM, Severity.HIGH]


def test_names_in_use_are_not_held_against_the_notebook() -> None:
    held = (HeldTensors(name="net", kind="module", device="cuda:0", bytes=9 * GIB, tensors=1, used=True),)
    assert rule("tensors_held_by_notebook").check(Results(run(held=held).build())) is None


def test_a_server_fills_the_device_on_purpose() -> None:
    full, serving = (
        memory_near_limit.fires(),
        TraceBuilder().span("execute_context_0(0)_generation_1(1)", 0, 10).build(),
    )
    served = Trace(
        **{**vars(full), "names": serving.names, "tables": {**full.tables, "user_ranges": serving.user_ranges}}
    )
    assert isinstance(rule("memory_near_limit").check(Results(full)), Finding)
    assert rule("memory_near_limit").check(Results(served)) is None


def test_where_no_gradient_is_computed_nothing_is_said_of_optimizers() -> None:
    full, run = memory_near_limit.fires(), TraceBuilder().operator("aten::mm", 0, 10).build()
    inferred = Trace(**{**vars(full), "tables": {**full.tables, "operators": run.operators}})
    words = [rule("memory_near_limit").check(Results(each)) for each in (full, inferred)]
    assert [isinstance(each, Finding) and "optimizer" in each.change for each in words] == [True, False]
