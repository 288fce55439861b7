"""Each check of the gate fires where it should, and is quiet just under its bound."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.validity.clocks_disagree import ClocksDisagree
from gpuprof.analyses.validity.core_starvation import CoreStarvation
from gpuprof.analyses.validity.doubt import Doubt, Handling, ValidityCheck
from gpuprof.analyses.validity.foreign_profiler import ForeignProfiler
from gpuprof.analyses.validity.lost_kernels import LostKernels
from gpuprof.analyses.validity.not_recorded import NotRecorded
from gpuprof.analyses.validity.too_short import TooShort
from gpuprof.analyses.validity.unrecorded_work import UnrecordedWork
from gpuprof.analyses.validity.unstable_steps import UnstableSteps
from gpuprof.analyses.validity.validity import Validity, checks
from gpuprof.analyses.validity.work_in_processes import WorkInProcesses
from gpuprof.model.context import Environment, StartedProcess, Window
from gpuprof.model.trace import EndMark
from tests.support.trace_builder import TraceBuilder

MS = 1_000_000


def doubt_of(check: type[ValidityCheck], built: TraceBuilder) -> Doubt | None:
    return Results(built.build()).get(check).doubt


def stepped(*times_us: float, operators: int = 1) -> TraceBuilder:
    """One step of each length, with as many operators in each."""
    built, at = TraceBuilder(), 0.0
    for length in times_us:
        built.step(at, length)
        for number in range(operators):
            built.operator("aten::mm", at + number * 2, 1)
        at += length
    return built


def test_every_check_has_its_place() -> None:
    places = [check.order for check in checks()]
    assert len(set(places)) == len(places) == 10
    assert checks()[0].__name__ == "CutOff"


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ([1000] * 12, None),
        ([3000, 2500, 1900, *[1000] * 9], None),  # warm-up
        ([1000, 1000, 1000, 1000, 1600, 1600, 1600, 1600, 2400, 2400, 2400, 2400], "drifts"),
        ([2400, 2400, 2400, 2400, 1600, 1600, 1600, 1600, 1000, 1000, 1000, 1000], "drifts"),
        ([1000] * 6 + [1350] * 6, None),
        ([1000, 3000] * 6, "varies widely"),
        ([1000, 1700] * 6, None),
        ([1000, 3000] * 4, None),  # too few
        ([1000] * 11 + [9000], None),  # one outlier
    ],
)
def test_steps_that_drift_or_vary(times: list[float], said: str | None) -> None:
    doubt = doubt_of(UnstableSteps, stepped(*times))
    assert (doubt is None) == (said is None)
    if doubt is not None and said is not None:
        assert said in doubt.sentence and doubt.handling is Handling.SAID and not doubt.cannot_judge


@pytest.mark.parametrize(("device_us", "drifts"), [([1000] * 12, False), ([1000] * 6 + [2000] * 6, True)])
def test_a_host_that_runs_ahead_of_an_even_device_does_not_drift(device_us: list[float], drifts: bool) -> None:
    """GIVEN host steps that are short until the launch queue is full, and a device that works all the time."""
    builder, at, end = TraceBuilder().device(), 0.0, 10.0
    for host_us, works_us in zip([300] * 4 + [1000] * 8, device_us, strict=True):
        builder.step(at, host_us).operator("aten::mm", at, 20)
        builder.kernel("gemm", end, works_us, launch_at_us=at + 1)
        at, end = at + host_us, end + works_us
    assert (doubt_of(UnstableSteps, builder) is not None) is drifts


@pytest.mark.parametrize(
    ("plain", "by_recording"),
    [([1000] * 12, True), ([1000] * 12 + [9000], True), ([1000] * 8, False), ([1000] * 6 + [2000] * 6, False)],
)
def test_a_drift_that_only_recorded_steps_have_is_the_recordings(plain: list[float], by_recording: bool) -> None:
    times = [1000] * 4 + [1600] * 4 + [2400] * 4
    built, at = stepped(*times), float(sum(times))
    for length in plain:
        built.iteration(at, length, plain=True)
        at += length
    doubt = doubt_of(UnstableSteps, built)
    assert doubt is not None and doubt.sentence.startswith("Step time drifts")
    assert ("the recording does that" in doubt.sentence) is by_recording
    assert ("quiet machine" in doubt.remedy) is not by_recording


def test_steps_of_unlike_work_may_take_unlike_times() -> None:
    built, at = TraceBuilder(), 0.0
    for number in range(24):
        length = 1000 if number % 2 else 3000
        built.step(at, length).operator("aten::mm", at, 10)
        if number % 2 == 0:
            built.operator("aten::conv2d", at + 20, 1000)
        at += length
    assert doubt_of(UnstableSteps, built) is None


def sampled(
    ran: float, waited: float, *, process: float | None = None, limit: float | None = None, readings: int = 12
) -> TraceBuilder:
    """Host readings at 10 Hz with these percentages of the main thread, on 8 cores."""
    built = TraceBuilder().operator("aten::mm", 0, 1_200_000)
    built.context(environment=Environment(cores_allowed=8, cores_limit=limit))
    for number in range(readings):
        built.host_sample(
            number * 100_000,
            main_thread_percent=ran,
            main_core_wait_percent=waited,
            cpu_percent=ran if process is None else process,
            children_cpu_percent=0.0,
        )
    return built


@pytest.mark.parametrize(
    ("ran", "waited", "got", "cannot"),
    [
        (12.0, 88.0, "12 %", True),
        (60.0, 40.0, "60 %", False),
        (85.0, 15.0, None, False),
        (5.0, 8.0, None, False),  # it hardly asked
    ],
)
def test_a_process_that_others_kept_from_running(ran: float, waited: float, got: str | None, cannot: bool) -> None:
    doubt = doubt_of(CoreStarvation, sampled(ran, waited))
    assert (doubt is None) == (got is None)
    if doubt is not None and got is not None:
        assert f"only {got} of the CPU time" in doubt.sentence and doubt.cannot_judge == cannot
        assert doubt.handling is (Handling.WITHHELD if cannot else Handling.LOWERED)


def test_a_run_that_fills_its_cores_by_itself_is_what_it_is() -> None:
    assert doubt_of(CoreStarvation, sampled(40, 60, process=700)) is None
    assert doubt_of(CoreStarvation, sampled(40, 60, process=500)) is not None
    # a container's quota of two cores, used up by sixteen threads
    assert doubt_of(CoreStarvation, sampled(12, 88, process=195, limit=2.0)) is None
    assert doubt_of(CoreStarvation, sampled(12, 88, readings=3)) is None


def gave_way(**window: Any) -> TraceBuilder:
    note = "the cell starts a profiler of its own, which is left alone: the kernel recording ends there"
    times = {"cell_end_ns": 2000 * MS, "end_ns": 500 * MS, "ended_by": "profiler", **window}
    return stepped(*[1000] * 3).context(window=Window(**times), notes=(note,))


def test_another_profiler_in_the_cell() -> None:
    doubt = doubt_of(ForeignProfiler, gave_way(steps_seen=20))
    assert doubt is not None and not doubt.cannot_judge
    assert doubt.sentence == ("The cell starts another torch profiler: only 500 ms of the cell’s 2.00 s were recorded.")
    assert "Switch that profiler off" in doubt.remedy and len(doubt.restates) == 1
    assert doubt_of(ForeignProfiler, gave_way(steps_seen=20, ended_by="cell")) is not None
    assert doubt_of(ForeignProfiler, stepped(1000).context(window=Window(end_ns=500))) is None


def test_another_profiler_before_the_second_step_leaves_nothing_to_judge() -> None:
    window = Window(cell_end_ns=2000 * MS, end_ns=MS, ended_by="profiler", steps_seen=20)
    doubt = doubt_of(ForeignProfiler, stepped(1000).context(window=window))
    assert doubt is not None and doubt.cannot_judge and doubt.handling is Handling.WITHHELD


def test_too_few_steps() -> None:
    def few(steps: int, **window: Any) -> Doubt | None:
        return doubt_of(TooShort, stepped(*[1000] * steps).context(window=Window(cell_end_ns=900 * MS, **window)))

    doubt = few(1, steps_seen=300)
    assert doubt is not None and "Only 1 whole step of 300 was recorded" in doubt.sentence
    assert doubt.handling is Handling.LOWERED and not doubt.cannot_judge
    for seen, how, more in ((300, "seconds", True), (3, "cell", False), (1, "seconds", False)):
        found = few(1, steps_seen=seen, ended_by=how)
        assert found is not None and ("Record more" in found.remedy) == more
    assert few(2, steps_seen=300) is None
    assert few(1, steps_seen=300, ended_by="profiler") is None
    assert few(0, steps_seen=0) is None
    assert doubt_of(TooShort, stepped(1000)) is not None
    assert doubt_of(TooShort, TraceBuilder().operator("aten::mm", 0, 9)) is None


@pytest.mark.parametrize(("turns", "steps_seen", "short"), [(20, 1, False), (20, 300, True), (2, 1, True)])
def test_iterations_of_a_loop_do_beside_a_single_step(turns: int, steps_seen: int, short: bool) -> None:
    built = TraceBuilder()
    for turn in range(turns):
        for place, name in enumerate(("embedding", "linear", "gelu", "layer_norm", "argmax")):
            built.operator(f"aten::{name}", 100 * turn + 15 * place, 10)
    window = Window(cell_end_ns=900 * MS, steps_seen=steps_seen)
    assert (doubt_of(TooShort, built.context(window=window)) is not None) == short


@pytest.mark.parametrize(("cell_ms", "short"), [(4, True), (6, False)])
def test_a_cell_of_a_few_milliseconds(cell_ms: int, short: bool) -> None:
    window = Window(cell_end_ns=cell_ms * MS, end_ns=cell_ms * MS)
    doubt = doubt_of(TooShort, stepped(*[1000] * 4).context(window=window).source(kind="recording"))
    assert (doubt is not None) == short


def test_kernels_that_were_lost() -> None:
    def lost(kernels: int) -> Doubt | None:
        built = TraceBuilder().operator("aten::mm", 0, 100_000).source(end_mark=EndMark.WINDOW)
        for number in range(100):
            at = number * 1000
            if number % 10 < kernels:
                built.kernel("sgemm", at + 20, 10, launch_at_us=at)
            else:
                built.call("cudaLaunchKernel", at, 5, correlation=9000 + number)
        return doubt_of(LostKernels, built)

    assert lost(10) is None
    some, most, every = lost(9), lost(4), lost(0)
    assert some is not None and not some.cannot_judge and "9.0 %" in some.sentence
    assert most is not None and most.cannot_judge
    assert every is not None and every.code == "device_not_captured" and every.cannot_judge


def test_clocks_that_disagree() -> None:
    doubt = doubt_of(ClocksDisagree, TraceBuilder().kernel("sgemm", 10, 20, launch_at_us=500))
    assert doubt is not None and "1 device event begins before its launch" in doubt.sentence
    assert doubt_of(ClocksDisagree, TraceBuilder().kernel("sgemm", 10, 20, launch_at_us=5)) is None


def test_a_lost_recording() -> None:
    doubt = doubt_of(NotRecorded, TraceBuilder().source(kernels_saved=False, notes=("no room",)))
    assert doubt is not None and doubt.cannot_judge and doubt.remedy == "Nothing can be judged. No room."


def test_what_stops_the_verdict_is_said_first() -> None:
    built = gave_way(steps_seen=20).source(truncated=True, end_mark=EndMark.MISSING)
    validity = Results(built.build()).get(Validity)
    assert [doubt.code for doubt in validity.doubts] == ["cut_off", "foreign_profiler"]
    assert validity.state == "cannot_judge" and validity.nothing_holds
    assert Results(stepped(1000, 1000).build()).get(Validity).state == "sound"


@pytest.mark.parametrize(("theirs_ms", "own_percent", "doubted"), [(80, 50, True), (40, 50, False), (15, 1, False)])
def test_work_in_processes(theirs_ms: int, own_percent: float, doubted: bool) -> None:
    built = TraceBuilder().host_sample(10, cpu_percent=own_percent).host_sample(20, cpu_percent=own_percent)
    started = (StartedProcess(name="train", count=2, cpu_ns=theirs_ms * MS),)
    built.context(window=Window(cell_start_ns=0, cell_end_ns=100 * MS), started_processes=started)
    doubt = doubt_of(WorkInProcesses, built)
    assert (doubt is not None) == doubted
    if doubt is not None:
        assert doubt.cannot_judge and "ran in 2 processes that it started (`train`)" in doubt.sentence
        assert "`with gpuprof.profile():`" in doubt.remedy


def test_work_from_before_the_recording() -> None:
    """GIVEN a queue that holds earlier work for 300 of 1,000 µs, or for 20 of them, or in the middle of the run."""

    def queued(until_us: float, earlier: int = 1) -> TraceBuilder:
        built = TraceBuilder().call("cudaMemcpyAsync", 10, 290)
        for number in range(earlier):
            built.kernel("small", number, 1, launch_at_us=0)
        return built.kernel("gemm", until_us, 1000 - until_us, launch_at_us=earlier, launch_for_us=1)

    doubt = doubt_of(UnrecordedWork, queued(402))
    assert doubt is not None and not doubt.cannot_judge
    assert doubt.sentence.startswith("For 300 µs, 30 % of the recording, queued work waits for device work")
    assert doubt_of(UnrecordedWork, queued(120)) is None
    assert doubt_of(UnrecordedWork, queued(410, earlier=9)) is None
