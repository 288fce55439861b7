"""How much of the copies and collectives was hidden under compute."""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof.analyses.result import Result


@dataclass(frozen=True)
class Hidden:
    """One kind of device work against compute (kernels that are not collectives) of the same device, by wall clock.

    `total_ns`: union of that work; it is `hidden_ns` (compute ran as well) + `exposed_ns` (none did).
    """

    total_ns: int
    hidden_ns: int
    exposed_ns: int

    @property
    def hidden_share_of_total(self) -> float | None:
        """Hidden ÷ the union of that work, 0..1; None where there is no such work."""
        return self.hidden_ns / self.total_ns if self.total_ns else None


@dataclass(frozen=True)
class Overlap(Result):
    """Overlap on the first device; None without device activity.

    `exposed_copies_share_of_span` and `exposed_collectives_share_of_span`: exposed ÷ the trace's span, 0..1. The time
    budget may show less exposed copy time: it gives time under a collective to the collective.
    """

    copies: Hidden | None
    collectives: Hidden | None
    exposed_copies_share_of_span: float | None
    exposed_collectives_share_of_span: float | None
