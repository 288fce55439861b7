"""Takes the fingerprints of a look, as many as its budget allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpuprof.capture.look.fingerprints import DeviceHash, HostHash, sealed

MOST_VALUE_BYTES = 256 * 1024**2
# what is hashed in a ns, roughly: a storage that would outlast the look is left out
_BYTES_A_NS = 2

# of the host a number, of a device where it will be
Taken = int | tuple[str, int, int, str]


class FingerprintTaker:
    """Hashes storages, up to `most_bytes` in all and `MOST_VALUE_BYTES` each; `left_ns` says how long the look may go
    on. `numbers` gives the fingerprint of what `take` returned."""

    def __init__(self, most_bytes: int, left_ns: Callable[[], int]):
        self._left_bytes = most_bytes
        self._left_ns = left_ns
        self._host: HostHash | None = None
        self._devices: dict[str, DeviceHash] = {}
        self._read_back: dict[str, list[int]] = {}
        self.failure: str | None = None

    def take(self, tensor: Any, storage: Any) -> Taken | None:
        """Of what the storage holds; None where it is not taken."""
        nbytes = storage.nbytes()
        kind = tensor.device.type
        if nbytes > min(self._left_bytes, MOST_VALUE_BYTES, self._left_ns() * _BYTES_A_NS) or tensor.is_quantized:
            return None
        address = 0 if lazily_copied(tensor) else storage.data_ptr()
        if not nbytes or not address:
            return None
        self._left_bytes -= nbytes
        dtype = str(tensor.dtype)
        if kind == "cpu":
            self._host = self._host or HostHash()
            return sealed(self._host.of(address, nbytes), nbytes, dtype)
        return self._enqueue(tensor, storage, nbytes, dtype) if kind == "cuda" else None

    def same(self, one: Taken, other: Taken) -> bool:
        """Whether both are known to be equal now; those of a device are not known before the end."""
        return isinstance(one, int) and one == other

    def number(self, taken: Taken | None) -> int:
        """The fingerprint; 0 where none was taken. Waits for the device that it is on."""
        if taken is None or isinstance(taken, int):
            return taken or 0
        device, slot, nbytes, dtype = taken
        if device not in self._read_back:
            self._read_back[device] = self._numbers(device)
        known = self._read_back[device]
        return sealed(known[slot], nbytes, dtype) if slot < len(known) else 0

    def _enqueue(self, tensor: Any, storage: Any, nbytes: int, dtype: str) -> Taken | None:
        import torch

        if self.failure is not None or torch.cuda.is_current_stream_capturing():
            return None
        device = str(tensor.device)
        if device not in self._devices:
            self._devices[device] = DeviceHash(tensor.device)
        try:
            with torch.cuda.device(tensor.device):
                stream = torch.cuda.current_stream().cuda_stream
                slot = self._devices[device].enqueue(storage, nbytes, stream)
        except RuntimeError as error:  # out of memory: the cell needs it more
            self.failure = str(error)[:200]
            return None
        return None if slot is None else (device, slot, nbytes, dtype)

    def _numbers(self, device: str) -> list[int]:
        try:
            return self._devices[device].numbers()
        except RuntimeError as error:  # the device is in an error that the cell has caused
            self.failure = str(error)[:200]
            return []


def lazily_copied(tensor: Any) -> bool:
    """Asking for its address would copy it."""
    import torch

    asked = getattr(torch._C, "_is_cow_tensor", None)
    return asked is not None and bool(asked(tensor))
