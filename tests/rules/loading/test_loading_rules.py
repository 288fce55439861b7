"""Rules about the making of samples: where they must be silent, and which of them speaks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Environment, Loader
from gpuprof.model.loading import Loading
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.loading.input_stall import InputStall
from gpuprof.rules.loading.per_sample_fetch import PerSampleFetch
from gpuprof.rules.loading.slow_transform import SlowTransform
from gpuprof.rules.registry import judge
from tests.rules.cases.loading import per_sample_fetch, slow_transform
from tests.rules.cases.loading.slow_transform import loop, timed
from tests.support.trace_builder import TraceBuilder


def waiting(**facts: Any) -> Loading:
    return timed(**({"resize_ms": 0.1, "cpu_share": 0.1, "blocked": 200} | facts))


@pytest.mark.parametrize("trace", [slow_transform.fires(), per_sample_fetch.fires()], ids=["slow", "one by one"])
def test_one_cause_is_one_finding(trace: Trace) -> None:
    rules = {each.rule for each in judge(Results(trace), strict=True).findings}
    assert len(rules & {"slow_transform", "per_sample_fetch", "input_stall"}) == 1
    assert "input_stall" not in rules


def test_silent_where_workers_are_the_simpler_cure() -> None:
    results = Results(loop(timed(), cores=8))
    assert SlowTransform().check(results) is None
    assert "input_stall" in {each.rule for each in judge(results, strict=True).findings}


def test_a_transform_that_waits_is_not_slow_by_computing() -> None:
    assert SlowTransform().check(Results(loop(timed(cpu_share=0.4)))) is None


@pytest.mark.parametrize(
    "trace",
    [
        loop(waiting(), workers=2, cores=2),
        loop(waiting(batched=True), workers=2, cores=3),
        loop(waiting(resize_ms=2.5), workers=2, cores=3),
        loop(waiting(blocked=80), workers=2, cores=3),
    ],
    ids=["workers share cores", "batched already", "a transform waits", "no waits"],
)
def test_a_fetch_that_is_held_up_by_something_else(trace: Trace) -> None:
    assert PerSampleFetch().check(Results(trace)) is None


@pytest.mark.parametrize(("wait_ms", "found"), [(1.2, False), (2.8, False), (4.0, True)])
def test_without_a_device_the_handing_over_of_ready_batches_is_no_stall(wait_ms: float, found: bool) -> None:
    builder = TraceBuilder().context(loaders=(Loader(workers=2, line=3),), environment=Environment(cores_allowed=2))
    for step in range(10):
        at = step * 15_000
        builder.step(at, 15_000).data_wait(at, wait_ms * 1000, workers=2)
        builder.operator("aten::mm", at + wait_ms * 1000, 15_000 - wait_ms * 1000)
    assert (InputStall().check(Results(builder.build())) is not None) is found


def test_two_datasets_that_cannot_be_told_apart() -> None:
    answer = SlowTransform().check(Results(loop(timed(), timed(resize_ms=1.0))))
    assert isinstance(answer, Abstention)


def test_workers_of_one_thread_are_not_as_fast_as_a_process_of_several() -> None:
    """GIVEN batches that this process makes with four threads THEN that counts, or forbids the workers."""
    several = msgspec.structs.replace(timed(), cpu_ns=4 * 400_000_000)

    def change(cores: int) -> str:
        found = InputStall().check(Results(loop(several, cores=cores)))
        assert isinstance(found, Finding)
        return found.change

    assert "num_workers=6" in change(16) and "about 4.00× as long for a batch" in change(16)
    assert "num_workers" not in change(3) and "one thread each" in change(3)


def _waits(*waits_ms: float, cores_used: float = 180.0, core_wait: float | None = None, **made: int) -> Trace:
    """Steps of 20 ms on two cores without a device; the worker waits for a core four times as long as it runs."""
    starved = msgspec.structs.replace(timed(), **({"cpu_ns": 80_000_000, "core_wait_ns": 320_000_000} | made))
    loader = Loader(workers=1, line=3, dataset="Photos", samples=1000)
    builder = TraceBuilder().context(loaders=(loader,), loadings=(starved,), environment=Environment(cores_allowed=2))
    for number, wait_ms in enumerate(waits_ms):
        at = 20_000 * number
        builder.step(at, 20_000).data_wait(at, wait_ms * 1000, workers=1)
        builder.operator("aten::mm", at + wait_ms * 1000, 20_000 - wait_ms * 1000)
    for at in range(0, 20_000 * (len(waits_ms) + 1), 20_000):
        waited = {} if core_wait is None else {"main_core_wait_percent": core_wait}
        builder.host_sample(at, cpu_percent=cores_used / 2, children_cpu_percent=cores_used / 2, **waited)
    return builder.build()


def _stall(trace: Trace) -> Finding | None:
    answer = InputStall().check(Results(trace))
    assert not isinstance(answer, Abstention)
    return answer


def test_one_wait_alone_is_chance() -> None:
    assert _stall(_waits(*[0.2] * 9, 15)) is None
    assert _stall(_waits(*[5.0] * 10)) is not None


def test_a_wait_for_cores_that_others_hold_is_a_minor_finding() -> None:
    own, held = _stall(_waits(*[5.0] * 10)), _stall(_waits(*[5.0] * 10, cores_used=60.0))
    assert own is not None and own.severity == Severity.HIGH
    assert held is not None and held.severity == Severity.LOW
    asleep = _stall(_waits(*[5.0] * 10, cores_used=60.0, cpu_ns=4_000_000, core_wait_ns=16_000_000))
    assert asleep is not None and asleep.severity == Severity.HIGH


def test_a_wait_saves_at_most_itself_however_long_the_steps_waited_for_a_core() -> None:
    found = _stall(_waits(*[5.0] * 10, core_wait=50.0))
    assert found is not None and found.saving is not None
    assert found.saving.high_ns == pytest.approx(10 * 5e6)


@pytest.mark.parametrize(("same", "severity"), [(64, Severity.HIGH), (0, Severity.LOW), (63, Severity.LOW)])
def test_a_transform_of_random_changes_cannot_be_done_once(same: int, severity: Severity) -> None:
    trace = slow_transform.fires()
    (loader,) = trace.context.loaders
    changed = msgspec.structs.replace(loader, samples_compared=64, samples_same=same)
    context = msgspec.structs.replace(trace.context, loaders=(changed,))
    found = SlowTransform().check(Results(replace(trace, context=context)))
    assert isinstance(found, Finding) and found.severity is severity


def _in_process(cores: int, **readings: float) -> str:
    """What it says of steps of 20 ms of which 8 are waiting, in this process, with such readings meanwhile."""
    loader = Loader(workers=0, line=3, dataset="Photos", samples=1000)
    builder = TraceBuilder().context(loaders=(loader,), environment=Environment(cores_allowed=cores))
    for at in range(0, 200_000, 20_000):
        builder.step(at, 20_000).data_wait(at, 8000).operator("aten::mm", at + 8000, 12_000)
    for at in range(0, 220_000, 20_000):
        builder.host_sample(at, **({"cpu_percent": 100, "main_thread_percent": 99, **readings}))
    found = _stall(builder.build())
    assert found is not None
    return found.change


@pytest.mark.parametrize(
    ("cores", "readings", "offered"),
    [
        (2, {}, True),
        (2, {"other_cpu_percent": 20}, True),
        (2, {"other_cpu_percent": 80}, False),
        (4, {"other_cpu_percent": 180}, True),
        (4, {"other_cpu_percent": 290}, False),
        (2, {"cpu_percent": 185}, False),  # torch’s own threads
        (2, {"main_core_wait_percent": 30, "main_thread_percent": 65}, False),
        (2, {"main_core_wait_percent": 3, "main_thread_percent": 95}, True),
    ],
)
def test_workers_are_offered_for_cores_that_were_free(cores: int, readings: dict[str, float], offered: bool) -> None:
    change = _in_process(cores, **readings)
    assert ("num_workers=1" in change) is offered
    assert ("none was free while it ran" in change) is not offered


def test_cores_that_are_held_by_others_bound_included() -> None:
    """0.3 and 0.3 of two cores are used: exactly the share asked for is not less than it."""
    results = Results(_waits(*[5.0] * 10, cores_used=60.0))
    least = InputStall(held_share=0.3).check(results)
    more = InputStall(held_share=0.3000001).check(results)
    assert isinstance(least, Finding) and least.severity == Severity.HIGH
    assert isinstance(more, Finding) and more.severity == Severity.LOW
