"""Which NVML device is which torch device.

torch counts the devices that CUDA_VISIBLE_DEVICES leaves it, in that order; NVML counts all of them by PCI address.
Only the UUID, or the PCI bus id where torch has no UUID, joins the two.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpuprof.capture.nvml.nvml import NvmlCallError, call


@dataclass(frozen=True)
class TorchDevice:
    """A device as torch numbers it. `uuid` is lower case without the `GPU-` or `MIG-` before it."""

    index: int
    uuid: str | None
    pci_bus_id: str | None


@dataclass(frozen=True)
class NvmlDevice:
    """A device as NVML numbers it; `nvml_index` is None for a MIG instance, which has no number of its own."""

    handle: Any
    nvml_index: int | None
    uuid: str | None
    pci_bus_id: str | None
    mig: bool | None

    @property
    def label(self) -> str:
        """Its UUID, or `nvml<index>` where the driver does not give one."""
        return self.uuid or f"nvml{self.nvml_index}"


def cuda_in_use() -> bool:
    """Whether this process's torch has initialized CUDA."""
    cuda: Any = getattr(sys.modules.get("torch"), "cuda", None)
    # another thread may be in the middle of importing torch
    return hasattr(cuda, "is_initialized") and bool(cuda.is_initialized())


def torch_devices() -> tuple[TorchDevice, ...] | None:
    """The devices of this process's torch; None unless CUDA is already in use there. Never initialises CUDA."""
    if not cuda_in_use():
        return None
    cuda: Any = sys.modules["torch"].cuda
    try:
        properties = [cuda.get_device_properties(index) for index in range(cuda.device_count())]
    except (RuntimeError, AssertionError):  # a CUDA error has poisoned the context
        return None
    return tuple(TorchDevice(i, _torch_uuid(p), _torch_bus_id(p)) for i, p in enumerate(properties))


def nvml_devices() -> tuple[list[NvmlDevice], dict[str, str]]:
    """Every device that NVML lists, and why others (`nvml<index>`) cannot be reached."""
    found, errors = [], {}
    for index in range(call("nvmlDeviceGetCount")):
        try:
            found.append(_describe(call("nvmlDeviceGetHandleByIndex", index), index))
        except NvmlCallError as error:
            errors[f"handle@nvml{index}"] = error.reason
    return found, errors


def join(nvml: Sequence[NvmlDevice], torch: Sequence[TorchDevice]) -> dict[int, NvmlDevice]:
    """torch index → NVML device, for those that can be told for certain."""
    by_uuid = {bare(device.uuid): device for device in nvml if device.uuid}
    # a MIG instance has the address of its parent, whose readings are also its neighbours'
    by_bus = {device.pci_bus_id: device for device in nvml if device.pci_bus_id and not device.mig}
    joined = {}
    for device in torch:
        match = by_uuid.get(device.uuid) if device.uuid else None
        match = match or (_mig_instance(device.uuid) if device.uuid else None)
        match = match or (by_bus.get(device.pci_bus_id) if device.pci_bus_id else None)
        if match is not None:
            joined[device.index] = match
    return joined


def expected(
    nvml: Sequence[NvmlDevice], environment: Mapping[str, str] | None = None
) -> tuple[TorchDevice, ...] | None:
    """The devices torch *will* see, read from CUDA_VISIBLE_DEVICES where it leaves no doubt; None where it does.

    Numbers in it mean NVML's order only under CUDA_DEVICE_ORDER=PCI_BUS_ID (CUDA's default is fastest first) or where
    there is but one device. As in CUDA, the list ends at the first entry that names no device.
    """
    environment = os.environ if environment is None else environment
    listed = environment.get("CUDA_VISIBLE_DEVICES")
    ordered = len(nvml) == 1 or environment.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID"
    if any(device.mig for device in nvml) or (listed is None and not ordered):
        return None
    entries = [str(i) for i in range(len(nvml))] if listed is None else listed.split(",")
    chosen: list[NvmlDevice] = []
    for entry in map(str.strip, entries):
        numbered = entry.isdecimal()
        if numbered and not ordered:
            return None
        device = nvml[int(entry)] if numbered and int(entry) < len(nvml) else _by_prefix(nvml, entry)
        if device is None:
            break
        chosen.append(device)
    return tuple(TorchDevice(i, bare(device.uuid), device.pci_bus_id) for i, device in enumerate(chosen))


def by_uuid(nvml: Sequence[NvmlDevice], uuid: str) -> NvmlDevice | None:
    """The device of that UUID, a MIG instance included."""
    listed = next((device for device in nvml if bare(device.uuid) == bare(uuid)), None)
    return listed or _mig_instance(bare(uuid))


def bare(uuid: str | None) -> str | None:
    """A UUID in lower case without its `GPU-` or `MIG-`."""
    return None if uuid is None else uuid.removeprefix("GPU-").removeprefix("MIG-").lower()


def _by_prefix(nvml: Sequence[NvmlDevice], text: str) -> NvmlDevice | None:
    hits = [device for device in nvml if (device.uuid or "").startswith(text)] if text.startswith("GPU-") else []
    return hits[0] if len(hits) == 1 else None


def _describe(handle: Any, index: int | None) -> NvmlDevice:
    uuid = _quiet("nvmlDeviceGetUUID", handle)
    pci = _quiet("nvmlDeviceGetPciInfo", handle)
    mode = _quiet("nvmlDeviceGetMigMode", handle)
    return NvmlDevice(
        handle=handle,
        nvml_index=index,
        uuid=uuid,
        pci_bus_id=None if pci is None else _text(pci.busId).upper(),
        mig=None if mode is None else bool(mode[0]),
    )


def _mig_instance(uuid: str | None) -> NvmlDevice | None:
    handle = _quiet("nvmlDeviceGetHandleByUUID", f"MIG-{uuid}")
    return None if handle is None else NvmlDevice(handle, None, f"MIG-{uuid}", None, True)


def _quiet(function: str, *arguments: Any) -> Any:
    try:
        return call(function, *arguments)
    except NvmlCallError:
        return None


def _text(value: str | bytes) -> str:
    # older nvidia-ml-py gives structure members as bytes
    return value.decode("ascii", "replace") if isinstance(value, bytes) else value


def _torch_uuid(properties: Any) -> str | None:
    uuid = getattr(properties, "uuid", None)  # from torch 2.4 or 2.5 on, by build
    return None if uuid is None else bare(str(uuid))


def _torch_bus_id(properties: Any) -> str | None:
    bus, device = getattr(properties, "pci_bus_id", None), getattr(properties, "pci_device_id", None)
    if not isinstance(bus, int) or not isinstance(device, int):
        return None
    return f"{getattr(properties, 'pci_domain_id', 0):08X}:{bus:02X}:{device:02X}.0"
