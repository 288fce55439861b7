"""What a rule says is saved where the run cannot be simulated: by its own formula, from the times of its case."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.kernels.kernels import Kernels
from gpuprof.model.context import Environment, Loader
from gpuprof.model.readings import DeviceFacts
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding, Saving, Severity, Where
from gpuprof.rules.distributed.exposed_collective import _latency
from gpuprof.rules.registry import _same_time, _yields, all_rules, rule
from gpuprof.rules.saving.scope import Scope
from gpuprof.whatif.predict import Replay
from tests.rules.case_figures.test_case_figures import FIGURES
from tests.rules.cases import case_of
from tests.rules.cases.device import power_capped
from tests.rules.cases.host import python_loop_over_batch, python_loop_over_slices
from tests.rules.cases.host.python_loop_over_weights import steps
from tests.support.trace_builder import TraceBuilder

OWN = {
    "allocator_calls_in_step": (12_000 / 2, 12_000, 12_000),
    "blocking_h2d_copy": (0, 1200, 1200),
    "copies_within_device": (200, 500, 1000),
    "cpu_preprocessing": (0, 12_000, 12_000),
    "empty_cache_in_step": (900 / 2, 900, 900),
    "explicit_synchronize": (0, 1000, 1000),
    "exposed_h2d_copy": (0, 1000, 1000),
    "launch_bound": (0.3 * (8799 - 200), 8799 - 200, 8799 - 200),  # a µs for each kernel remains
    "loop_on_host": (3000 / 2, 3000 * 19 / 20, 3000),
    "nchw_convolution": (300 * 0.3, 300 * 0.8, 300),
    "pageable_h2d_copy": (0, 10_090, 10_090),
    "small_h2d_copies": (2880 / 2, 2880 * 15 / 16, 2880),
    "sync_in_step": (0, 1100, 1100),
    "unaligned_gemm_shape": (600 * 0.1, 600 / 3, 600 * 2 / 3),
}


@pytest.mark.parametrize("name", [each.name for each in all_rules()])
def test_without_a_graph(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Replay, "possible", False)
    run: Any = case_of(name).fires()
    found = rule(name).check(run if isinstance(run, Results) else Results(run))
    assert isinstance(found, Finding)
    expected = OWN.get(name, FIGURES[name].saving)
    if expected is None:
        assert found.saving is None
    else:
        assert found.saving is not None and found.saving.grade == "C"
        saved = [ns / 1000 for ns in (found.saving.low_ns, found.saving.central_ns, found.saving.high_ns)]
        assert saved == pytest.approx(expected, rel=1e-4)


def saving_of(name: str, trace: Trace) -> list[float]:
    found = rule(name).check(Results(trace))
    assert isinstance(found, Finding) and found.saving is not None
    return [ns / 1000 for ns in (found.saving.low_ns, found.saving.central_ns, found.saving.high_ns)]


def on_device(trace: Trace) -> Trace:
    """With a kernel on a device, launched by nobody knows whom."""
    event = TraceBuilder().kernel("k", 10, 5).build()
    tables = {**trace.tables, "device_events": event.device_events}
    return Trace(
        source=trace.source, names=trace.names, tables=tables, span_start_ns=trace.span_start_ns,
        span_end_ns=trace.span_end_ns, main_thread=trace.main_thread, device_recorded=True, context=trace.context,
        steps_from=trace.steps_from,
    )  # fmt: skip


def test_loops_beside_a_device_save_all_turns_but_one() -> None:
    """Sixteen turns of 2.4 ms in all, or of 3.195; at worst 30 % of that."""
    bound = 2400 * 15 / 16
    assert saving_of("python_loop_over_batch", on_device(python_loop_over_batch.fires())) == pytest.approx(
        [bound * 0.3, bound, bound]
    )
    bound = 3195 * 15 / 16
    assert saving_of("python_loop_over_slices", on_device(python_loop_over_slices.fires())) == pytest.approx(
        [bound * 0.3, bound, bound]
    )


def test_copies_of_weights_are_saved_but_for_one_in_a_hundred() -> None:
    """240 µs in each of four steady steps."""
    trace = steps(("aten::detach", "aten::clone"), 12)
    assert saving_of("python_loop_over_weights", trace) == pytest.approx([960 * 0.9, 960 * 0.99, 960])


@pytest.mark.parametrize(
    ("facts", "held_mhz", "severity"),
    [
        (power_capped.FACTS, 1454, Severity.MEDIUM),
        (power_capped.FACTS, 1455, None),  # 97 % of the clock otherwise
        (DeviceFacts(name="Test GPU"), 1199, Severity.LOW),
        (DeviceFacts(name="Test GPU"), 1200, None),  # 80 %
    ],
)
def test_how_far_a_clock_is_capped(facts: DeviceFacts, held_mhz: int, severity: Severity | None) -> None:
    trace = power_capped._run(20, facts=facts)
    samples = trace.device_readings
    clocks = np.where(samples["sm_clock_mhz"] == 1200, held_mhz, samples["sm_clock_mhz"])
    tables = {**trace.tables, "device_readings": samples.replace(sm_clock_mhz=clocks)}
    trace = Trace(
        source=trace.source, names=trace.names, tables=tables, span_start_ns=0, span_end_ns=trace.span_end_ns,
        main_thread=trace.main_thread, device_recorded=True, context=trace.context,
    )  # fmt: skip
    found = rule("power_capped").check(Results(trace))
    assert (found.severity if isinstance(found, Finding) else found) == severity


def collectives(number: int, each_us: float) -> str:
    builder = TraceBuilder()
    for at in (0, 10_000):
        builder.step(at, 10_000)
        for place in range(number):
            builder.kernel("ncclDevKernel_AllReduce", at + place * (each_us + 1), each_us, stream=9)
    results = Results(builder.operator("aten::mm", 0, 20_000).build())
    return _latency(results.get(Kernels).table, Scope.of(results))


def test_many_short_collectives_are_told() -> None:
    words = (
        " They are many and short (100 per step, half of them under 50.0 µs): what counts is their number, not their"
    )
    assert collectives(100, 50) == f"{words} bytes."
    assert collectives(99, 50) == collectives(100, 50.1) == ""


def finding(name: str, *ranges: tuple[int, int], within: Saving | None = None) -> Finding:
    return Finding(name, Severity.HIGH, "", "", {}, "", where=Where(ranges_ns=ranges), saving=within)


def test_a_rule_yields_to_its_cause_on_the_same_time_only() -> None:
    yielding = next(each for each in all_rules() if each.yields_to)
    found, cause = finding(yielding.name, (10, 20), (40, 50)), yielding.yields_to[0]
    results = Results(TraceBuilder().build())
    assert _yields(results, found, [found, finding(cause, (45, 60))])
    assert not _yields(results, found, [found, finding(cause, (20, 40))])
    assert _yields(results, found, [found, finding(cause)])  # it speaks of the whole run
    other = next(each.name for each in all_rules() if each.name not in (*yielding.yields_to, yielding.name))
    assert not _yields(results, found, [found, finding(other, (45, 60))])
    assert _same_time(finding("a", (0, 5), (3, 9)), finding("b", (8, 12)))


def test_a_loader_of_two_workers_gains_what_more_of_them_give() -> None:
    """Two workers take 2 × 40 ms for a batch; seven make one in 11.4 ms, of which 10 are the loop's own work."""
    builder = TraceBuilder().context(loaders=(Loader(workers=2, line=3),), environment=Environment(cores_allowed=8))
    for at in range(0, 800_000, 40_000):
        builder.step(at, 40_000).data_wait(at, 30_000, workers=2).operator("aten::stack", at, 30_000)
        builder.kernel("gemm", at + 30_006, 9_980, launch_at_us=at + 30_000).sync(at + 30_010, 9_980)
    low, central, high = saving_of("input_stall", builder.build())
    assert central == pytest.approx(20 * (40_000 - 80_000 / 7), rel=0.05)
    assert (low, high) == (pytest.approx(central / 3, rel=0.05), pytest.approx(central, rel=0.01))
