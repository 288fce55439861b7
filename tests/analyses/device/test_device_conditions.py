"""Clocks by reason, the link, the neighbours."""

from __future__ import annotations

import msgspec
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.device.device_conditions import DeviceCondition, DeviceConditions
from gpuprof.model.readings import DeviceFacts, DeviceProcess
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder

IDLE, SET, POWER, THERMAL = 0x1, 0x2, 0x4, 0x20


def only(builder: TraceBuilder, **facts: object) -> DeviceCondition:
    known = msgspec.to_builtins(DeviceFacts(**facts))  # type: ignore[arg-type]
    trace = builder.operator("aten::mm", 0, 1).context(sampling={"static": [known]}).build()
    (condition,) = Results(trace).get(DeviceConditions).devices
    return condition


def test_a_thermal_reason_takes_the_reading_from_the_others() -> None:
    builder = TraceBuilder()
    for tick, (load, reasons, clock) in enumerate(
        ((0, POWER, 300), (90, POWER, 1400), (90, POWER | THERMAL, 900), (90, SET | POWER, 1200), (90, IDLE, 1500))
    ):
        builder.sample(tick, utilisation_percent=load, clock_reasons=reasons, sm_clock_mhz=clock)
    condition = only(builder)
    assert condition.readings == 4
    assert condition.share_by_reason == {"clocks_set": 0.25, "power_cap": 0.5}
    assert condition.clock_by_reason_mhz == {"clocks_set": 1200, "power_cap": 1300}
    assert condition.clock_free_mhz == 1500


def test_the_link_is_judged_under_load_only() -> None:
    builder = TraceBuilder()
    for tick, (load, generation, width) in enumerate(((0, 1, 16), (50, 4, 8), (50, 4, 16), (50, -1, -1))):
        builder.sample(tick, utilisation_percent=load, pcie_generation=generation, pcie_width=width)
    condition = only(builder, pcie_max_generation=4, pcie_max_width=16)
    assert (condition.link_readings, condition.link_below_share) == (2, 0.5)
    assert (condition.link_generation, condition.link_width) == (4, 12)


@pytest.mark.parametrize(
    ("start", "end", "others", "held"),
    [
        ((7,), (1, 7), 1, 70),
        ((1, 7, 8), (1, 7), 1, 70),
        ((1,), (1,), 0, 0),
        ((), (), 0, None),
        ((70, 71), (70, 71), 1, None),
        ((70,), (70,), 0, None),
        (None, (1, 7), None, None),
    ],
)
def test_other_processes_are_those_that_stayed(
    start: tuple[int, ...] | None, end: tuple[int, ...], others: int | None, held: int | None
) -> None:
    """GIVEN that this process is 1; where it is not listed (a container) one of them is taken for it."""

    def listed(pids: tuple[int, ...] | None) -> tuple[DeviceProcess, ...] | None:
        return None if pids is None else tuple(DeviceProcess(pid=pid, used_bytes=10 * pid) for pid in pids)

    condition = only(TraceBuilder(), processes_start=listed(start), processes_end=listed(end))
    assert (condition.others, condition.others_bytes) == (others, held)


def test_a_device_without_a_reading_keeps_its_facts() -> None:
    condition = only(TraceBuilder(), name="Lost GPU", lost_at_ns=5)
    assert (condition.facts.name, condition.readings, condition.link_below_share) == ("Lost GPU", 0, None)


def test_nothing_sampled_gives_nothing(empty_trace: Trace) -> None:
    assert Results(empty_trace).get(DeviceConditions).devices == ()
