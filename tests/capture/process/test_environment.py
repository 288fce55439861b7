from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest
import torch

from gpuprof.capture.process.environment import host_start, read_environment, read_flags


def test_the_machine_and_its_torch() -> None:
    found = read_environment("550.1")
    assert (found.torch, found.driver, found.torch_threads) == (torch.__version__, "550.1", torch.get_num_threads())
    assert found.cores_allowed is not None and found.cores_total is not None
    assert 1 <= found.cores_allowed <= found.cores_total
    assert found.host_memory_bytes is not None and found.host_memory_bytes > 2**28
    assert found.processor
    assert msgspec.json.decode(msgspec.json.encode(found), type=type(found)) == found


def test_flags_as_they_are_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "1")
    monkeypatch.setenv("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")
    with torch.autograd.detect_anomaly(check_nan=False):
        flags = read_flags()
    assert (flags["anomaly_mode"], flags["launch_blocking"]) == (True, True)
    assert read_flags()["anomaly_mode"] is False
    assert read_environment().allocator_config == "expandable_segments:True"


SETTINGS = {
    "pass": (False, True),
    "torch.set_float32_matmul_precision('high')": (True, True),
    "torch.backends.cudnn.allow_tf32 = False": (False, False),
    "torch.backends.cuda.matmul.fp32_precision = 'tf32'": (True, True),
    "torch.backends.cudnn.conv.fp32_precision = 'ieee'": (False, False),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_tf32_by_the_old_and_the_new_flags(setting: str) -> None:
    if "fp32_precision" in setting and not hasattr(torch.backends.cudnn, "conv"):
        pytest.skip("this torch has the old flags only")
    code = (
        f"import torch; {setting}\nfrom gpuprof.capture.process.environment import read_flags\n"
        "flags = read_flags(); print(flags['tf32_matmul'], flags['tf32_cudnn'])"
    )
    output = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert output.stdout.split() == [str(value) for value in SETTINGS[setting]]


def test_nothing_initialises_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    def initialise(*_: object) -> None:
        raise AssertionError("a device was initialised")

    monkeypatch.setattr(torch.cuda, "_lazy_init", initialise)
    found = read_environment()
    assert (found.devices, found.sync_debug_mode) == ((), None)


def test_devices_where_cuda_is_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    class Properties:
        name, total_memory, major, minor, multi_processor_count, uuid = "Fake", 2**34, 9, 0, 132, "12-34"

    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: Properties)
    monkeypatch.setattr(torch.cuda, "get_sync_debug_mode", lambda: 1)
    found = read_environment()
    (device,) = found.devices
    assert (device.name, device.uuid, device.compute_capability) == ("Fake", "GPU-12-34", (9, 0))
    assert (device.memory_bytes, device.multiprocessors, device.max_threads_per_multiprocessor) == (2**34, 132, None)
    assert found.sync_debug_mode == "warn"


def test_what_torch_was_compiled_for_is_known_where_cuda_is_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_environment().architectures is None
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.setattr(torch.cuda, "get_sync_debug_mode", lambda: 0)
    monkeypatch.setattr(torch.cuda, "get_arch_list", lambda: ["sm_80", "compute_90"])
    assert read_environment().architectures == ("sm_80", "compute_90")


def test_the_host_as_it_begins() -> None:
    found = host_start()
    assert found["resident_bytes"] > 2**20
    assert found["available_bytes"] > 0
    assert msgspec.json.decode(msgspec.json.encode(found)) == found
