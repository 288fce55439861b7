"""How much lower the peak would be, and what that is worth: shared by the rules about memory that need not be held."""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.memory.kept_memory import DeviceKept
from gpuprof.rules.base.finding import Severity
from gpuprof.rules.saving.scope import graded

# the interpreter and its libraries take more
LEAST_MIB = 100
MIB = 1024**2
MEDIUM_SHARE = 0.3
HIGH_SHARE = 0.5


@dataclass(frozen=True)
class SavedMemory:
    """Of one device's peak, `saved_bytes` go away."""

    place: str
    saved_bytes: int
    peak_bytes: int

    @classmethod
    def of(cls, memory: DeviceKept, held_bytes: int, *, refilled: bool = False) -> SavedMemory:
        """Where `held_bytes` are not held."""
        saved = memory.saved_bytes(held_bytes, refilled=refilled)
        return cls(place_of(memory), saved, memory.peak_bytes or 0)

    @property
    def share(self) -> float:
        """Of the peak."""
        return self.saved_bytes / self.peak_bytes if self.peak_bytes else 0.0

    @property
    def left_bytes(self) -> int:
        """The peak without them."""
        return self.peak_bytes - self.saved_bytes

    def severity(self, high_share: float, medium_share: float) -> Severity:
        """By the share of the peak."""
        return graded(self.share, high_share, medium_share)

    def words(self) -> str:
        """`The peak of the process, 1.32 GiB, would be about 343 MiB.`"""
        return f"The peak of {self.place}, {units.size(self.peak_bytes)}, would be about {units.size(self.left_bytes)}."

    def evidence(self) -> dict[str, float | int | str]:
        """The figures."""
        return {
            "saved_bytes": self.saved_bytes,
            "saved_share": round(self.share, 4),
            "peak_bytes": self.peak_bytes,
            "peak_without_bytes": self.left_bytes,
        }


def place_of(memory: DeviceKept) -> str:
    """`the process`, or the device."""
    return "the process" if memory.device == "cpu" else memory.device
