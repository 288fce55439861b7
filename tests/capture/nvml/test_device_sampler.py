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
from gpuprof.capture.nvml import device_sampler
from gpuprof.capture.nvml.device_sampler import DeviceSampler
from gpuprof.errors import UsageError
from gpuprof.model.readings import ReadingLog
from tests.capture.ticks import NS, WAIT_S, Bench, ticks_in
from tests.support.fake_nvml.fixtures import MIB, UUIDS, FakeNvml, build
from tests.support.trace_builder import TraceBuilder

ROOT = Path(__file__).parents[3]
MS = 1_000_000


def wait_for_rows(sampler: DeviceSampler) -> None:
    """Where the sampler has to run by itself: how long that takes is of no interest."""
    until = time.monotonic() + WAIT_S
    while not sampler.latest() and time.monotonic() < until:
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


def test_two_devices_give_rows_in_the_declared_units(nvml: FakeNvml, bench: Bench) -> None:
    nvml.order("set used_bytes 1 2147483648", "set reasons 1 72")
    log = bench.sampled(times=3)
    assert log.unavailable is None
    assert log.metric_errors == {}
    second = log.table.take(log.table["device"] == 1)
    assert len(second) == len(log.table) / 2 == 4
    assert second["utilisation_percent"][0] == 51
    assert second["memory_utilisation_percent"][0] == 21
    assert second["memory_used_bytes"][0] == 2048 * MIB + 512 * MIB  # the driver's reserve included
    assert second["power_mw"][0] == 210_001
    assert second["temperature_c"][0] == 61
    assert (second["sm_clock_mhz"][0], second["memory_clock_mhz"][0]) == (1410, 1593)
    assert second["clock_reasons"][0] == 8 | 64
    assert (second["pcie_generation"][0], second["pcie_width"][0]) == (3, 8)


def test_facts_of_a_device_hold_limits_processes_and_energy(nvml: FakeNvml, bench: Bench) -> None:
    nvml.order("set energy_mj 0 7000000")
    sampler = bench.sampler()
    bench.read(sampler, 1)
    nvml.order("set energy_mj 0 7000500")
    bench.clock.now_ns += 2 * NS
    log = sampler.stop()
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
    assert first.energy_mj == 500
    assert first.energy_span_ns == pytest.approx(2 * NS, rel=0.001)


def test_slow_metrics_are_read_once_a_second(bench: Bench) -> None:
    log = bench.sampled(ticks_in(2.5, hz=40), hz=40)
    one = log.table.take(log.table["device"] == 0)
    read = ~np.isnan(one["temperature_c"])
    assert np.flatnonzero(read).tolist() == [0, 40, 80, 101]  # the last one at the end
    assert ((one["pcie_width"] >= 0) == read).all()
    assert (one["utilisation_percent"] >= 0).all()


def test_readings_carry_their_own_time(bench: Bench) -> None:
    """The time of a reading is the middle of its calls, on both clocks."""
    bench.takes("nvmlDeviceGetTemperature", milliseconds=30)
    before = bench.clock.now_ns
    table = bench.sampled(times=4).table
    assert ((table["monotonic_ns"] > before) & (table["monotonic_ns"] < bench.clock.now_ns)).all()
    assert (np.diff(table["monotonic_ns"]) > 0).all()
    assert 30 * MS < table["call_ns"][0] < 31 * MS
    assert table["monotonic_ns"][0] - before > 15 * MS
    assert np.ptp(table["time_ns"] - table["monotonic_ns"]) == 0


def test_the_rate_is_held(bench: Bench) -> None:
    bench.takes("nvmlDeviceGetUtilizationRates", milliseconds=0.1)
    log = bench.sampled(ticks_in(5, hz=20), hz=20)
    assert log.hz_asked == 20
    assert log.hz_reached == pytest.approx(20, rel=0.001)
    assert log.cost_share == pytest.approx(20 * 2 * 0.0001, rel=0.2)  # of two devices


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (4, "may not talk to the NVIDIA driver"),
        (9, "not loaded"),
        (18, "updated and the machine not restarted"),
        (999, "NVML did not start: Unknown Error"),
    ],
)
def test_a_failed_init_is_one_clear_reason(nvml: FakeNvml, bench: Bench, code: int, words: str) -> None:
    nvml.order(f"fail nvmlInitWithFlags {code}")
    log = bench.sampled()
    assert words in (log.unavailable or "")
    assert len(log.table) == 0
    assert log.static == ()


