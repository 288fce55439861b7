"""What the rules about the host, its copies and the stack say in the cases that differ."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Cell, Environment, Garbage, Optimizer, Window
from gpuprof.model.device import Device
from gpuprof.model.readings import DeviceFacts
from gpuprof.model.table import Table
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.registry import judge, rule
from gpuprof.rules.transfers.pageable_h2d_copy import PageableH2dCopy
from tests.rules.cases import case_of
from tests.rules.cases.host import sync_in_step
from tests.rules.test_lines import with_lines
from tests.support.trace_builder import TraceBuilder


def finding(name: str, trace: Trace) -> Finding:
    found = rule(name).check(Results(trace))
    assert isinstance(found, Finding), found
    return found


def test_a_run_without_torchs_memory_cache_is_recognised(shared_trace: Callable[[str], Any]) -> None:
    """That trace spends 3.35 of 3.39 s in hipFree, most of it inside operators that allocate nothing."""
    found = judge(Results(shared_trace("mi300x-ddp-resnet18")), strict=True).findings[0]
    assert (found.rule, found.severity) == ("allocator_calls_in_step", Severity.HIGH)
    assert found.evidence["frees_per_step"] == 272
    assert found.evidence["idle_share"] == pytest.approx(0.927, abs=0.001)
    assert "PYTORCH_NO_CUDA_MEMORY_CACHING" in found.change


def test_without_a_cache_frees_between_operators_are_not_an_emptied_cache() -> None:
    """GIVEN an inference loop whose tensors die between operators, thirty times a step, each freed at once."""
    builder = TraceBuilder()
    for at in range(0, 50_000, 10_000):
        builder.step(at, 10_000)
        for number in range(30):
            begin = at + 200 * number
            builder.operator("aten::empty", begin, 10).call("cudaMalloc", begin, 1).call("cudaFree", begin + 20, 99)
        builder.kernel("gemm", at + 7000, 3000, launch_at_us=at + 6500)
    trace = builder.build()
    assert rule("empty_cache_in_step").check(Results(trace)) is None
    assert "PYTORCH_NO_CUDA_MEMORY_CACHING" in finding("allocator_calls_in_step", trace).change


def test_memory_fetched_in_every_step_and_kept_comes_from_changing_shapes() -> None:
    builder = TraceBuilder()
    for at in range(0, 50_000, 10_000):
        builder.step(at, 10_000).operator("aten::empty", at, 500).call("cudaMalloc", at, 400)
        builder.kernel("gemm", at + 600, 9000, launch_at_us=at + 550)
    found = finding("allocator_calls_in_step", builder.build())
    assert (found.severity, found.evidence["frees_per_step"]) == (Severity.MEDIUM, 0)
    assert "expandable_segments" in found.change


@pytest.mark.parametrize(
    ("flags", "device", "severity"),
    [
        ({"anomaly_mode": True}, False, Severity.MEDIUM),
        ({"deterministic": True}, True, Severity.LOW),
        ({"sync_debug_mode": "warn", "deterministic": True}, True, Severity.LOW),
        ({"sync_debug_mode": "warn", "deterministic": True, "launch_blocking": True}, False, None),
        ({"sync_debug_mode": "default", "launch_blocking": True}, True, None),
    ],
)
def test_flags_count_where_they_cost(flags: dict[str, Any], device: bool, severity: Severity | None) -> None:
    """`CUDA_LAUNCH_BLOCKING` set too late does nothing, which the recording shows."""
    builder = TraceBuilder().operator("aten::mm", 0, 100).context(environment=Environment(**flags))
    if device:
        for at in range(0, 1000, 20):
            builder.kernel("gemm", at + 4, 10, launch_at_us=at)
    answer = rule("debug_mode_on").check(Results(builder.build()))
    assert (answer.severity if isinstance(answer, Finding) else answer) == severity


@pytest.mark.parametrize("name", ["small_h2d_copies", "copy_round_trip", "host_filled_then_copied"])
def test_copies_that_need_not_be_are_one_finding(name: str) -> None:
    """They come from pageable memory and are waited for, which is not the cause here."""
    case = case_of(name)
    found = {each.rule for each in judge(Results(case.fires()), strict=True).findings}
    assert name in found and not found & {"pageable_h2d_copy", "blocking_h2d_copy", "sync_in_step"}


def test_a_run_of_copies_alone_has_nothing_to_hide_them_under(shared_trace: Callable[[str], Any]) -> None:
    assert rule("exposed_h2d_copy").check(Results(shared_trace("a100-copies-pinned"))) is None


@pytest.mark.parametrize(("free_mhz", "severity"), [(1600, Severity.LOW), (1400, None)])
def test_the_boards_own_power_limit_is_mentioned_only_where_it_costs(free_mhz: int, severity: Severity | None) -> None:
    builder = TraceBuilder().kernel("gemm", 0, 4000, launch_at_us=0)
    for tick in range(40):
        clock, reason = (1200, 0x4) if tick < 20 else (free_mhz, 0)
        builder.sample(100 * tick, utilisation_percent=97, clock_reasons=reason, sm_clock_mhz=clock)
    facts = DeviceFacts(power_limit_mw=700_000, power_limit_default_mw=700_000)
    trace = builder.context(sampling={"static": [msgspec.to_builtins(facts)]}).build()
    answer = rule("power_capped").check(Results(trace))
    assert (answer.severity if isinstance(answer, Finding) else answer) == severity
    assert not isinstance(answer, Finding) or answer.saving is None


def test_a_device_that_was_lost_is_said_first() -> None:
    facts = DeviceFacts(name="Test GPU", lost_at_ns=1)
    builder = TraceBuilder().kernel("gemm", 0, 100, launch_at_us=0)
    trace = builder.context(sampling={"static": [msgspec.to_builtins(facts)]}).build()
    assert finding("device_errors", trace).title == "A device stopped answering during the run"


def test_of_many_functions_beside_an_idle_device_the_three_longest_are_named() -> None:
    builder, at = TraceBuilder(), 0.0
    for turn, for_us in enumerate((5_000, 4_000, 3_000, 2_000, 1_500)):
        builder.operator("aten::empty", at, 1).frame(f"scikit/work.py({turn}): work{turn}", at, for_us)
        builder.operator("aten::mm", at + for_us, 5)
        builder.kernel("gemm", at + for_us + 6, 5_000, launch_at_us=at + for_us)
        builder.sync(at + for_us + 10, 5_000)
        at += for_us + 5_100
    found = finding("cpu_preprocessing", builder.build())
    named = found.evidence["functions"]
    assert isinstance(named, str) and [f"work{turn} (" in named for turn in range(5)] == [True] * 3 + [False] * 2


@pytest.mark.parametrize(
    ("cpu_percent", "advice"), [(99, "every hundred steps"), (60, "every hundred steps"), (10, "read ahead")]
)
def test_a_host_that_waits_itself_is_told_apart(cpu_percent: float, advice: str) -> None:
    builder = TraceBuilder()
    for at in range(0, 50_000, 10_000):
        builder.step(at, 10_000).kernel("gemm", at + 5000, 5000, launch_at_us=at + 5000)
        builder.host_sample(at + 1_000, cpu_percent=cpu_percent)
    found = finding("host_cpu_bound", builder.operator("aten::empty", 0, 1).build())
    assert advice in found.change
    assert ("waited itself" in found.explanation) == (cpu_percent == 10)


def test_two_stalls_in_five_steps_are_no_habit(shared_trace: Callable[[str], Any]) -> None:
    """That trace has two gaps of 40 ms in Python, 12 % of its steady steps."""
    assert rule("host_cpu_bound").check(Results(shared_trace("v100-resnet50-workers4"))) is None


def test_without_a_gpu_nobody_is_told_to_use_one() -> None:
    """GIVEN heavy work on the CPU of a machine without a driver, which the sampler said."""
    builder = (
        TraceBuilder()
        .operator("aten::mm", 0, 1000)
        .context(environment=Environment(cuda_build="12.8"), sampling={"static": [], "unavailable": "no driver"})
    )
    assert rule("cpu_build_or_cpu_tensors").check(Results(builder.build())) is None


def test_a_build_without_cuda_is_named() -> None:
    static = [msgspec.to_builtins(DeviceFacts(name="Test GPU"))]
    builder = TraceBuilder().operator("aten::mm", 0, 1000)
    builder.context(environment=Environment(), sampling={"static": static})
    found = finding("cpu_build_or_cpu_tensors", builder.build())
    assert (found.title, found.evidence["cuda_build"]) == (
        "This torch is built without CUDA, though there is a Test GPU",
        "none",
    )
    assert "pytorch.org" in found.change


def test_a_pause_that_the_device_feels_is_retimed() -> None:
    """GIVEN steps whose host reads a value, collects garbage for 2 of 10 ms, and launches the next kernel."""
    builder = TraceBuilder()
    for at in range(0, 50_000, 10_000):
        builder.step(at, 10_000).operator("aten::mm", at + 2100, 20)
        builder.kernel("gemm", at + 2110, 7000, launch_at_us=at + 2100)
        builder.operator("aten::item", at + 2200, 6920).sync(at + 2210, 6905)
    starts = tuple(range(50_000, 50_000_000, 10_000_000))
    garbage = Garbage(collections=5, start_ns=starts, duration_ns=(2_000_000,) * 5, generation=(1,) * 5)
    found = finding("gc_pauses", builder.operator("aten::empty", 0, 1).context(garbage=garbage).build())
    assert found.evidence["idle_ms"] == pytest.approx(10)
    assert found.saving is not None
    assert found.saving.basis.startswith("simulated")
    assert found.saving.central_ns == pytest.approx(10_000_000, rel=0.01)
    assert "gc.freeze()" in found.change


def test_reads_of_anomaly_detection_are_not_the_cells() -> None:
    """It checks every gradient for NaN with a `.item()` of its own."""
    trace = sync_in_step.fires()
    on = msgspec.structs.replace(trace.context, environment=Environment(anomaly_mode=True))
    assert [each.rule for each in judge(Results(dataclasses.replace(trace, context=on)), strict=True).findings] == [
        "debug_mode_on"
    ]


@pytest.mark.parametrize(
    "name",
    [
        "allocator_calls_in_step",
        "blocking_h2d_copy",
        "copy_round_trip",
        "explicit_synchronize",
        "host_cpu_bound",
        "host_filled_then_copied",
        "recompiles_in_steady_state",
        "small_h2d_copies",
    ],
)
def test_the_line_is_named_where_lines_were_followed(name: str) -> None:
    case = case_of(name)
    assert finding(name, with_lines(case.fires(), (0, 6))).where.lines == (6,)


def test_small_pageable_copies_beside_pinned_batches_are_not_the_loaders() -> None:
    """GIVEN pinned batches and four index lists a step that the model copies WHEN the host stands in those."""
    builder = TraceBuilder()
    for at in range(0, 50_000, 10_000):
        builder.step(at, 10_000).operator("aten::to", at, 20)
        builder.copy("h2d", at + 10, 100, bytes=1 << 20, host_memory="pinned", launch_at_us=at + 5)
        for row in range(4):
            begin = at + 200 + 250 * row
            builder.operator("aten::index", begin, 240)
            builder.copy(
                "h2d", begin + 2, 200, bytes=2048, host_memory="pageable", launch_at_us=begin, launch_for_us=230
            )
        builder.kernel("gemm", at + 1300, 8000, launch_at_us=at + 1250)
    found = PageableH2dCopy().check(Results(builder.build()))
    assert isinstance(found, Finding)
    assert "DataLoader" not in found.change and "register_buffer" in found.change


def test_what_a_copy_from_pinned_memory_would_reach_is_told() -> None:
    """GIVEN ten copies of 400 kB in 1 ms, over a link that is known to give 20 GB/s."""
    devices = (Device(id=0, name="Test GPU", link_bytes_per_s=20e9),)
    found = finding("pageable_h2d_copy", dataclasses.replace(case_of("pageable_h2d_copy").fires(), devices=devices))
    assert (found.evidence["bandwidth_gb_per_s"], found.evidence["possible_gb_per_s"]) == (0.4, 20)
    assert "at 400 MB/s, where 20.0 GB/s is possible" in found.explanation


def test_a_collection_or_two_are_no_habit() -> None:
    """GIVEN pauses of a fifth of a short recording WHEN there are two of them THEN nothing is said, of three it is."""

    def pausing(times: int) -> Finding | Abstention | None:
        builder = TraceBuilder().step(0, 1000).operator("aten::mm", 0, 1000)
        starts = tuple(200_000 * (1 + number) for number in range(times))
        garbage = Garbage(collections=times, start_ns=starts, duration_ns=(100_000,) * times, generation=(1,) * times)
        return rule("gc_pauses").check(Results(builder.context(garbage=garbage).build()))

    assert pausing(2) is None
    assert isinstance(pausing(3), Finding)


def test_pauses_of_a_cell_without_steps_stop_no_loop() -> None:
    garbage = Garbage(collections=3, start_ns=(0, 200_000, 400_000), duration_ns=(100_000,) * 3, generation=(1,) * 3)
    built = TraceBuilder().operator("aten::mm", 0, 1000).context(garbage=garbage).build()
    assert rule("gc_pauses").check(Results(built)) is None


def test_a_line_that_switches_anomaly_detection_off_is_not_named() -> None:
    source = "torch.autograd.set_detect_anomaly(True)\ntrain()\ntorch.autograd.set_detect_anomaly(False)"
    flags = {"environment": Environment(anomaly_mode=True), "cell": Cell(source=source, filename="cell")}
    found = finding("debug_mode_on", TraceBuilder().operator("aten::mm", 0, 100).context(**flags).build())
    assert found.where.lines == (1,)


@pytest.mark.parametrize("anomaly", [True, False])
def test_checks_that_a_switch_turns_off_are_told_with_what_they_take(anomaly: bool) -> None:
    found = finding("debug_mode_on", case_of("debug_mode_on").checked(400, anomaly=anomaly))
    assert "about 40" in found.title and found.where.lines == (4,)
    assert found.saving is not None and found.saving.high_ns == pytest.approx(400_000)
    assert ("set_default_validate_args(False)" in found.change) is not anomaly
    # which are on unless somebody switches them off
    assert found.title.startswith("Distributions check all of their arguments") is not anomaly


def test_a_stack_that_is_formatted_without_anomaly_detection_is_something_else() -> None:
    """A graph is traced, or an error is logged."""
    trace = case_of("debug_mode_on").checked(400, anomaly=True)
    off = msgspec.structs.replace(trace.context, environment=Environment(deterministic=False, anomaly_mode=False))
    assert rule("debug_mode_on").check(Results(dataclasses.replace(trace, context=off))) is None


@pytest.mark.parametrize(("later", "severity"), [(8, Severity.LOW), (9, Severity.MEDIUM)])
def test_a_cold_start_is_minor_where_the_cell_is_simply_short(later: int, severity: Severity) -> None:
    builder = TraceBuilder().step(0, 3000).operator("aten::mm", 0, 3000)
    for at in range(3000, 3000 + 100 * later, 100):
        builder.step(at, 100).operator("aten::mm", at, 100)
    assert finding("cold_start_dominates", builder.build()).severity == severity


@pytest.mark.parametrize(("cell_us", "severity"), [(9_900, Severity.MEDIUM), (10_100, Severity.LOW)])
def test_a_cold_start_is_minor_where_the_cell_has_much_else(cell_us: int, severity: Severity) -> None:
    """GIVEN a first step of 3 ms, and a cell of 9.9 or of 10.1 ms."""
    builder = TraceBuilder().step(0, 3000).operator("aten::mm", 0, 3000)
    for at in range(3000, 3900, 100):
        builder.step(at, 100).operator("aten::mm", at, 100)
    window = Window(cell_start_ns=0, cell_end_ns=1000 * cell_us, start_ns=0, end_ns=3_900_000)
    assert finding("cold_start_dominates", builder.context(window=window).build()).severity == severity


def test_first_launches_that_load_kernels_are_counted() -> None:
    """GIVEN 1.6 ms in which the first launches of two kernels take 500 µs each, and all others 5 µs."""
    builder, at, seen = TraceBuilder().operator("aten::mm", 0, 1_600), 0.0, set[str]()
    for name in ("gemm", "gemm", "relu", "relu", "add", "gemm", "add"):
        takes = 500 if name in ("gemm", "relu") and name not in seen else 5
        seen.add(name)
        builder.kernel(name, at + takes, 10, launch_at_us=at, launch_for_us=takes)
        at += takes + 20
    found = finding("cold_start_dominates", builder.build())
    assert found.evidence == {
        "first_calls_ms": pytest.approx(1),
        "first_calls_share": pytest.approx(1 / 1.6),
        "longest_call": "cudaLaunchKernel",
        "first_launches": 2,
    }
    assert found.where.ranges_ns == ((0, 500_000), (545_000, 1_045_000))


def test_the_range_of_a_recompiling_run_leaves_out_the_start_of_the_compiler() -> None:
    """GIVEN ten steps of 1 ms; the first compiles 0.9 ms, five later ones 0.4 ms each."""
    builder = TraceBuilder()
    for number in range(10):
        builder.step(1000 * number, 1000).operator("aten::mm", 1000 * number + 950, 50)
        compiling = 900 if number == 0 else 400 if number >= 5 else 0
        if compiling:
            builder.operator("_compile.compile_inner (dynamo_timed)", 1000 * number, compiling)
    saving = finding("recompiles_in_steady_state", builder.build()).saving
    assert saving is not None
    assert (saving.central_ns, saving.high_ns) == (2e6, pytest.approx(2e6 * 10 / (10 - (2 - 0.4))))


def _on_a_cpu(beside_us: float, *, every: int = 1, **read: float) -> Trace:
    """Ten steps of 10 ms: forward and backward in the first 5 ms, then Python for `beside_us`, a wait for data."""
    builder = TraceBuilder().operator("aten::empty", 0, 1)
    for number, at in enumerate(range(0, 100_000, 10_000)):
        builder.step(at, 10_000).operator("aten::linear", at, 2500, sequence=number)
        builder.operator("autograd::engine::evaluate_function: AddmmBackward0", at + 2500, 2500, sequence=number)
        beside = beside_us if number % every == 0 else 0
        builder.data_wait(at + 5000 + beside, 5000 - beside).host_sample(at + 5000, **{"cpu_percent": 100, **read})
    return builder.operator("aten::empty", 99_999, 1).build()


def test_without_a_device_work_beside_training_is_named() -> None:
    found = finding("host_cpu_bound", _on_a_cpu(2000))
    assert found.title == "Work beside training takes 20 % of the steps’ time"
    assert "forward, backward and optimizer waited for at least 1 ms, 18.0 ms in all" in found.explanation
    assert "before the loop" in found.change and "--stacks" in found.change


def test_on_a_device_that_is_not_traced_nothing_is_said_of_it() -> None:
    trace = _on_a_cpu(2000)
    trained = Optimizer(name="SGD", parameters=1, elements=1, device="mps:0")
    context = msgspec.structs.replace(trace.context, optimizers=(trained,))
    answer = rule("host_cpu_bound").check(Results(dataclasses.replace(trace, context=context)))
    assert isinstance(answer, Abstention)


def test_a_process_that_waits_itself_is_advised_to_read_ahead() -> None:
    assert "read ahead" in finding("host_cpu_bound", _on_a_cpu(2000, cpu_percent=10)).change


@pytest.mark.parametrize(("waited", "words"), [(80.0, ": other processes held the cores"), (0.0, "waited itself")])
def test_a_process_that_is_kept_off_the_cores_does_not_wait_for_files(waited: float, words: str) -> None:
    # GIVEN a fifth of a core used, while the main thread had none for that share of the time, percent
    asked = {"main_core_wait_percent": waited, "main_thread_percent": 20.0}
    found = finding("host_cpu_bound", _on_a_cpu(2000, cpu_percent=20, **asked))
    assert words in found.explanation
    assert ("read ahead" in found.change) == (not waited)


@pytest.mark.parametrize("trace", [_on_a_cpu(1400), _on_a_cpu(4000, every=2)], ids=["little", "now and then"])
def test_without_a_device_little_or_rare_work_is_none(trace: Trace) -> None:
    assert rule("host_cpu_bound").check(Results(trace)) is None


def test_what_is_read_when_all_is_done_stalls_nothing() -> None:
    """The finished result is read at the end, and the host works on it; or the same in the middle of the run."""

    def run(*, goes_on: bool) -> Trace:
        builder = TraceBuilder().operator("aten::to", 0, 700).kernel("gemm", 5, 495, launch_at_us=0)
        builder.copy("d2h", 500, 10, launch_at_us=10, launch_for_us=505).operator("aten::mm", 900, 50)
        return (builder.kernel("gemm", 915, 30, launch_at_us=910) if goes_on else builder).build()

    assert rule("sync_in_step").check(Results(run(goes_on=False))) is None
    found = rule("sync_in_step").check(Results(run(goes_on=True)))
    assert isinstance(found, Finding) and found.evidence["waits"] == 1


def test_no_pace_of_launching_is_judged_while_graphs_are_captured() -> None:
    paced = case_of("launch_bound").fires()
    capture = TraceBuilder().call("cudaGraphInstantiate", 0, 6_000).build()
    calls = Trace(**{**vars(paced), "names": (*paced.names, *capture.names)})
    more = capture.calls.replace(name=capture.calls["name"] + len(paced.names))
    both = {name: np.concatenate((paced.calls[name], more[name])) for name in paced.calls.to_dict()}
    captured = Trace(**{**vars(calls), "tables": {**paced.tables, "calls": Table(paced.calls.schema, both)}})
    assert isinstance(rule("launch_bound").judge(Results(paced)), Finding)
    assert rule("launch_bound").judge(Results(captured)) is None
