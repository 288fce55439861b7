"""torch's numbering against NVML's: the stand-in torch answers as the real one does, NVML is the fake library."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from gpuprof.capture.nvml import nvml as library
from gpuprof.capture.nvml.device_sampler import DeviceSampler
from gpuprof.capture.nvml.devices import NvmlDevice, TorchDevice, expected, join, nvml_devices, torch_devices
from gpuprof.model.readings import ReadingLog
from tests.support.fake_nvml.fixtures import UUIDS, FakeNvml

SetTorch = Callable[..., None]


@pytest.fixture
def set_torch(monkeypatch: pytest.MonkeyPatch) -> SetTorch:
    """`set_torch(props, props)`: CUDA is initialised and drives these devices; `set_torch(None)`: it is not."""

    def install(*properties: Any) -> None:
        started = properties != (None,)
        cuda = SimpleNamespace(
            is_initialized=lambda: started,
            device_count=lambda: len(properties),
            get_device_properties=lambda index: properties[index],
        )
        monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))

    return install


def by_uuid(index: int) -> SimpleNamespace:
    return SimpleNamespace(uuid=UUIDS[index].removeprefix("GPU-"))


@pytest.fixture
def listed(nvml: FakeNvml) -> Iterator[list[NvmlDevice]]:
    nvml.order("set devices * 3")
    assert library.start() is None
    yield nvml_devices()[0]
    library.finish()


def sampled(devices: list[str | int] | None = None) -> ReadingLog:
    sampler = DeviceSampler(devices, hz=50)
    sampler.start()
    time.sleep(0.05)
    return sampler.stop()


def numbers(log: ReadingLog) -> list[tuple[int | None, int | None]]:
    return [(facts.torch_index, facts.nvml_index) for facts in log.static]


def test_reordered_devices_are_joined_by_uuid(nvml: FakeNvml, set_torch: SetTorch) -> None:
    nvml.order("set devices * 3")
    set_torch(by_uuid(2), by_uuid(0))  # CUDA_VISIBLE_DEVICES=2,0
    log = sampled()
    assert numbers(log) == [(0, 2), (1, 0)]
    first = log.table.take(log.table["device"] == 0)
    assert set(first["utilisation_percent"]) == {52}


def test_without_a_uuid_the_bus_id_joins(nvml: FakeNvml, set_torch: SetTorch) -> None:
    set_torch(SimpleNamespace(pci_domain_id=0, pci_bus_id=0x27, pci_device_id=0))
    assert numbers(sampled()) == [(0, 1)]


def test_a_mig_instance_is_not_taken_for_its_parent(nvml: FakeNvml, set_torch: SetTorch) -> None:
    nvml.order("set mig 1 1")
    set_torch(SimpleNamespace(uuid="ffffffff-0000-4000-8000-000000000000", pci_bus_id=0x27, pci_device_id=0))
    assert numbers(sampled()) == [(None, 0), (None, 1)]


def test_a_mig_instance_is_found_by_its_own_uuid(listed: list[NvmlDevice], nvml: FakeNvml) -> None:
    nvml.order("set uuid 2 MIG-5c8f7a10-0000-4000-8000-000000000002")
    torch = TorchDevice(0, "5c8f7a10-0000-4000-8000-000000000002", None)
    joined = join(listed[:2], [torch])
    assert joined[0].label == "MIG-5c8f7a10-0000-4000-8000-000000000002"
    assert joined[0].nvml_index is None


def test_torch_that_wakes_up_during_the_run_names_the_devices_at_its_end(nvml: FakeNvml, set_torch: SetTorch) -> None:
    set_torch(None)
    sampler = DeviceSampler(hz=50)
    sampler.start()
    time.sleep(0.05)
    assert len(sampler.latest()) == 2
    set_torch(by_uuid(1))
    log = sampler.stop()
    assert numbers(log) == [(0, 1)]
    assert set(log.table["device"]) == {0}
    assert set(log.table["utilisation_percent"]) == {51}


def test_devices_can_be_asked_for_by_torch_index_or_uuid(nvml: FakeNvml, set_torch: SetTorch) -> None:
    set_torch(by_uuid(1), by_uuid(0))
    assert numbers(sampled([1])) == [(1, 0)]
    assert numbers(sampled([UUIDS[1]])) == [(0, 1)]
    log = sampled(["GPU-nothing"])
    assert log.unavailable == f"none of the devices asked for is there; NVML lists {UUIDS[0]}, {UUIDS[1]}"


def test_an_index_asked_for_before_torch_wakes_up_is_found_afterwards(nvml: FakeNvml, set_torch: SetTorch) -> None:
    set_torch(None)
    sampler = DeviceSampler([0], hz=50)
    sampler.start()
    time.sleep(0.05)
    set_torch(by_uuid(1), by_uuid(0))
    assert numbers(sampler.stop()) == [(0, 1)]


def test_an_unreachable_device_is_recorded(nvml: FakeNvml) -> None:
    nvml.order("fail nvmlDeviceGetHandleByIndex_v2 0 4")
    log = sampled()
    assert [facts.nvml_index for facts in log.static] == [1]
    assert log.metric_errors == {"handle@nvml0": "Insufficient Permissions"}


def test_hidden_devices_are_not_sampled(nvml: FakeNvml, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert sampled().unavailable == "CUDA_VISIBLE_DEVICES hides every device from this process"


@pytest.mark.parametrize(
    ("visible", "order", "found"),
    [
        (None, None, None),
        (None, "PCI_BUS_ID", [0, 1, 2]),
        ("2,0", "PCI_BUS_ID", [2, 0]),
        ("2,0", None, None),  # fastest first: which is 2?
        (f"{UUIDS[1]},{UUIDS[0][:13]}", None, [1, 0]),
        ("1,-1,0", "PCI_BUS_ID", [1]),
        ("7", "PCI_BUS_ID", []),
        ("GPU-a", None, []),  # an ambiguous prefix
        ("", None, []),
    ],
)
def test_visible_devices_are_read_only_where_they_leave_no_doubt(
    listed: list[NvmlDevice], visible: str | None, order: str | None, found: list[int] | None
) -> None:
    pairs = {"CUDA_VISIBLE_DEVICES": visible, "CUDA_DEVICE_ORDER": order}
    torch = expected(listed, {name: value for name, value in pairs.items() if value is not None})
    joined = None if torch is None else [device.nvml_index for device in join(listed, torch).values()]
    assert joined == found


def test_a_poisoned_context_or_half_imported_torch_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(index: int) -> None:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    cuda = SimpleNamespace(is_initialized=lambda: True, device_count=lambda: 1, get_device_properties=fail)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    assert torch_devices() is None
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace())
    assert torch_devices() is None


def test_the_real_torch_is_never_made_to_initialise_cuda() -> None:
    import torch

    before = torch.cuda.is_initialized()
    assert (torch_devices() is None) == (not before)
    assert torch.cuda.is_initialized() == before
