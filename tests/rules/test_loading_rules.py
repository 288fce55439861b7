"""Rules about the making of samples: where they must be silent, and which of them speaks."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gpuprof.analyses.result import Results
from gpuprof.model.context import Environment, Loader
from gpuprof.model.loading import Loading
from gpuprof.model.trace import Trace
from gpuprof.rules.finding import Abstention, Finding
from gpuprof.rules.input_stall import InputStall
from gpuprof.rules.per_sample_fetch import PerSampleFetch
from gpuprof.rules.registry import judge
from gpuprof.rules.slow_transform import SlowTransform
from tests.rules.cases import per_sample_fetch, slow_transform
from tests.rules.cases.slow_transform import loop, timed
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


@pytest.mark.parametrize(("wait_ms", "found"), [(1.2, False), (2.8, True), (4.0, True)])
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
