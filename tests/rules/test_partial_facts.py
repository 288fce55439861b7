"""Rules about the machine, where the driver tells only a part."""

from __future__ import annotations

import msgspec
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Environment
from gpuprof.model.device import Device
from gpuprof.model.readings import DeviceFacts, DeviceProcess
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.device.stack_outdated import _covered
from gpuprof.rules.registry import rule
from tests.rules.cases.device import stack_outdated
from tests.support.trace_builder import TraceBuilder

GIB = 1 << 30


def told(name: str, *facts: DeviceFacts, samples: int = 0, **reading: float) -> Finding | Abstention | None:
    """A run of 4 ms on the device, with so many readings of it."""
    builder = TraceBuilder().kernel("gemm", 0, 4000, launch_at_us=0)
    for tick in range(samples):
        builder.sample(100 * tick, utilisation_percent=97, **reading)
    static = {"static": [msgspec.to_builtins(each) for each in facts]}
    return rule(name).check(Results(builder.context(sampling=static).build()))


def shared(memory_bytes: int | None, *used: int | None, torch_index: int | None = 0) -> DeviceFacts:
    processes = tuple(DeviceProcess(pid=7 + at, used_bytes=each) for at, each in enumerate(used))
    mine = DeviceProcess(pid=1, used_bytes=GIB)
    return DeviceFacts(
        name="GPU",
        torch_index=torch_index,
        memory_bytes=memory_bytes,
        processes_start=processes,
        processes_end=(mine, *processes),
    )


def test_others_whose_memory_is_not_told() -> None:
    answer = told("device_shared", shared(16 * GIB, None))
    assert isinstance(answer, Finding) and answer.severity == Severity.LOW
    assert answer.evidence == {"other_processes": 1}
    assert "holding" not in answer.explanation
    answer = told("device_shared", shared(None, 6 * GIB))
    assert isinstance(answer, Finding) and answer.severity == Severity.LOW
    assert answer.evidence == {"other_processes": 1, "other_processes_bytes": 6 * GIB}


def test_the_device_with_most_others_is_told_of() -> None:
    answer = told("device_shared", shared(16 * GIB, GIB), shared(16 * GIB, GIB, 5 * GIB), shared(16 * GIB, 9 * GIB))
    assert isinstance(answer, Finding)
    assert answer.evidence["other_processes"] == 2 and answer.evidence["other_processes_bytes"] == 6 * GIB
    foreign = told("device_shared", shared(16 * GIB, GIB), shared(16 * GIB, GIB, GIB, torch_index=None))
    assert isinstance(foreign, Finding) and foreign.evidence["other_processes"] == 1


def test_a_device_that_stopped_answering() -> None:
    lost = told("device_errors", DeviceFacts(name="GPU", lost_at_ns=5, ecc_uncorrected=3))
    assert isinstance(lost, Finding)
    assert lost.title == "A device stopped answering during the run"
    assert lost.explanation == (
        "GPU no longer answered the driver. Besides, there were 3 new uncorrected memory errors on GPU."
    )
    assert lost.evidence == {"devices_lost": 1, "uncorrected_errors": 3}
    alone = told("device_errors", DeviceFacts(lost_at_ns=5))
    assert isinstance(alone, Finding) and alone.explanation == "The device no longer answered the driver."
    assert told("device_errors", DeviceFacts(name="GPU")) is None
    assert told("device_errors", DeviceFacts(ecc_uncorrected=0), DeviceFacts(ecc_uncorrected=0)) is None
    both = told("device_errors", DeviceFacts(ecc_uncorrected=2), DeviceFacts(ecc_uncorrected=5))
    assert isinstance(both, Finding) and both.evidence["uncorrected_errors"] == 7


def test_heat_where_clocks_and_temperature_are_not_told() -> None:
    bare = told("thermal_throttle", DeviceFacts(), samples=20, clock_reasons=0x20)
    assert isinstance(bare, Finding) and bare.severity == Severity.HIGH and bare.saving is None
    assert bare.evidence == {"throttled_share": 1.0, "readings_under_load": 20}
    assert bare.explanation.endswith("20 readings under load, on the device.")
    known = told(
        "thermal_throttle",
        DeviceFacts(name="GPU", sm_clock_max_mhz=1500),
        samples=20,
        clock_reasons=0x20,
        sm_clock_mhz=1200,
        power_mw=123_456,
    )
    assert isinstance(known, Finding) and known.saving is not None
    assert known.evidence["power_mean_w"] == 123.5
    assert known.explanation.endswith("on GPU. The SM clock was 1200 MHz then, 1500 MHz otherwise.")
    assert known.saving.central_ns == pytest.approx(4_000_000 * 0.2)


@pytest.mark.parametrize(
    ("capability", "built", "covered"),
    [
        ((8, 0), {(8, 0)}, True),
        ((8, 9), {(8, 6)}, True),
        ((8, 0), {(8, 6)}, False),
        ((9, 0), {(8, 6)}, False),
        ((7, 5), {(8, 0), (7, 0)}, True),
    ],
)
def test_code_runs_on_later_devices_of_its_generation(
    capability: tuple[int, int], built: set[tuple[int, int]], covered: bool
) -> None:
    assert _covered(Device(id=0, name="GPU", compute_capability=capability), built) is covered


def test_a_build_without_code_for_any_device() -> None:
    answer = rule("stack_outdated").check(Results(stack_outdated._run((12, 0), "compute_90")))
    assert isinstance(answer, Finding)
    assert (answer.evidence["compiled_for"], answer.evidence["cuda_build"]) == ("no device", "none")


def limited(*, devices: int, **environment: str) -> Trace:
    builder = TraceBuilder().kernel("gemm", 0, 9, launch_at_us=0)
    for number in range(devices):
        builder.device(number, "GPU", compute_capability=(12, 0))
    known = Environment(torch="2.6.0", architectures=("sm_80",), **environment)  # type: ignore[arg-type]
    return builder.context(environment=known).build()


def test_what_is_built_for_another_maker_is_not_judged() -> None:
    assert rule("stack_outdated").check(Results(limited(devices=1, hip_build="6.0"))) is None
    assert isinstance(rule("stack_outdated").check(Results(limited(devices=0))), Abstention)
    found = rule("stack_outdated").check(Results(limited(devices=2, cuda_build="12.4")))
    assert isinstance(found, Finding) and found.evidence["cuda_build"] == "12.4"
