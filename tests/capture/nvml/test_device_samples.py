"""The sampler as a whole, on the fake driver library through the real nvidia-ml-py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.device.device_energy import DeviceEnergy
from gpuprof.capture.nvml import device_samples
from gpuprof.capture.nvml.device_samples import DeviceSampler
from gpuprof.errors import UsageError
from gpuprof.model.samples import SampleLog
from tests.support.fake_nvml.fixtures import MIB, UUIDS, FakeNvml, build
from tests.support.trace_builder import TraceBuilder

ROOT = Path(__file__).parents[3]


def sampled(seconds: float = 0.25, hz: float = 40.0, devices: list[str | int] | None = None) -> SampleLog:
    sampler = DeviceSampler(devices, hz)
    sampler.start()
    time.sleep(seconds)
    return sampler.stop()


def wait_for_rows(sampler: DeviceSampler, seconds: float = 5.0, devices: int = 1) -> None:
    until = time.monotonic() + seconds
    while len(sampler.latest()) < devices and time.monotonic() < until:
        time.sleep(0.005)


def run_python(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.strip()


def test_two_devices_give_rows_in_the_declared_units(nvml: FakeNvml) -> None:
    nvml.order("set used_bytes 1 2147483648", "set reasons 1 72")
    log = sampled()
    assert log.unavailable is None
    assert log.metric_errors == {}
    second = log.table.take(log.table["device"] == 1)
    assert len(second) == len(log.table) / 2 >= 4
    assert second["utilisation_percent"][0] == 51
    assert second["memory_utilisation_percent"][0] == 21
    assert second["memory_used_bytes"][0] == 2048 * MIB + 512 * MIB  # the driver's reserve included
    assert second["power_mw"][0] == 210_001
    assert second["temperature_c"][0] == 61
    assert (second["sm_clock_mhz"][0], second["memory_clock_mhz"][0]) == (1410, 1593)
    assert second["clock_reasons"][0] == 8 | 64
    assert (second["pcie_generation"][0], second["pcie_width"][0]) == (3, 8)


def test_facts_of_a_device_hold_limits_processes_and_energy(nvml: FakeNvml) -> None:
    log = sampled()
    first, second = log.static
    assert (first.name, first.uuid, first.nvml_index) == ("Fake Device A", UUIDS[0], 0)
    assert (first.memory_bytes, first.driver_reserved_bytes) == (16384 * MIB, 512 * MIB)
    assert first.power_limit_default_mw == 350_000
    assert (first.power_limit_mw, first.temperature_slowdown_c, first.sm_clock_max_mhz) == (300_000, 93, 1980)
    assert (first.pcie_max_generation, first.pcie_device_max_generation, first.pcie_max_width) == (4, 5, 16)
    assert first.driver_version == "999.10.01"
    assert first.power_source == "instant"
    assert first.processes_start is not None and first.processes_start[0].pid == os.getpid()
    assert first.processes_start[1].used_bytes is None  # the driver does not say
    assert second.processes_end == ()
    assert first.energy_mj is not None and first.energy_span_ns is not None
    assert first.energy_mj / (first.energy_span_ns / 1e9) == pytest.approx(200_000, rel=0.05)  # 200 W


def test_slow_metrics_are_read_once_a_second(nvml: FakeNvml) -> None:
    log = sampled(0.5, hz=40)
    one = log.table.take(log.table["device"] == 0)
    read = ~np.isnan(one["temperature_c"])
    assert read[0] and read[-1]  # at the first tick and at the end
    assert read.sum() == 2
    assert ((one["pcie_width"] >= 0) == read).all()
    assert (one["utilisation_percent"] >= 0).all()


def test_readings_carry_their_own_time(nvml: FakeNvml) -> None:
    nvml.order("slow nvmlDeviceGetTemperature 30000")
    before, start = time.time_ns(), time.perf_counter_ns()
    table = sampled(0.2).table
    after, end = time.time_ns(), time.perf_counter_ns()
    assert ((table["time_ns"] > before) & (table["time_ns"] < after)).all()
    assert ((table["monotonic_ns"] > start) & (table["monotonic_ns"] < end)).all()
    assert (np.diff(table["monotonic_ns"]) > 0).all()
    assert table["call_ns"][0] >= 30_000_000
    offset = table["time_ns"] - table["monotonic_ns"]
    assert np.ptp(offset) < 5_000_000


def test_the_rate_is_held(nvml: FakeNvml) -> None:
    log = sampled(0.6, hz=20)
    assert log.hz_asked == 20
    assert log.hz_reached == pytest.approx(20, rel=0.2)
    assert log.cost_share is not None and 0 < log.cost_share < 0.2


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (4, "may not talk to the NVIDIA driver"),
        (9, "not loaded"),
        (18, "updated and the machine not restarted"),
        (999, "NVML did not start: Unknown Error"),
    ],
)
def test_a_failed_init_is_one_clear_reason(nvml: FakeNvml, code: int, words: str) -> None:
    nvml.order(f"fail nvmlInitWithFlags {code}")
    log = sampled(0.02)
    assert words in (log.unavailable or "")
    assert len(log.table) == 0
    assert log.static == ()


def test_no_device_and_no_count_are_told_apart(nvml: FakeNvml) -> None:
    nvml.order("set devices * 0")
    assert sampled(0.02).unavailable == "NVML lists no device"
    nvml.order("fail nvmlDeviceGetCount_v2 999")
    assert "Unknown Error" in (sampled(0.02).unavailable or "")


def test_mig_takes_away_some_metrics_of_one_device_only(nvml: FakeNvml) -> None:
    nvml.order("set mig 0 1", "fail nvmlDeviceGetUtilizationRates 0 3", "fail nvmlDeviceGetClockInfo 0 3")
    nvml.order("fail nvmlDeviceGetCurrPcieLinkWidth 0 3")
    log = sampled()
    parent, other = (log.table.take(log.table["device"] == row) for row in (0, 1))
    assert np.isnan(parent["utilisation_percent"]).all()
    assert (parent["sm_clock_mhz"] == -1).all() and (parent["pcie_width"] == -1).all()
    assert (parent["memory_used_bytes"] > 0).all()
    assert (other["utilisation_percent"] == 51).all() and (other["sm_clock_mhz"] == 1410).all()
    assert [facts.mig for facts in log.static] == [True, False]
    missing = {"utilisation", "sm_clock", "memory_clock", "pcie_width"}
    assert log.metric_errors == {f"{metric}@{UUIDS[0]}": "Not Supported" for metric in missing}


def test_a_lost_device_leaves_the_other_running(nvml: FakeNvml) -> None:
    sampler = DeviceSampler(hz=40)
    sampler.start()
    wait_for_rows(sampler, devices=2)
    nvml.order("fail * 1 15")
    time.sleep(0.2)
    lost_by = time.time_ns()
    assert [sample.device for sample in sampler.latest()] == [0]
    time.sleep(0.1)
    log = sampler.stop()
    times = [log.table["time_ns"][log.table["device"] == row] for row in (0, 1)]
    assert times[0].max() > lost_by > times[1].max()
    assert log.static[0].lost_at_ns is None
    assert times[1].max() < (log.static[1].lost_at_ns or 0) < lost_by
    assert log.metric_errors == {f"device@{UUIDS[1]}": "GPU is lost"}
    assert any("stopped answering" in note for note in log.notes)
    assert log.static[1].energy_mj is None


def test_an_expensive_driver_slows_the_sampler_down(nvml: FakeNvml, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_samples.Pace, "window_ns", 200_000_000)
    nvml.order("slow nvmlDeviceGetUtilizationRates 20000")
    log = sampled(0.9, hz=10)
    assert log.halvings >= 3
    assert log.hz_reached is not None and log.hz_reached < 7
    assert log.cost_share is not None and log.cost_share > 0.1
    assert (log.table["call_ns"] >= 20_000_000).all()
    assert any("slowed from 10 to" in note for note in log.notes)


def test_waiting_for_the_interpreter_is_not_taken_for_cost(nvml: FakeNvml) -> None:
    # calls long enough for the busy thread to take the interpreter meanwhile, and keep it for 5 ms
    nvml.order("set devices * 1", "slow nvmlDeviceGetPowerUsage 200", "field_fail 186 * 3")
    nvml.order("slow nvmlDeviceGetClockInfo 200", "slow nvmlDeviceGetUtilizationRates 200")
    sampler = DeviceSampler(hz=5)
    sampler.start()
    until, turns = time.monotonic() + 1.4, 0
    while time.monotonic() < until:
        turns += sum(range(50))
    log = sampler.stop()
    assert turns
    assert log.table["call_ns"].max() > 12_000_000  # the wait is in the reading's time
    assert log.halvings == 0


def test_a_driver_that_hangs_does_not_hold_up_the_cell(nvml: FakeNvml, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_samples, "_STOP_WAIT_S", 0.1)
    sampler = DeviceSampler(hz=40)
    sampler.start()
    wait_for_rows(sampler)
    nvml.order("slow nvmlDeviceGetUtilizationRates 3000000")
    time.sleep(0.1)
    before = time.monotonic()
    log = sampler.stop()
    assert time.monotonic() - before < 2
    assert len(log.table) > 0 and log.unavailable is None
    assert any("did not return" in note for note in log.notes)
    nvml.clear()
    assert sampler._thread is not None
    sampler._thread.join(10)
    assert not sampler._thread.is_alive()


def test_stop_twice_gives_the_same_log(nvml: FakeNvml) -> None:
    sampler = DeviceSampler()
    sampler.start()
    sampler.start()
    first = sampler.stop()
    assert sampler.stop() is first
    assert len(first.table) >= 2
    sampler.start()
    assert not any(thread.name == "gpuprof-device-samples" for thread in threading.enumerate())


def test_a_sampler_that_never_started_says_so(nvml: FakeNvml) -> None:
    assert DeviceSampler().stop().unavailable == "the sampler was never started"


def test_no_thread_left_is_a_reason_not_an_error(nvml: FakeNvml, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    sampler = DeviceSampler()
    sampler.start()
    assert "can't start new thread" in (sampler.stop().unavailable or "")


def test_someone_elses_shutdown_is_survived(nvml: FakeNvml) -> None:
    import pynvml

    sampler = DeviceSampler(hz=40)
    sampler.start()
    wait_for_rows(sampler)
    pynvml.nvmlShutdown()
    time.sleep(0.1)
    log = sampler.stop()
    assert len(log.table) > 0
    assert "Uninitialized" in log.metric_errors[f"utilisation@{UUIDS[0]}"]


def test_latest_shows_every_metric_and_facts_name_the_device(nvml: FakeNvml) -> None:
    sampler = DeviceSampler(hz=40)
    assert sampler.latest() == []
    sampler.start()
    wait_for_rows(sampler)
    time.sleep(0.1)
    latest = sampler.latest()
    assert [sample.utilisation_percent for sample in latest] == [50, 51]
    assert [sample.temperature_c for sample in latest] == [60, 61]  # kept from the slow tick
    assert [sampler.facts()[sample.device].name for sample in latest] == ["Fake Device A", "Fake Device B"]
    assert sampler.unavailable is None
    sampler.stop()


@pytest.mark.parametrize("hz", [0.0, -1.0, float("nan"), float("inf"), 1000.0])
def test_an_impossible_rate_is_refused(hz: float) -> None:
    with pytest.raises(UsageError, match="sampling rate"):
        DeviceSampler(hz=hz)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_child_neither_samples_nor_hangs(nvml: FakeNvml) -> None:
    nvml.order("slow nvmlDeviceGetUtilizationRates 5000")
    sampler = DeviceSampler(hz=100)
    sampler.start()
    wait_for_rows(sampler)
    for _ in range(5):
        child = os.fork()
        if child == 0:
            log = sampler.stop()
            own = sampled(0.02)
            good = "forked" in (log.unavailable or "") and not sampler.latest() and len(own.table) > 0
            os._exit(0 if good else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(sampler.stop().table) > 0


def test_the_driver_library_is_found_by_name_in_a_fresh_process() -> None:
    code = (
        "import json, time; from gpuprof.capture.nvml.device_samples import DeviceSampler;"
        "s = DeviceSampler(); s.start();"
        "time.sleep(0.1); print(json.dumps(s.stop().to_dict()))"
    )
    log = SampleLog.from_dict(json.loads(run_python(code, LD_LIBRARY_PATH=str(build().parent))))
    assert [facts.uuid for facts in log.static] == list(UUIDS[:2])
    assert len(log.table) >= 2


def test_without_a_driver_it_says_so_and_imports_neither_torch_nor_pynvml_early() -> None:
    code = (
        "import sys, ctypes.util; from gpuprof.capture.nvml.device_samples import DeviceSampler;"
        "early = {'torch', 'pynvml'} & set(sys.modules); s = DeviceSampler(); s.start(); log = s.stop();"
        "print(len(early), 'torch' in sys.modules, log.unavailable, sep='|')"
    )
    early, torch, reason = run_python(code).split("|")
    assert (early, torch) == ("0", "False")
    if reason == "None":
        pytest.skip("this machine has an NVIDIA driver")
    assert reason.startswith("NVML, a part of the NVIDIA driver, is not installed")


def test_an_older_driver_without_the_newer_calls_is_read_by_the_older_ones(
    load_nvml: Callable[..., FakeNvml],
) -> None:
    load_nvml("nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetFieldValues")
    log = sampled(0.1)
    assert log.table["memory_used_bytes"][0] == 1024 * MIB + 512 * MIB
    assert log.table["clock_reasons"][0] == 32
    assert log.table["power_mw"][0] == 190_000
    assert log.static[0].power_source == "driver"
    assert log.static[0].driver_reserved_bytes is None
    assert log.metric_errors == {}  # nothing that is sampled is missing


def test_a_fact_the_device_does_not_have_is_no_error_but_a_forbidden_one_is(nvml: FakeNvml) -> None:
    nvml.order("fail nvmlDeviceGetTotalEccErrors * 3", "fail nvmlDeviceGetComputeRunningProcesses_v3 1 4")
    log = sampled(0.05)
    assert [facts.ecc_uncorrected for facts in log.static] == [None, None]
    assert log.static[0].processes_end is not None and log.static[1].processes_end is None
    assert list(log.metric_errors) == [f"processes@{UUIDS[1]}"]


def test_a_log_survives_json(nvml: FakeNvml) -> None:
    nvml.order("fail nvmlDeviceGetTemperature 0 3")
    log = sampled(0.1)
    again = SampleLog.from_dict(json.loads(json.dumps(log.to_dict(), allow_nan=False)))
    for column in log.table.schema.columns:
        assert np.array_equal(log.table[column.name], again.table[column.name], equal_nan=column.dtype == "float32")
    assert again.facts_dict() == log.facts_dict()
    assert SampleLog.from_dict(log.facts_dict(), log.table).table is log.table


def test_readings_give_the_energy_of_the_steps(nvml: FakeNvml) -> None:
    """GIVEN 50 W WHEN one step lasts from the first reading to the last THEN it used their distance × 50 W."""
    nvml.order("set power_instant_mw 0 50000")
    log = sampled(0.4, hz=50)
    one = log.table.take(log.table["device"] == 0)
    times = (one["time_ns"] - one["time_ns"][0]) / 1000
    facts = msgspec.to_builtins(msgspec.structs.replace(log.static[0], torch_index=0))
    builder = TraceBuilder(start_ns=int(one["time_ns"][0])).context(sampling={"static": [facts]})
    builder.step(0, times[-1]).kernel("gemm", 0, times[-1] / 2, launch_at_us=0)
    for at, power in zip(times, one["power_mw"], strict=True):
        builder.sample(at, power_mw=int(power))
    energy = Results(builder.build()).get(DeviceEnergy)
    assert energy.joules == pytest.approx(50 * times[-1] / 1e6, rel=1e-3)
    assert energy.idle_share == pytest.approx(0.5, abs=0.01)
