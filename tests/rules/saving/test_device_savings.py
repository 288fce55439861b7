"""Predicted savings of changes on the device, against the same run with the change, both built."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Loader
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.registry import rule
from tests.support.trace_builder import TraceBuilder

STEPS = 12
COPY_US, COMPUTE_US = 150, 400


@dataclass
class Machine:
    """A host and a device of known costs: a launch takes 5 µs and begins 8 µs after its call at the earliest."""

    builder: TraceBuilder = field(default_factory=TraceBuilder)
    now: float = 0.0
    free: dict[int, float] = field(default_factory=dict)

    def kernel(self, for_us: float, *, stream: int = 7, after: float = 0.0, name: str = "gemm") -> float:
        begin = max(self.now + 8, self.free.get(stream, 0) + 1, after)
        self.builder.kernel(name, begin, for_us, stream=stream, launch_at_us=self.now)
        return self._launched(stream, begin + for_us)

    def copy(self, for_us: float, *, stream: int = 7) -> float:
        begin = max(self.now + 8, self.free.get(stream, 0) + 1)
        self.builder.copy("h2d", begin, for_us, host_memory="pinned", stream=stream, launch_at_us=self.now)
        return self._launched(stream, begin + for_us)

    def _launched(self, stream: int, end: float) -> float:
        self.free[stream] = end
        self.now += 5
        return end

    def work(self, for_us: float, name: str = "aten::work") -> None:
        self.builder.operator(name, self.now, for_us)
        self.now += for_us

    def sync(self, end: float, name: str = "cudaStreamSynchronize") -> None:
        back = max(self.now + 4, end + 10)
        self.builder.sync(self.now, back - self.now, name)
        self.now = back

    def ended(self, begins: list[float]) -> Trace:
        for begin, end in zip(begins, [*begins[1:], self.now], strict=True):
            self.builder.step(begin, end - begin)
        return self.builder.build()


def found(trace: Trace, name: str) -> Finding:
    judged = rule(name).check(Results(trace))
    assert isinstance(judged, Finding)
    return judged


def copying(*, ahead: bool) -> Trace:
    """Each step copies its batch and computes with it; `ahead`: it copies the next one while it computes."""
    machine, begins = Machine(), []
    ready = machine.copy(COPY_US, stream=20) if ahead else 0.0
    for _ in range(STEPS):
        begins.append(machine.now)
        if not ahead:
            machine.copy(COPY_US)
        end = machine.kernel(COMPUTE_US, after=ready)
        if ahead:
            ready = machine.copy(COPY_US, stream=20)
        machine.sync(end)
    return machine.ended(begins)


def test_copies_ahead_bring_the_run_to_its_twin() -> None:
    slow, cured = copying(ahead=False), copying(ahead=True)
    finding = found(slow, "exposed_h2d_copy")
    saving = finding.saving
    assert saving is not None and saving.grade == "C"
    assert slow.span_ns - saving.central_ns == pytest.approx(cured.span_ns, rel=0.02)
    assert saving.low_ns < 0.1 * saving.central_ns  # the copy alone on another stream, asked for as late as now


def test_copies_of_a_loop_that_its_host_holds_up_save_nothing() -> None:
    machine, begins = Machine(), []
    for _ in range(STEPS):
        begins.append(machine.now)
        machine.copy(COPY_US)
        end = machine.kernel(COMPUTE_US)
        machine.work(900)
        machine.sync(end)
    finding = found(machine.ended(begins), "exposed_h2d_copy")
    assert (finding.severity, finding.saving) == (Severity.LOW, None)
    assert "saves nothing" in finding.explanation


def small_copies(number: int) -> Trace:
    machine, begins = Machine(), []
    for _ in range(STEPS):
        begins.append(machine.now)
        for _ in range(number):
            at, begin = machine.now, machine.now + 14
            machine.builder.operator("aten::to", at, 30)
            machine.builder.copy("h2d", begin, 2, bytes=4096, host_memory="pageable", launch_at_us=at + 5)
            machine.builder.sync(at + 15, 12)
            machine.free[7] = begin + 2
            machine.now += 30
        machine.sync(machine.kernel(500))
    return machine.ended(begins)


def test_one_copy_a_step_brings_the_run_near_its_twin() -> None:
    slow, cured = small_copies(20), small_copies(1)
    saving = found(slow, "small_h2d_copies").saving
    assert saving is not None and saving.grade == "C"
    whole = slow.span_ns - cured.span_ns
    assert 0.8 * whole < saving.central_ns <= 1.01 * whole
    assert saving.low_ns < saving.central_ns < saving.high_ns == pytest.approx(whole, rel=0.02)


def reducing(reduce_us: float, *, host_us: float = 0.0) -> Trace:
    """Each step computes, sums over devices on another stream, and applies the sum."""
    machine, begins = Machine(), []
    ends = [0.0, 0.0]
    for _ in range(STEPS):
        begins.append(machine.now)
        machine.work(5 + host_us)
        end = machine.kernel(COMPUTE_US)
        end = machine.kernel(reduce_us, stream=9, after=end + 2, name="ncclDevKernel_AllReduce_Sum_bf16_RING_LL")
        ends.append(machine.kernel(50, after=end + 2, name="adam"))
        machine.sync(ends[-2], "cudaEventSynchronize")
    return machine.ended(begins)


def test_half_of_what_is_exposed_brings_the_run_to_half_the_way() -> None:
    slow, halved = reducing(200), reducing(100)
    saving = found(slow, "exposed_collective").saving
    assert saving is not None and saving.grade == "C" and saving.low_ns == 0
    assert saving.central_ns == pytest.approx(slow.span_ns - halved.span_ns, rel=0.1)  # the last lies outside the steps
    assert saving.high_ns == pytest.approx(2 * saving.central_ns, rel=0.1)


def test_collectives_of_a_run_that_waits_for_its_host_save_little() -> None:
    finding = found(reducing(200, host_us=1200), "exposed_collective")
    assert finding.severity == Severity.LOW
    assert "as a rule for the host" in finding.explanation


def looping(turns: int, kernel_us: float) -> Trace:
    """Each step handles sixteen samples one after the other (`turns` 16) or all at once."""
    machine, begins = Machine(), []
    machine.builder.context(loaders=(Loader(workers=0, batch_size=16),))
    for _ in range(STEPS):
        begins.append(machine.now)
        machine.work(10, "aten::zero_")
        end = 0.0
        for turn in range(turns):
            values = f'["", "0", "{turn}"]'
            machine.builder.operator("aten::select", machine.now, 10, dims="[[16, 8], [], []]", values=values)
            machine.now += 10
            machine.builder.operator("aten::mm", machine.now, 25)
            end = machine.kernel(kernel_us)
            machine.now += 20
        machine.work(100, "aten::mean")
        machine.sync(end)
    return machine.ended(begins)


def test_a_loop_over_samples_comes_near_its_twin() -> None:
    slow, cured = looping(16, 4.0), looping(1, 2.0 + 16 * 2.0)
    saving = found(slow, "python_loop_over_batch").saving
    assert saving is not None and saving.grade == "C"
    assert saving.central_ns == pytest.approx(slow.span_ns - cured.span_ns, rel=0.1)
    assert saving.low_ns <= saving.central_ns <= saving.high_ns
