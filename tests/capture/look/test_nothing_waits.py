"""What a look asks of a device is enqueued there; nothing waits for it until all is read back, once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from gpuprof.capture.look import fingerprint_taker
from gpuprof.capture.look.device_hash import DeviceHash
from gpuprof.capture.look.fingerprint_taker import FingerprintTaker


class Waits(TorchDispatchMode):
    """Notes the operators that would bring a number of a device to the host."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if any(name in func.name() for name in ("_local_scalar_dense", "_to_copy", "nonzero", "equal")):
            self.seen.append(func.name())
        return func(*args, **(kwargs or {}))


def test_no_fingerprint_waits_for_its_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stream is made up, the device's memory is the host's; what is asked of it is real."""
    waits: list[str] = []
    made: list[DeviceHash] = []
    read = DeviceHash.numbers

    def on_host(device: Any) -> DeviceHash:
        made.append(DeviceHash(torch.device("cpu")))
        return made[-1]

    def numbers(self: DeviceHash) -> list[int]:
        waits.append("read back")
        return read(self)

    monkeypatch.setattr(fingerprint_taker, "DeviceHash", on_host)
    monkeypatch.setattr(DeviceHash, "numbers", numbers)
    monkeypatch.setattr(fingerprint_taker, "lazily_copied", lambda tensor: False)
    monkeypatch.setattr(fingerprint_taker, "_current_stream", lambda index: 7)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda *device: waits.append("synchronize"))
    where = {"is_cpu": False, "is_cuda": True, "get_device": lambda: 0}
    taker = FingerprintTaker(1 << 30, lambda: 10**10)
    with Waits() as mode:
        taken = []
        for number in range(40):
            values = torch.full((300,), float(number % 20))
            tensor: Any = SimpleNamespace(**where, dtype=values.dtype, is_quantized=False)
            taken.append(taker.take(tensor, values.untyped_storage()))
    assert len(made) == 1 and all(isinstance(each, tuple) for each in taken)
    assert waits == [] and mode.seen == []
    found = [taker.number(each) for each in taken]
    assert waits == ["read back"]
    assert found[:20] == found[20:] and len(set(found)) == 20
