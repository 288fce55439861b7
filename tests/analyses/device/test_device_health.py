"""Readings of the driver."""

from __future__ import annotations

import msgspec

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.device.device_health import DeviceHealth, DeviceVitals
from gpuprof.model.readings import DeviceFacts, DeviceProcess
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder

IDLE, POWER, THERMAL = 0x1, 0x4, 0x20


def only(builder: TraceBuilder) -> DeviceVitals:
    devices = Results(builder.build()).get(DeviceHealth).devices
    assert len(devices) == 1
    return devices[0]


def _readings() -> TraceBuilder:
    """Two readings without load, then POWER, THERMAL, THERMAL and none under load."""
    builder = TraceBuilder()
    for tick, (load, reason, clock) in enumerate(
        ((0, IDLE, 300), (0, IDLE, 300), (90, POWER, 1400), (95, THERMAL, 1000), (95, THERMAL, 1100), (99, 0, 1500))
    ):
        builder.sample(
            100 * tick + (400 if tick == 5 else 0),
            utilisation_percent=load,
            clock_reasons=reason,
            sm_clock_mhz=clock,
            power_mw=1000 * tick,
            temperature_c=50 + tick,
        )
    return builder


def test_reasons_are_shares_of_the_readings_under_load() -> None:
    vitals = only(_readings())
    assert (vitals.readings, vitals.under_load) == (6, 4)
    assert vitals.reason_share == {"power_cap": 0.25, "thermal_software": 0.5}
    assert vitals.thermal_share == 0.5
    assert vitals.thermal_ranges_ns == ((300_000, 400_000),)


def test_clocks_power_and_temperature() -> None:
    vitals = only(_readings())
    assert (vitals.clock_thermal_mhz, vitals.clock_free_mhz) == (1050, 1500)
    assert (vitals.power_mean_mw, vitals.temperature_max_c) == (3500, 55)


def test_what_was_not_read_is_unknown() -> None:
    vitals = only(TraceBuilder().sample(0, utilisation_percent=50).sample(10, utilisation_percent=60))
    assert (vitals.under_load, vitals.reason_share, vitals.thermal_share) == (0, None, None)
    assert (vitals.temperature_max_c, vitals.power_mean_mw, vitals.used_max_bytes) == (None, None, None)


def test_facts_of_the_sampler_are_joined() -> None:
    facts = DeviceFacts(
        name="Test GPU", power_limit_mw=700_000, processes_start=(DeviceProcess(pid=1), DeviceProcess(pid=2))
    )
    sampling = {"static": [msgspec.to_builtins(facts)], "unavailable": None}
    vitals = only(_readings().context(sampling=sampling))
    assert (vitals.name, vitals.power_limit_mw, vitals.other_processes) == ("Test GPU", 700_000, 1)


def test_a_run_without_a_driver_says_why(empty_trace: Trace) -> None:
    assert Results(empty_trace).get(DeviceHealth) == DeviceHealth((), None)
    trace = TraceBuilder().context(sampling={"unavailable": "no driver"}).build()
    assert Results(trace).get(DeviceHealth) == DeviceHealth((), "no driver")
