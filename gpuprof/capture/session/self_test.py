"""What torch says of itself, and a small profile that shows whether the profiler records host and device."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_DEVICE_CATEGORIES = {"kernel", "gpu_memcpy", "gpu_memset"}


@dataclass(frozen=True)
class TorchFacts:
    """The torch of this environment. `error` is set, and all else empty, where it cannot be imported."""

    version: str = ""
    cuda_build: str | None = None
    hip_build: str | None = None
    devices: tuple[str, ...] = ()
    capability: tuple[int, int] | None = None
    architectures: tuple[str, ...] = ()
    error: str | None = None

    @property
    def has_device(self) -> bool:
        """Whether torch sees a device."""
        return bool(self.devices)

    @property
    def knows_device(self) -> bool:
        """Whether torch carries code for the first device's capability (or its major one)."""
        if self.capability is None or not self.architectures or self.hip_build:
            return True
        major, minor = self.capability
        exact = f"sm_{major}{minor}"
        # code for an older minor of the same major runs on a newer one
        same_major = [int(a[3:-1]) == major and int(a[-1]) <= minor for a in self.architectures if a[3:].isdigit()]
        return exact in self.architectures or any(same_major)


def describe_torch() -> TorchFacts:
    """Import torch and ask it; never raises for a broken installation."""
    try:
        import torch
    except (ImportError, OSError) as error:
        return TorchFacts(error=f"cannot be imported: {error}")
    if not torch.cuda.is_available():
        return TorchFacts(str(torch.__version__), torch.version.cuda, torch.version.hip)
    return TorchFacts(
        version=str(torch.__version__),
        cuda_build=torch.version.cuda,
        hip_build=torch.version.hip,
        devices=tuple(torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())),
        capability=torch.cuda.get_device_capability(0),
        architectures=tuple(torch.cuda.get_arch_list()),
    )


@dataclass(frozen=True)
class Probe:
    """What one small profile recorded. `error` is one line where it could not be taken."""

    operators: int = 0
    device_events: int = 0
    messages: tuple[str, ...] = ()
    error: str | None = None


def probe_profiler() -> Probe:
    """Profile one small matrix product, on the device where there is one."""
    import torch

    from gpuprof.capture.base.options import CaptureOptions
    from gpuprof.capture.session.session import Session
    from gpuprof.errors import CaptureError

    with tempfile.TemporaryDirectory(prefix="gpuprof-probe-") as folder:
        session = Session(CaptureOptions(folder=Path(folder), no_nvml=True))
        try:
            session.start()
        except CaptureError as error:
            return Probe(error=str(error))
        matrix = torch.ones(64, 64, device="cuda" if torch.cuda.is_available() else "cpu")
        float((matrix @ matrix).sum())
        captured = session.stop()
        if captured.kineto is None:
            return Probe(
                error="; ".join(captured.context.notes) or "no trace came back", messages=captured.context.notes
            )
        categories = [event.get("cat") for event in _events(captured.kineto)]
    return Probe(
        operators=categories.count("cpu_op"),
        device_events=sum(category in _DEVICE_CATEGORIES for category in categories),
        messages=captured.context.notes,
    )


def _events(path: Path) -> list[dict[str, Any]]:
    import gzip

    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    events: list[dict[str, Any]] = json.loads(raw)["traceEvents"]
    return events