def test_no_device_and_no_count_are_told_apart(nvml: FakeNvml, bench: Bench) -> None:
    nvml.order("set devices * 0")
    assert bench.sampled().unavailable == "NVML lists no device"
    nvml.order("fail nvmlDeviceGetCount_v2 999")
    assert "Unknown Error" in (bench.sampled().unavailable or "")


def test_mig_takes_away_some_metrics_of_one_device_only(nvml: FakeNvml, bench: Bench) -> None:
    nvml.order("set mig 0 1", "fail nvmlDeviceGetUtilizationRates 0 3", "fail nvmlDeviceGetClockInfo 0 3")
    nvml.order("fail nvmlDeviceGetCurrPcieLinkWidth 0 3")
    log = bench.sampled()
    parent, other = (log.table.take(log.table["device"] == row) for row in (0, 1))
    assert np.isnan(parent["utilisation_percent"]).all()
    assert (parent["sm_clock_mhz"] == -1).all() and (parent["pcie_width"] == -1).all()
    assert (parent["memory_used_bytes"] > 0).all()
    assert (other["utilisation_percent"] == 51).all() and (other["sm_clock_mhz"] == 1410).all()
    assert [facts.mig for facts in log.static] == [True, False]
    missing = {"utilisation", "sm_clock", "memory_clock", "pcie_width"}
    assert log.metric_errors == {f"{metric}@{UUIDS[0]}": "Not Supported" for metric in missing}


def test_a_lost_device_leaves_the_other_running(nvml: FakeNvml, bench: Bench) -> None:
    sampler = bench.sampler()
    bench.read(sampler, 2)
    nvml.order("fail * 1 15")
    bench.read(sampler)
    lost_by = bench.clock.time_ns()
    assert [sample.device for sample in sampler.latest()] == [0]
    bench.read(sampler)
    log = sampler.stop()
    times = [log.table["time_ns"][log.table["device"] == row] for row in (0, 1)]
    assert (len(times[0]), len(times[1])) == (5, 2)
    assert times[0].max() > lost_by > times[1].max()
    assert log.static[0].lost_at_ns is None
    assert times[1].max() < (log.static[1].lost_at_ns or 0) <= lost_by
    assert log.metric_errors == {f"device@{UUIDS[1]}": "GPU is lost"}
    assert any("stopped answering" in note for note in log.notes)
    assert log.static[1].energy_mj is None


def test_an_expensive_driver_slows_the_sampler_down(bench: Bench) -> None:
    bench.takes("nvmlDeviceGetUtilizationRates", milliseconds=20)
    log = bench.sampled(times=15, hz=10)
    assert log.halvings >= 3
    assert log.hz_reached is not None and log.hz_reached < 7
    assert log.cost_share is not None and log.cost_share > 0.05
    assert (log.table["call_ns"] >= 20 * MS).all()
    assert any("slowed from 10 to" in note for note in log.notes)


@pytest.mark.parametrize("waits", [True, False])
def test_waiting_for_the_interpreter_is_not_taken_for_cost(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, waits: bool
) -> None:
    """GIVEN calls of 5 ms THEN they slow the sampler, unless it has to wait that long for the interpreter anyhow."""
    monkeypatch.setattr(device_sampler, "interpreter_wait_ns", lambda: 5 * MS if waits else 0)
    for function in ("nvmlDeviceGetFieldValues", "nvmlDeviceGetClockInfo", "nvmlDeviceGetUtilizationRates"):
        bench.takes(function, milliseconds=5.05)
    log = bench.sampled(ticks_in(3, hz=5), hz=5)
    assert log.table["call_ns"].max() > 12 * MS  # the wait is in the reading's time
    assert (log.halvings == 0) == waits


