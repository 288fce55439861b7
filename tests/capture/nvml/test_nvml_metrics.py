"""One metric's failures stay its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pynvml
import pytest

from gpuprof.capture.nvml import nvml as library
from gpuprof.capture.nvml.nvml import NvmlCallError, Reaction, call, known
from gpuprof.capture.nvml.nvml_metrics import MetricState, metrics
from tests.support.fake_nvml.fixtures import FakeNvml

SECOND = 1_000_000_000


@pytest.fixture
def state_of(nvml: FakeNvml) -> Iterator[Callable[[str], MetricState]]:
    """`state_of("power")` is that metric of the first device."""
    assert library.start() is None
    handle: Any = pynvml.nvmlDeviceGetHandleByIndex(0)
    yield lambda name: MetricState(next(m for m in metrics() if m.name == name), handle)
    nvml.clear()
    library.finish()


@pytest.mark.parametrize("code", [3, 4])
def test_a_permanent_failure_is_met_once(nvml: FakeNvml, state_of: Callable[[str], MetricState], code: int) -> None:
    nvml.order(f"fail nvmlDeviceGetTemperature * {code}")
    state, before = state_of("temperature"), nvml.calls("nvmlDeviceGetTemperature")
    assert [dict(state.read(tick * SECOND)) for tick in range(5)] == [{}] * 5
    assert nvml.calls("nvmlDeviceGetTemperature") == before + 1
    assert state.error == {3: "Not Supported", 4: "Insufficient Permissions"}[code]


@pytest.mark.parametrize(("code", "reason"), [(999, "Unknown Error"), (10, "Timeout")])
def test_a_passing_failure_is_retried_ever_later(
    nvml: FakeNvml, state_of: Callable[[str], MetricState], code: int, reason: str
) -> None:
    nvml.order(f"fail nvmlDeviceGetUtilizationRates * {code}")
    state, before = state_of("utilisation"), nvml.calls("nvmlDeviceGetUtilizationRates")
    tries = []
    for tenth in range(100):
        state.read(tenth * SECOND // 10)
        tries.append(nvml.calls("nvmlDeviceGetUtilizationRates") - before)
    assert tries[-1] == 5  # at 0, 0.5, 1.5, 3.5 and 7.5 s
    assert state.error == f"{reason} (5 readings failed)"
    nvml.clear()
    assert state.read(100 * SECOND)["utilisation_percent"] == 50
    assert state.error == f"{reason} (5 readings failed)"


def test_a_lost_device_is_for_the_caller_to_know(nvml: FakeNvml, state_of: Callable[[str], MetricState]) -> None:
    nvml.order("fail nvmlDeviceGetPowerUsage * 15", "fail nvmlDeviceGetFieldValues * 15")
    with pytest.raises(NvmlCallError) as caught:
        state_of("power").read(0)
    assert caught.value.reaction is Reaction.LOST


def test_a_field_with_its_own_error_falls_back_to_the_call(
    nvml: FakeNvml, state_of: Callable[[str], MetricState]
) -> None:
    state = state_of("power")
    assert state.read(0) == {"power_mw": 210_000}
    nvml.order("field_fail 186 * 3")
    assert state.read(1) == {"power_mw": 190_000}
    assert state.error is None  # nothing is missing


def test_a_field_that_fails_for_now_is_not_given_up(nvml: FakeNvml, state_of: Callable[[str], MetricState]) -> None:
    state = state_of("power")
    nvml.order("field_fail 186 * 999")
    assert state.read(0) == {}
    nvml.clear()
    assert state.read(SECOND) == {"power_mw": 210_000}


def test_every_call_missing_names_one_reason(load_nvml: Callable[..., FakeNvml]) -> None:
    load_nvml("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons")
    assert library.start() is None
    metric = next(m for m in metrics() if m.name == "clock_reasons")
    state = MetricState(metric, pynvml.nvmlDeviceGetHandleByIndex(0))
    assert state.read(0) == {}
    assert state.error == "Function Not Found"
    library.finish()


def test_all_bits_set_means_unknown(nvml: FakeNvml, state_of: Callable[[str], MetricState]) -> None:
    nvml.order("set pcie_width * 4294967295")
    assert state_of("pcie_width").read(0) == {"pcie_width": None}
    assert known(2**64 - 1) is None
    assert known(0) == 0


def test_a_call_this_nvidia_ml_py_does_not_know_is_a_plain_failure(nvml: FakeNvml) -> None:
    with pytest.raises(NvmlCallError, match="not in this version of nvidia-ml-py") as caught:
        call("nvmlDeviceGetTomorrow")
    assert caught.value.reaction is Reaction.DISABLE


def test_the_cost_is_calls_times_the_fastest(nvml: FakeNvml, state_of: Callable[[str], MetricState]) -> None:
    state = state_of("temperature")
    nvml.order("slow nvmlDeviceGetTemperature 4000")
    for tick in range(3):
        state.read(tick)
    cost = state.take_cost_ns(0)
    assert 12_000_000 <= cost < 60_000_000
    assert state.take_cost_ns(0) == 0
    state.read(3)
    assert state.take_cost_ns(SECOND) == 0
