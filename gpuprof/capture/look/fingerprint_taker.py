"""Takes the fingerprints of a look, as many as its budget allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpuprof.capture.base.tensor_memory import lazily_copied
from gpuprof.capture.look.device_hash import DeviceHash
from gpuprof.capture.look.fingerprints import HostHash, sealed

MOST_VALUE_BYTES = 256 * 1024**2
# what is hashed in a ns, roughly: a storage that would outlast the look is left out
_BYTES_A_NS = 2

# of the host a number, of a device which one, where among its numbers it will be, its size and type
Taken = int | tuple[int, int, int, Any]


class FingerprintTaker:
    """Hashes storages, up to `most_bytes` in all and `MOST_VALUE_BYTES` each; `left_ns` says how long the look may go
    on. `numbers` gives the fingerprint of what `take` returned."""

    def __init__(self, most_bytes: int, left_ns: Callable[[], int]):
        self._left_bytes = most_bytes
        self._left_ns = left_ns
        self._host: HostHash | None = None
        self._devices: dict[int, DeviceHash] = {}
        self._read_back: dict[int, list[int | None]] = {}
        self.failure: str | None = None

    def take(self, tensor: Any, storage: Any) -> Taken | None:
        """Of what the storage holds; None where it is not taken."""
        nbytes = storage.nbytes()
        if nbytes > min(self._left_bytes, MOST_VALUE_BYTES, self._left_ns() * _BYTES_A_NS) or tensor.is_quantized:
            return None
        address = 0 if lazily_copied(tensor) else storage.data_ptr()
        if not nbytes or not address:
            return None
        self._left_bytes -= nbytes
        if tensor.is_cpu:
            self._host = self._host or HostHash()
            return sealed(self._host.of(address, nbytes), nbytes, str(tensor.dtype))
        return self._enqueue(tensor, storage, nbytes) if tensor.is_cuda else None

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
        number = known[slot] if slot < len(known) else None
        return 0 if number is None else sealed(number, nbytes, str(dtype))

    def warm_up(self) -> None:
        """Where CUDA is used, load now what the first values would wait for; in a new process, up to half a second."""
        import torch

        cuda: Any = torch.cuda
        if not cuda.is_available() or not cuda.is_initialized() or cuda.is_current_stream_capturing():
            return
        index = cuda.current_device()
        try:
            self._on(index).warm_up(_current_stream(index))
        except RuntimeError as error:  # out of memory
            self._fail(error)

    def rest(self) -> None:
        """No more will be taken: give memory back. Waits for nothing."""
        import torch

        # a mode of the cell's above would see what is asked of the device, and a capture of a graph might fail of it:
        # the memory then stays until the end
        if not self._devices or torch._C._len_torch_dispatch_stack() > 1 or torch.cuda.is_current_stream_capturing():
            return
        try:
            for each in self._devices.values():
                each.rest()
        except RuntimeError as error:  # the device is in an error that the cell has caused
            self._fail(error)

    def _on(self, index: int) -> DeviceHash:
        import torch

        found = self._devices.get(index)
        if found is None:
            found = self._devices[index] = DeviceHash(torch.device("cuda", index))
        return found

    def _enqueue(self, tensor: Any, storage: Any, nbytes: int) -> Taken | None:
        import torch

        if self.failure is not None or torch.cuda.is_current_stream_capturing():
            return None
        index = tensor.get_device()
        try:
            slot = self._on(index).enqueue(storage, nbytes, _current_stream(index))
        except RuntimeError as error:  # out of memory: the cell needs it more
            self._fail(error)
            return None
        return None if slot is None else (index, slot, nbytes, tensor.dtype)

    def _numbers(self, device: int) -> list[int | None]:
        try:
            return self._devices[device].numbers()
        except RuntimeError as error:  # the device is in an error that the cell has caused
            self._fail(error)
            return []

    def _fail(self, error: RuntimeError) -> None:
        self.failure = str(error)[:200]


def _current_stream(index: int) -> int:
    """The number of a device's current stream; torch's own way to ask makes an object for it."""
    import torch

    ask = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    return int(torch.cuda.current_stream(index).cuda_stream if ask is None else ask(index))