def test_a_driver_that_hangs_does_not_hold_up_the_cell(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    sampler, hanging = bench.sampler(), threading.Event()
    bench.read(sampler)
    bench.before["nvmlDeviceGetUtilizationRates"] = hanging.wait
    monkeypatch.setattr(device_sampler, "_STOP_WAIT_S", 0.1)
    log = sampler.stop()  # comes back while the call does not
    assert len(log.table) > 0 and log.unavailable is None
    assert any("did not return" in note for note in log.notes)
    hanging.set()
    assert sampler._thread is not None
    sampler._thread.join(WAIT_S)
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


def test_someone_elses_shutdown_is_survived(bench: Bench) -> None:
    import pynvml

    sampler = bench.sampler()
    bench.read(sampler)
    pynvml.nvmlShutdown()
    bench.read(sampler, 2)
    log = sampler.stop()
    assert len(log.table) > 0
    assert "Uninitialized" in log.metric_errors[f"utilisation@{UUIDS[0]}"]


def test_latest_shows_every_metric_and_facts_name_the_device(bench: Bench) -> None:
    sampler = bench.sampler()
    assert sampler.latest() == []
    bench.read(sampler, 3)
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
def test_a_forked_child_neither_samples_nor_hangs(nvml: FakeNvml, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_sampler, "_STOP_WAIT_S", WAIT_S)
    nvml.order("slow nvmlDeviceGetUtilizationRates 5000")
    sampler = DeviceSampler(hz=100)
    sampler.start()
    wait_for_rows(sampler)
    for _ in range(5):
        child = os.fork()
        if child == 0:
            log = sampler.stop()
            own = DeviceSampler()
            own.start()
            good = "forked" in (log.unavailable or "") and not sampler.latest() and len(own.stop().table) > 0
            os._exit(0 if good else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(sampler.stop().table) > 0


def test_the_driver_library_is_found_by_name_in_a_fresh_process() -> None:
    code = (
        "import json; from gpuprof.capture.nvml import device_sampler;"
        "device_sampler._STOP_WAIT_S = 50;"
        "s = device_sampler.DeviceSampler(); s.start(); print(json.dumps(s.stop().to_dict()))"
    )
    log = ReadingLog.from_dict(json.loads(run_python(code, LD_LIBRARY_PATH=str(build().parent))))
    assert [facts.uuid for facts in log.static] == list(UUIDS[:2])
    assert len(log.table) >= 2


def test_without_a_driver_it_says_so_and_imports_neither_torch_nor_pynvml_early() -> None:
    code = (
        "import sys, ctypes.util; from gpuprof.capture.nvml.device_sampler import DeviceSampler;"
        "early = {'torch', 'pynvml'} & set(sys.modules); s = DeviceSampler(); s.start(); log = s.stop();"
        "print(len(early), 'torch' in sys.modules, log.unavailable, sep='|')"
    )
    early, torch, reason = run_python(code).split("|")
    assert (early, torch) == ("0", "False")
    if reason == "None":
        pytest.skip("this machine has an NVIDIA driver")
    assert reason.startswith("NVML, a part of the NVIDIA driver, is not installed")


def test_an_older_driver_without_the_newer_calls_is_read_by_the_older_ones(
    load_nvml: Callable[..., FakeNvml], monkeypatch: pytest.MonkeyPatch
) -> None:
    load_nvml("nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetFieldValues")
    log = Bench(monkeypatch).sampled()
    assert log.table["memory_used_bytes"][0] == 1024 * MIB + 512 * MIB
    assert log.table["clock_reasons"][0] == 32
    assert log.table["power_mw"][0] == 190_000
    assert log.static[0].power_source == "driver"
    assert log.static[0].driver_reserved_bytes is None
    assert log.metric_errors == {}  # nothing that is sampled is missing


def test_a_fact_the_device_does_not_have_is_no_error_but_a_forbidden_one_is(nvml: FakeNvml, bench: Bench) -> None:
    nvml.order("fail nvmlDeviceGetTotalEccErrors * 3", "fail nvmlDeviceGetComputeRunningProcesses_v3 1 4")
    log = bench.sampled()
    assert [facts.ecc_uncorrected for facts in log.static] == [None, None]
    assert log.static[0].processes_end is not None and log.static[1].processes_end is None
    assert list(log.metric_errors) == [f"processes@{UUIDS[1]}"]


def test_a_log_survives_json(nvml: FakeNvml, bench: Bench) -> None:
    nvml.order("fail nvmlDeviceGetTemperature 0 3")
    log = bench.sampled()
    again = ReadingLog.from_dict(json.loads(json.dumps(log.to_dict(), allow_nan=False)))
    for column in log.table.schema.columns:
        assert np.array_equal(log.table[column.name], again.table[column.name], equal_nan=column.dtype == "float32")
    assert again.facts_dict() == log.facts_dict()
    assert ReadingLog.from_dict(log.facts_dict(), log.table).table is log.table


def test_readings_give_the_energy_of_the_steps(nvml: FakeNvml, bench: Bench) -> None:
    """GIVEN 50 W WHEN one step lasts from the first reading to the last THEN it used their distance × 50 W."""
    nvml.order("set power_instant_mw 0 50000")
    log = bench.sampled(ticks_in(0.4, hz=50), hz=50)
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
