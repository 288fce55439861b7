"""Which devices a sampler reads, and what torch calls them, at the start and again at the end of the run."""

from __future__ import annotations

from collections.abc import Sequence

from gpuprof.capture.nvml.devices import NvmlDevice, by_uuid, expected, join, nvml_devices, torch_devices
from gpuprof.capture.nvml.nvml_device import DeviceReadings


class Choice:
    """The sampled devices. `unavailable` says why there are none.

    Asked for nothing in particular, it takes torch's devices where they are known, else all that NVML lists: most
    cells initialise CUDA only while they run, so `settle` looks again at the end.
    """

    def __init__(self, asked: Sequence[str | int] | None):
        self.asked = asked
        self.unavailable: str | None = None
        self.errors: dict[str, str] = {}
        self.devices: list[DeviceReadings] = []
        self._listed: list[NvmlDevice] = []

    def open(self) -> None:
        """Find the devices; raises NvmlCallError where NVML cannot even count them."""
        self._listed, self.errors = nvml_devices()
        if not self._listed:
            self.unavailable = "NVML lists no device" + ("".join(f"; {e}" for e in self.errors.values()))
            return
        torch = torch_devices()
        torch = expected(self._listed) if torch is None else torch
        joined = {} if torch is None else join(self._listed, torch)
        if torch == () and self.asked is None:
            self.unavailable = "CUDA_VISIBLE_DEVICES hides every device from this process"
            return
        chosen = self._pick(joined, known=torch is not None)
        self.devices = [DeviceReadings(row, device, index) for row, (device, index) in enumerate(chosen)]
        if not self.devices:
            there = ", ".join(device.label for device in self._listed)
            self.unavailable = f"none of the devices asked for is there; NVML lists {there}"

    def settle(self) -> list[int]:
        """Name the devices as torch numbers them now; the rows to keep, in that order.

        Devices that torch turns out not to drive are left out, unless they were asked for by UUID.
        """
        torch = torch_devices()
        everything = [device.row for device in self.devices]
        if torch is None:
            return everything
        index_of = {device.label: index for index, device in join(self._listed, torch).items()}
        for device in self.devices:
            device.torch_index = index_of.get(device.label)
        if self.asked is not None and not any(isinstance(item, int) for item in self.asked):
            return everything
        driven = sorted(
            (device.torch_index, device.row)
            for device in self.devices
            if device.torch_index is not None and (self.asked is None or device.torch_index in self.asked)
        )
        return [row for _, row in driven] or everything

    def _pick(self, joined: dict[int, NvmlDevice], known: bool) -> list[tuple[NvmlDevice, int | None]]:
        index_of = {device.label: index for index, device in joined.items()}
        everything = [(device, index_of.get(device.label)) for device in self._listed]
        if self.asked is None:
            return [(device, index) for index, device in sorted(joined.items())] or everything
        if not known and any(isinstance(item, int) for item in self.asked):
            return everything
        picked = []
        for item in self.asked:
            device = joined.get(item) if isinstance(item, int) else by_uuid(self._listed, item)
            if device is None:
                self.errors[f"device@{item}"] = "no device of this name is there"
            else:
                picked.append((device, index_of.get(device.label)))
        return picked
