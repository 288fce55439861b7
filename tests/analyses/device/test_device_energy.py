"""Energy from power readings."""

from __future__ import annotations

import msgspec
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.device.device_energy import DeviceEnergy
from gpuprof.model.context import Loader
from gpuprof.model.readings import DeviceFacts
from gpuprof.model.trace import Trace
from tests.rules.cases.device.energy_idle import FACTS, run
from tests.support.trace_builder import TraceBuilder


def energy(trace: Trace) -> DeviceEnergy:
    return Results(trace).get(DeviceEnergy)


def ramp(*watts: float, **facts: object) -> TraceBuilder:
    """One step of 1 s, busy in its first half, with readings at equal distances."""
    known = msgspec.structs.replace(FACTS, **facts)
    builder = TraceBuilder().context(sampling={"static": [msgspec.to_builtins(known)]}).step(0, 1_000_000)
    builder.kernel("gemm", 0, 500_000, launch_at_us=0).kernel("last", 999_999, 1, launch_at_us=999_000)
    for row, power in enumerate(watts):
        builder.sample(row * 1_000_000 / (len(watts) - 1), power_mw=int(power * 1000))
    return builder


def test_trapezoids_between_readings() -> None:
    """GIVEN 300 W falling to 100 W over the busy half, and 100 W while it idles."""
    found = energy(ramp(300, 100, 100).build())
    assert found.joules == pytest.approx(100 + 50)
    assert found.idle_joules == pytest.approx(50, rel=1e-4)
    assert found.idle_least_joules == pytest.approx(50, rel=1e-4)
    assert (found.readings, found.resolution_ns) == (2, 500_000_000)


def test_gaps_shorter_than_the_readings_get_their_share_by_time() -> None:
    found = energy(run(idle_ms=30, watts=200))
    assert found.joules == pytest.approx(400)
    assert found.idle_share == pytest.approx(0.3)
    assert (found.steps, found.joules_per_step) == (20, pytest.approx(20))


def test_energy_of_a_sample() -> None:
    """GIVEN a batch of 8 in each of the steps."""
    found = energy(run(watts=80, loaders=(Loader(workers=0, batch_size=8),)))
    assert found.samples == pytest.approx(160, abs=8)
    assert found.joules_per_sample == pytest.approx(1.0, rel=0.06)


@pytest.mark.parametrize(
    "trace",
    [
        TraceBuilder().operator("aten::mm", 0, 9).build(),
        run(facts=DeviceFacts(torch_index=1)),
        run(facts=msgspec.structs.replace(FACTS, mig=True)),
        run(every_ms=1_500),
        ramp(100, -1, -1, -1, -1).build(),
    ],
    ids=["no device", "another device", "a part of a device", "readings too rare", "one reading"],
)
def test_unknown(trace: Trace) -> None:
    found = energy(trace)
    assert (found.joules, found.idle_joules, found.joules_per_step, found.idle_share) == (None, None, None, None)


def test_the_counter_where_the_power_cannot_be_read() -> None:
    """GIVEN 500 J in 5 s WHEN no power was read THEN the steps used 100 W, and the idle part is unknown."""
    found = energy(run(watts=-0.001, facts=msgspec.structs.replace(FACTS, energy_mj=500_000, energy_span_ns=5 * 10**9)))
    assert found.from_counter
    assert found.joules == pytest.approx(200)
    assert found.idle_joules is None and found.idle_share is None


def test_an_average_of_the_driver_tells_of_a_second() -> None:
    assert energy(run(facts=msgspec.structs.replace(FACTS, power_source="driver"))).resolution_ns == 10**9
